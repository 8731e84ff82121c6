import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface BenchProgram extends AsyncDisposable {
  readonly url: string
}

interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

/** A program to compare with. It says on its first line which port of this machine it listens on. */
export async function startProgram({ command, args, env = process.env }: Program): Promise<BenchProgram> {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

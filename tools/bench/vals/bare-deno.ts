import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { findDenoBinary } from '@valley/runner/sandbox/deno-binary.ts'

export interface BareDeno extends AsyncDisposable {
  readonly url: string
}

/** `deno run` of a val's own handler behind Deno.serve: no isolation, no record, nothing in front. */
export async function startBareDeno(folder: string, code: string): Promise<BareDeno> {
  await writeFile(path.join(folder, 'bare-val.ts'), code)
  await writeFile(path.join(folder, 'bare-main.ts'), serveIt)
  const args = ['run', '--no-prompt', '--no-config', '--no-lock', '--allow-net', `--allow-read=${folder}`]
  const child = spawn(findDenoBinary(), [...args, path.join(folder, 'bare-main.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string]
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const serveIt = `import handler from './bare-val.ts'
Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: ({ port }) => console.log(port) }, handler)
`

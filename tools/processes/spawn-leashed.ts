import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account } from './account.ts'
import { findBinary } from './find-binary.ts'
import { outputCloseTimeoutMs } from './limits.ts'

export type LeashedChild = ChildProcessByStdio<null, Readable, Readable>

export interface Leash {
  command: string
  args: readonly string[]
  folder: string
  env: NodeJS.ProcessEnv
  /** Whom to run it as; null for whoever we are. */
  account: Account | null
  stopSignal: 'SIGINT' | 'SIGTERM'
}

export interface ProcessEnd {
  code: number | null
  signal: NodeJS.Signals | null
}

/**
 * In a process group of its own, so that Ctrl-C reaches us and not it: we decide in which order things end.
 * `setpriv` has the kernel signal it when we die, however we die, so that nothing is left running.
 */
export function spawnLeashed({ command, args, folder, env, account, stopSignal }: Leash): LeashedChild {
  const deathSignal = stopSignal.slice('SIG'.length)
  return spawn(findBinary('setpriv'), ['--pdeathsig', deathSignal, command, ...args], {
    cwd: folder,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  })
}

/** Once all output is read, too; a grandchild that holds the pipe open delays it only so long. */
export async function waitForEnd(child: LeashedChild): Promise<ProcessEnd> {
  const closed = new Promise((resolve) => child.once('close', resolve))
  const [code, signal] = await once(child, 'exit')
  await Promise.race([closed, sleep(outputCloseTimeoutMs, undefined, { ref: false })])
  return { code, signal }
}

export function describeEnd({ code, signal }: ProcessEnd): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`
}

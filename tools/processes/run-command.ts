import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Account } from './account.ts'
import { commandOutputBytesMax, commandTimeoutMs } from './limits.ts'
import { PlainError } from './plain-error.ts'

export interface CommandOptions {
  env?: NodeJS.ProcessEnv
  account?: Account | null
  input?: string
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

/** Runs a command to its end and returns what it printed; throws what it said on stderr when it fails. */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions = {}) {
  options.signal?.throwIfAborted()
  const running = promisify(execFile)(command, args, {
    env: options.env ?? process.env,
    timeout: options.timeoutMs ?? commandTimeoutMs,
    maxBuffer: commandOutputBytesMax,
    // Where we are may be closed to the account that we run it as.
    cwd: options.account ? '/' : process.cwd(),
    ...(options.signal && { signal: options.signal }),
    ...options.account,
  })
  // A command that ends without reading its input says why on stderr; the broken pipe adds nothing.
  running.child.stdin?.on('error', () => undefined).end(options.input ?? '')
  try {
    return (await running).stdout
  } catch (error) {
    options.signal?.throwIfAborted()
    throw explain(command, args, error)
  }
}

function explain(command: string, args: readonly string[], error: unknown): Error {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
  return new PlainError(`${[command, ...args].join(' ')} failed: ${said}`, { cause: error })
}

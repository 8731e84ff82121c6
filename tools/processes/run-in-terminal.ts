import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { terminalStopTimeoutMs } from './limits.ts'
import { EndRequested, exitCodeOf } from './listen-for-end.ts'

export interface TerminalOptions {
  end: AbortSignal
  env?: NodeJS.ProcessEnv
}

/** Runs a command with our own input and output, passes signals on to it, and returns its exit code. */
export async function runInTerminal(command: string, args: readonly string[], options: TerminalOptions) {
  options.end.throwIfAborted()
  const child = spawn(command, args, { stdio: 'inherit', env: options.env ?? process.env })
  const passOn = () => passEndOn(child, options.end)
  options.end.addEventListener('abort', passOn, { once: true })
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
    return signal === null ? (code ?? 1) : exitCodeOf(signal)
  } finally {
    options.end.removeEventListener('abort', passOn)
  }
}

function passEndOn(child: ChildProcess, end: AbortSignal): void {
  const signal = end.reason instanceof EndRequested ? end.reason.signal : 'SIGTERM'
  // Ctrl-C in a terminal has reached the command already, and a second one means "at once" to many.
  if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), terminalStopTimeoutMs)
  child.once('exit', () => clearTimeout(timer))
}

import { spawn } from 'node:child_process'
import { SandboxError } from './sandbox-error.ts'

const outputCharsMax = 1_000_000

/** Commands see no setting of ours, and find their programs where an unprivileged PATH may not look. */
export const commandEnvironment = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
} as const

export interface CommandOptions {
  readonly input?: string
  readonly timeoutMs?: number
}

/** Runs a program of the host to its end and returns what it printed. Fails with what it complained about. */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', timeoutMs = 10_000 }: CommandOptions = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn(program, args, { env: commandEnvironment })
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (output.length < outputCharsMax) output += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (complaint.length < outputCharsMax) complaint += text
  })
  child.once('error', (error: NodeJS.ErrnoException) => {
    reject(error.code === 'ENOENT' ? new SandboxError(`The program ${program} is not installed.`) : error)
  })
  child.once('close', (code, signal) => {
    if (code === 0) resolve(output)
    else reject(new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}: ${complaint.trim()}`))
  })
  // A program that ends without reading what it was given says why in its own words.
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return promise.finally(() => clearTimeout(timer))
}

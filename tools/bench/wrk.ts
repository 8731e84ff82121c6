import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Load {
  readonly url: string
  readonly seconds: number
  readonly connections: number
  /** Lua for wrk, for requests other than a plain GET. */
  readonly script?: string
  readonly headers?: Readonly<Record<string, string>>
  /** For the script. */
  readonly env?: Readonly<Record<string, string>>
}

export interface Measured {
  readonly perSecond: number
  readonly answered: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly failed: number
}

/** Loads a server with wrk, which takes far less of the machine than a generator in JavaScript would. */
export async function runWrk({
  url,
  seconds,
  connections,
  script,
  headers = {},
  env,
}: Load): Promise<Measured> {
  const headerArgs = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const scriptArgs = script === undefined ? [] : ['-s', script]
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', ...scriptArgs, ...headerArgs, url]
  const { stdout } = await run('wrk', args, {
    timeout: (seconds + 30) * 1_000,
    env: { ...process.env, ...env },
  }).catch((error: unknown) => {
    throw new Error('wrk did not run. Is it installed? apt-get install wrk', { cause: error })
  })
  return {
    answered: Number(/(\d+) requests in/.exec(stdout)?.[1] ?? Number.NaN),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN),
    p50Ms: milliseconds(/50%\s+(\S+)/.exec(stdout)?.[1]),
    p99Ms: milliseconds(/99%\s+(\S+)/.exec(stdout)?.[1]),
    failed: failures(stdout),
  }
}

function milliseconds(text = ''): number {
  const [, amount, unit] = /^([\d.]+)(us|ms|s)$/.exec(text) ?? []
  const factor = { us: 0.001, ms: 1, s: 1_000 }[unit ?? '']
  return Number(amount) * (factor ?? Number.NaN)
}

function failures(stdout: string): number {
  const statuses = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0)
  const sockets =
    /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(stdout)?.slice(1) ?? []
  return sockets.reduce((sum, count) => sum + Number(count), statuses)
}

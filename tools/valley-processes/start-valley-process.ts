import { mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { endLeftovers, type Program } from '../processes/leftovers.ts'
import type { RecentLines } from '../processes/recent-lines.ts'
import { startProcess, type ProcessPlan, type RunningProcess } from '../processes/running-process.ts'
import type { ProcessEnd } from '../processes/spawn-leashed.ts'
import { serverMain } from '../repository.ts'
import { serverReadyTimeoutMs, serverStopTimeoutMs } from './limits.ts'
import { readListeningUrlOrNull } from './log-line.ts'

export interface ServerOptions {
  /** Its log is `server.log` in there, its working directory `server`. */
  folder: string
  env: NodeJS.ProcessEnv
  /** Start it anew whenever one of its files changes. */
  watch?: boolean
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

export interface ServerProcess extends AsyncDisposable {
  readonly url: string
  readonly pid: number
  /** Of the process that runs now; a restart makes a new promise. */
  readonly ended: Promise<ProcessEnd>
  readonly recentLines: RecentLines
  /** SIGTERM: it finishes what it has begun. */
  terminate(): Promise<ProcessEnd>
  kill(): Promise<ProcessEnd>
  /** With other settings where some are given; they stay for later restarts. */
  restart(env?: NodeJS.ProcessEnv): Promise<void>
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const program = await prepareServerFolder(options.folder)
  let plan = planServer(program, options)
  let running = await startProcess(plan, options.signal)
  const terminate = async () => running.stop()

  return {
    get url() {
      return findListeningUrl(running)
    },
    get pid() {
      return running.pid
    },
    get ended() {
      return running.ended
    },
    get recentLines() {
      return running.recentLines
    },
    terminate,
    kill: async () => running.kill(),
    async restart(env) {
      await terminate()
      plan = { ...plan, env: { ...plan.env, ...env } }
      running = await startProcess(plan, options.signal)
    },
    async [Symbol.asyncDispose]() {
      await terminate()
    },
  }
}

/** Also ends the server of a run that was killed, which would hold the port. */
export async function prepareServerFolder(folder: string): Promise<Program> {
  const workingFolder = path.join(folder, 'server')
  await mkdir(workingFolder, { recursive: true })
  const program: Program = {
    name: 'The server',
    folder: await realpath(workingFolder),
    commandLine: /server\/main\.ts/,
    stopSignal: 'SIGTERM',
  }
  await endLeftovers(program)
  return program
}

function findListeningUrl({ readyLine }: RunningProcess): string {
  const url = readyLine === null ? null : readListeningUrlOrNull(readyLine)
  if (url === null) throw new Error('The server has not said where it listens.')
  return url
}

function planServer(program: Program, { folder, env, watch, onLine }: ServerOptions): ProcessPlan {
  return {
    ...program,
    command: process.execPath,
    args: [...(watch ? ['--watch', '--watch-preserve-output'] : []), serverMain],
    env,
    account: null,
    logPath: path.join(folder, 'server.log'),
    isReady: (line) => readListeningUrlOrNull(line) !== null,
    readyTimeoutMs: serverReadyTimeoutMs,
    stopTimeoutMs: serverStopTimeoutMs,
    ...(onLine && { onLine }),
  }
}

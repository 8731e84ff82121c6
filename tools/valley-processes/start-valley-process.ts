import { mkdir, realpath } from 'node:fs/promises'
import path from 'node:path'
import { endLeftovers, type Program } from '../processes/leftovers.ts'
import type { RecentLines } from '../processes/recent-lines.ts'
import { startProcess, type ProcessPlan, type RunningProcess } from '../processes/running-process.ts'
import type { ProcessEnd } from '../processes/spawn-leashed.ts'
import { runnerMain, serverMain } from '../repository.ts'
import { readyTimeoutMs, stopTimeoutMs } from './limits.ts'
import { readListeningUrlOrNull } from './log-line.ts'

export interface ValleyProcessOptions {
  /** Its log is `server.log` or `runner.log` in there, its working directory `server` or `runner`. */
  folder: string
  env: NodeJS.ProcessEnv
  /** Start it anew whenever one of its files changes. */
  watch?: boolean
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

export interface ValleyProcess extends AsyncDisposable {
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

const kinds = {
  server: { name: 'The server', main: serverMain, commandLine: /server\/main\.ts/ },
  runner: { name: 'The runner', main: runnerMain, commandLine: /runner\/main\.ts/ },
} as const

export type ValleyProcessKind = keyof typeof kinds

export async function startValleyProcess(
  kind: ValleyProcessKind,
  options: ValleyProcessOptions,
): Promise<ValleyProcess> {
  const program = await prepareProcessFolder(kind, options.folder)
  let plan = planProcess(kind, program, options)
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

/** Also ends the one of a run that was killed, which would hold the port. */
export async function prepareProcessFolder(kind: ValleyProcessKind, folder: string): Promise<Program> {
  const workingFolder = path.join(folder, kind)
  await mkdir(workingFolder, { recursive: true })
  const { name, commandLine } = kinds[kind]
  const program: Program = { name, folder: await realpath(workingFolder), commandLine, stopSignal: 'SIGTERM' }
  await endLeftovers(program)
  return program
}

function findListeningUrl({ readyLine }: RunningProcess): string {
  const url = readyLine === null ? null : readListeningUrlOrNull(readyLine)
  if (url === null) throw new Error('The process has not said where it listens.')
  return url
}

function planProcess(
  kind: ValleyProcessKind,
  program: Program,
  { folder, env, watch, onLine }: ValleyProcessOptions,
): ProcessPlan {
  return {
    ...program,
    command: process.execPath,
    args: [...(watch ? ['--watch', '--watch-preserve-output'] : []), kinds[kind].main],
    env,
    account: null,
    logPath: path.join(folder, `${kind}.log`),
    isReady: (line) => readListeningUrlOrNull(line) !== null,
    readyTimeoutMs,
    stopTimeoutMs,
    ...(onLine && { onLine }),
  }
}

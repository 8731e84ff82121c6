import { EventEmitter, once } from 'node:events'
import { createInterface } from 'node:readline'
import { LogFile } from './log-file.ts'
import { PlainError } from './plain-error.ts'
import { RecentLines } from './recent-lines.ts'
import { describeEnd, spawnLeashed, waitForEnd } from './spawn-leashed.ts'
import type { Leash, LeashedChild, ProcessEnd } from './spawn-leashed.ts'

export interface ProcessPlan extends Leash {
  /** As people call it, for messages. */
  name: string
  logPath: string
  /** The line of its output after which it can be used. */
  isReady: (line: string) => boolean
  readyTimeoutMs: number
  stopTimeoutMs: number
  onLine?: (line: string) => void
}

/** Starts a process and waits for the line that says it is ready; throws its last lines when none comes. */
export async function startProcess(plan: ProcessPlan, signal?: AbortSignal): Promise<RunningProcess> {
  signal?.throwIfAborted()
  const running = new RunningProcess(plan)
  try {
    await running.waitUntilReady(signal)
    return running
  } catch (error) {
    await running.stop()
    throw error
  }
}

export class RunningProcess implements AsyncDisposable {
  readonly ended: Promise<ProcessEnd>
  readonly recentLines = new RecentLines()
  readyLine: string | null = null
  readonly #plan: ProcessPlan
  readonly #child: LeashedChild
  readonly #log: LogFile
  readonly #events = new EventEmitter()
  #hasEnded = false

  constructor(plan: ProcessPlan) {
    this.#plan = plan
    this.#log = new LogFile(plan.logPath)
    this.#child = spawnLeashed(plan)
    for (const input of [this.#child.stdout, this.#child.stderr]) {
      createInterface({ input }).on('line', (line) => this.#read(line))
    }
    this.ended = waitForEnd(this.#child).finally(() => this.#close())
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.#plan.name} could not be started.`)
    return this.#child.pid
  }

  async waitUntilReady(signal?: AbortSignal): Promise<void> {
    const timeout = AbortSignal.timeout(this.#plan.readyTimeoutMs)
    const bound = AbortSignal.any(signal ? [timeout, signal] : [timeout])
    const ready = once(this.#events, 'ready', { signal: bound }).catch(() => null)
    const end = await Promise.race([ready.then(() => null), this.ended])
    signal?.throwIfAborted()
    if (end) throw this.#failure(describeEnd(end))
    if (timeout.aborted) throw this.#failure(`was not ready after ${this.#plan.readyTimeoutMs} ms`)
  }

  /** Ends it in order, and by force once its time is up. */
  async stop(): Promise<ProcessEnd> {
    this.signal(this.#plan.stopSignal)
    const timer = setTimeout(() => this.signal('SIGKILL'), this.#plan.stopTimeoutMs)
    return this.ended.finally(() => clearTimeout(timer))
  }

  async kill(): Promise<ProcessEnd> {
    this.signal('SIGKILL')
    return this.ended
  }

  /** A watching node passes signals on to its child; SIGKILL it cannot, so that goes to the whole group. */
  signal(name: NodeJS.Signals): void {
    if (this.#hasEnded) return
    try {
      process.kill(name === 'SIGKILL' ? -this.pid : this.pid, name)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #read(line: string): void {
    if (this.#hasEnded) return
    this.recentLines.add(line)
    this.#log.write(line)
    this.#plan.onLine?.(line)
    if (this.readyLine !== null || !this.#plan.isReady(line)) return
    this.readyLine = line
    this.#events.emit('ready')
  }

  #close(): void {
    this.#hasEnded = true
    this.#log[Symbol.dispose]()
  }

  #failure(what: string): PlainError {
    return new PlainError(
      `${this.#plan.name} ${what}. Its last lines, from ${this.#plan.logPath}:\n${this.recentLines.toString()}`,
    )
  }
}

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { Pool } from 'undici'
import { limits as contractLimits } from '@valley/contract/limits.ts'
import type { RunError } from '@valley/contract/runs.ts'
import type { Head } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import { ownLines } from '../reports/own-lines.ts'
import { runErrorOf } from '../reports/run-error.ts'
import type { Call, FromWorker, Handles } from '../sandbox/bootstrap/control-message.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { ControlChannel } from './control-channel.ts'
import type { EndCause } from './end-cause.ts'
import { Pings } from './pings.ts'
import { RunsOfWorker } from './runs-of-worker.ts'

/*
 * idle → loading → warm → draining → gone
 *
 * idle: booted, knows no val. loading: was given one, for ever. warm: answers requests. draining: finishes those it
 * has. Any state may go over to gone; the first cause is the one that counts.
 */
export type WorkerState = 'idle' | 'loading' | 'warm' | 'draining' | 'gone'

/** warm: the val is loaded once and used again. fresh: each run loads it anew, in an isolate of its own. */
export const workerModes = ['warm', 'fresh'] as const
export type WorkerMode = (typeof workerModes)[number]

export interface WorkerWatcher {
  readonly onEnd: (worker: Worker, cause: EndCause) => void
}

interface WorkerParts {
  readonly sandbox: Sandbox
  readonly control: ControlChannel
  readonly watcher: WorkerWatcher
}

export type LoadResult =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'handles_nothing' }
  | { readonly kind: 'load_failed'; readonly error: RunError }
  | { readonly kind: 'ended'; readonly cause: EndCause }

/** One sandbox and the val that it was given: never two, and never another one. */
export class Worker {
  readonly id: string
  readonly runs: RunsOfWorker
  readonly gone: Promise<EndCause>
  state: WorkerState = 'idle'
  lastUsedAtMs = performance.now()
  isHangingUp = false
  /** What its val can be used for, once it is loaded. */
  handles: Handles = { fetch: false, call: false, scheduled: false }
  /** Whether its val has something to call, as its last run said; null before the first. */
  hasDefault: boolean | null = null
  /** Whose it is, from its loading on. */
  valId: string | null = null
  ownerId: string | null = null
  memoryBytes: number = limits.workerBytesGuess
  readonly #sandbox: Sandbox
  readonly #control: ControlChannel
  readonly #watcher: WorkerWatcher
  readonly #pings: Pings
  readonly #gone = Promise.withResolvers<EndCause>()
  readonly #load = Promise.withResolvers<LoadResult>()
  #cause: EndCause | null = null
  #drainCause: EndCause = 'outdated'
  #drainedByMs = 0
  #pool: Pool | null = null
  #stallMsMax: number = limits.stallMsMax
  #pingedAtMs = 0
  #cpu: { ms: number | null; atMs: number } = { ms: null, atMs: 0 }

  constructor({ sandbox, control, watcher }: WorkerParts) {
    this.id = sandbox.id
    this.#sandbox = sandbox
    this.#control = control
    this.#watcher = watcher
    this.gone = this.#gone.promise
    this.#pings = new Pings((number) => control.send({ kind: 'ping', number }))
    this.runs = new RunsOfWorker(this.#pings)
    void sandbox.ended.then((end) => this.end(end === 'out_of_memory' ? 'out_of_memory' : 'exited'))
  }

  /** Why it is gone; null while it is not. */
  get endCause(): EndCause | null {
    return this.#cause
  }

  /** Requests go here: HTTP/1.1 on the sandbox's own socket. */
  get pool(): Pool {
    if (this.#pool === null) throw new Error('A worker without a val answers no requests.')
    return this.#pool
  }

  /** Gives it its val. Resolves however that goes; anything but `loaded` ends the worker. */
  async load(head: Head, mode: WorkerMode): Promise<LoadResult> {
    if (this.#cause !== null) return { kind: 'ended', cause: this.#cause }
    this.state = 'loading'
    this.valId = head.valId
    this.ownerId = head.ownerId
    if (mode === 'fresh' || head.type === 'script') this.#stallMsMax = limits.quietStallMsMax
    const timer = setTimeout(() => this.end('load_timed_out'), limits.loadTimeoutMs)
    // Its folder is gone if it ended meanwhile; anything else, such as a full disk, is no fault of the val's either.
    await this.#writeVal(head).catch(() => this.end('boot_failed'))
    this.#control.send({
      kind: 'assign',
      modules: this.#modules(head).map(({ inside }) => pathToFileURL(inside).href),
      environment: head.environment,
      mode,
      logLinesMax: contractLimits.logLinesMax,
      // A line more than is kept, so that the runner sees where it has to cut.
      logCharsMax: contractLimits.logBytesMax + contractLimits.logLineCharsMax,
      returnValueCharsMax: contractLimits.returnValueCharsMax,
    })
    const result = await this.#load.promise
    clearTimeout(timer)
    if (result.kind === 'loaded') this.#open()
    else this.end('load_failed')
    return result
  }

  hear(message: FromWorker): void {
    switch (message.kind) {
      case 'ready':
        return
      case 'loaded':
        return this.#loaded(message.handles)
      case 'load_failed':
        return this.#load.resolve({ kind: 'load_failed', error: runErrorOf(message.error) })
      case 'log':
        return this.runs.print(message.runId, message.level, ownLines(message.message))
      case 'threw':
        this.hasDefault = message.hasDefault ?? this.hasDefault
        return this.runs.threw(message.runId, runErrorOf(message.error))
      case 'returned':
        this.hasDefault = message.hasDefault
        return this.runs.returned(message.runId, message)
      case 'pong':
        return this.#pings.heard(message.number)
    }
  }

  /** Calls the val for a run; what comes of it is told to the run. */
  call(call: Call): void {
    this.#control.send({ kind: 'call', ...call })
  }

  /** Ends the code of one run where it has an isolate of its own; elsewhere no other run joins it any more. */
  stop(runId: string, mode: WorkerMode): void {
    if (mode === 'fresh') this.#control.send({ kind: 'stop', runId })
    else this.drain('outdated')
  }

  /** Takes no more runs, finishes those it has, and ends. */
  drain(cause: EndCause, withinMs: number = limits.drainMsMax): void {
    if (this.state === 'gone' || this.state === 'draining') return
    this.state = 'draining'
    this.#drainCause = cause
    this.#drainedByMs = performance.now() + withinMs
    this.#endIfDrained()
  }

  release(run: OpenRun, onSettled: (run: OpenRun) => void): void {
    this.lastUsedAtMs = performance.now()
    this.runs.release(run, (settled) => {
      onSettled(settled)
      this.#endIfDrained()
    })
  }

  /** Now and then: is it still turning, are its runs within their time? */
  tick(nowMs: number): void {
    if (this.state === 'gone') return
    if (this.state === 'draining' && nowMs > this.#drainedByMs && !this.runs.hasQueued)
      this.end(this.#drainCause)
    // Before anything else: a val that answered and then went into a loop has no run under way.
    if (this.#pings.silentMs(nowMs) > this.#stallMsMax) return this.end('stalled')
    this.runs.expire(nowMs)
    const isAsked = this.runs.size > 0 || this.state === 'loading'
    if (!isAsked && nowMs - this.#pingedAtMs < limits.idlePingIntervalMs) return
    this.#pingedAtMs = nowMs
    if (this.state !== 'idle') this.#pings.keepGoing(nowMs)
  }

  /** Its side hung up: it is ending, or was made to. What the kernel says of it comes first if it comes soon. */
  lostControl(): void {
    this.isHangingUp = true
    setTimeout(() => this.end('exited'), limits.endWaitMs / 2).unref()
  }

  end(cause: EndCause): void {
    if (this.#cause !== null) return
    this.#cause = cause
    this.state = 'gone'
    this.#load.resolve({ kind: 'ended', cause })
    this.#gone.resolve(cause)
    this.runs.settleAll(cause)
    this.#control.close()
    void this.#pool?.destroy()
    void this.#sandbox.remove()
    this.#watcher.onEnd(this, cause)
  }

  async measure(): Promise<void> {
    const bytes = await this.#sandbox.readMemoryBytes().catch(() => null)
    if (bytes !== null) this.memoryBytes = bytes
    const cpuMs = await this.#sandbox.readCpuMs()
    const last = this.#cpu
    this.#cpu = { ms: cpuMs, atMs: performance.now() }
    if (cpuMs === null || last.ms === null) return
    const share = (cpuMs - last.ms) / (this.#cpu.atMs - last.atMs)
    const wasLeftAlone = this.state === 'warm' && this.runs.isSettled && this.lastUsedAtMs < last.atMs
    if (wasLeftAlone && share > limits.idleCpuShareMax) this.end('restless')
  }

  /** Once: whatever the val says of itself later changes nothing. */
  #loaded(handles: Handles): void {
    if (this.state !== 'loading') return
    this.handles = handles
    const isOfUse = handles.fetch || handles.call || handles.scheduled
    this.#load.resolve({ kind: isOfUse ? 'loaded' : 'handles_nothing' })
  }

  /** Not before its last run is settled: what that one said last would go with it. */
  #endIfDrained(): void {
    if (this.state === 'draining' && this.runs.isSettled) this.end(this.#drainCause)
  }

  #open(): void {
    if (this.state === 'gone') return
    this.state = 'warm'
    // What loading took of the processor is not held against it.
    this.lastUsedAtMs = performance.now()
    this.#pool = new Pool('http://val', {
      socketPath: path.join(this.#sandbox.socketFolder, 'http.sock'),
      connections: limits.requestsPerWorkerMax,
      pipelining: 1,
      keepAliveTimeout: limits.workerKeepAliveMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: limits.answerHeaderBytesMax,
    })
  }

  async #writeVal(head: Head): Promise<void> {
    await mkdir(this.#sandbox.valFolder, { recursive: true })
    for (const { outside } of this.#modules(head)) await writeFile(outside, head.code, { mode: 0o644 })
  }

  /** As .tsx a val may have JSX in it; as .ts it may have the few things that JSX rules out. */
  #modules({ name }: Head): readonly { readonly outside: string; readonly inside: string }[] {
    return [`${name}.tsx`, `${name}.ts`].map((file) => ({
      outside: path.join(this.#sandbox.valFolder, file),
      inside: path.join(this.#sandbox.inside.valFolder, file),
    }))
  }
}

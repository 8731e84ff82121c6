import { limits as contractLimits } from '@valley/contract/limits.ts'
import type { LogLevel, RunLogLine, RunError, RunRequest } from '@valley/contract/runs.ts'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { Head } from '@valley/bus/requests.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { Handles } from '../sandbox/bootstrap/control-message.ts'
import { judge, type Outcome } from './outcome.ts'
import { keepReturned, type Returned } from './returned.ts'
import { newRunId, timeOfId } from './run-id.ts'
import { storable } from './storable.ts'

const { logLinesMax, logBytesMax, logLineCharsMax } = contractLimits

/** Hears what runs print while they run. */
export type LineSink = (run: OpenRun, line: RunLogLine) => void

/** What a val is used for by a run: to answer a request, to be called, to do what is scheduled. */
export type Use = keyof Handles

/** A run that was claimed off the queue, where it was known before it came here. */
export interface QueuedOrigin {
  readonly claimed: ClaimedRun
  readonly runnerId: string
}

/** What is known of a run's beginning: the request that made it, or the queue that it was claimed off. */
export type RunOrigin = { readonly request: RunRequest } | QueuedOrigin

/** One run from its arrival to its report. */
export class OpenRun {
  readonly id: string
  readonly createdAtMs = Date.now()
  /** Which code it runs; a run that waits while its val is saved goes over to the new one. */
  head: Head
  readonly origin: RunOrigin
  readonly logs: RunLogLine[] = []
  /** When a worker had room and when the val was called, on the clock that only goes forward. */
  placedAtMs: number | null = null
  calledAtMs: number | null = null
  bootMs = 0
  answerStatus: number | null = null
  /** What the val threw, as told on its worker's line; the answer that says so comes on another. */
  thrown: RunError | null = null
  /** Until when it may go on as it does; looked at now and then rather than by a timer for each. */
  deadline: { readonly atMs: number; readonly expire: () => void } | null = null
  readonly arrivedAtMs = performance.now()
  readonly #sink: LineSink
  #logBytes = 0
  #isCut = false
  /** What a call returned, until it is reported; who waits for it is told through `onSaid`. */
  returned: Returned | null = null
  onSaid: ((outcome: Outcome) => void) | null = null
  #end: { outcome: Outcome; atMs: number } | null = null

  constructor(head: Head, origin: RunOrigin, sink: LineSink) {
    this.id = 'claimed' in origin ? origin.claimed.id : newRunId()
    this.head = head
    this.origin = origin
    this.#sink = sink
  }

  get isQueued(): boolean {
    return 'claimed' in this.origin
  }

  get use(): Use {
    if (!('claimed' in this.origin)) return 'fetch'
    return this.origin.claimed.source === 'schedule' ? 'scheduled' : 'call'
  }

  print(level: LogLevel, message: string): void {
    if (this.#isCut) return
    const text = storable(message, logLineCharsMax)
    this.#logBytes += Buffer.byteLength(text)
    this.#isCut = this.logs.length >= logLinesMax || this.#logBytes > logBytesMax
    const line = this.#isCut
      ? ({
          level: 'warn',
          message: `Cut here: a run keeps ${logLinesMax} lines and ${logBytesMax / 1024} KiB.`,
        } as const)
      : { level, message: text }
    const stamped = { at: new Date().toISOString(), ...line }
    this.logs.push(stamped)
    this.#sink(this, stamped)
  }

  /** The first end counts. Returns whether this was it. */
  end(outcome: Outcome): boolean {
    if (this.#end !== null) return false
    this.#end = { outcome, atMs: performance.now() }
    return true
  }

  get outcome(): Outcome | null {
    return this.#end?.outcome ?? null
  }

  toReport(): RunReport {
    const end = this.#end ?? { outcome: { kind: 'broke_off' }, atMs: performance.now() }
    const { status, error } = judge(end.outcome)
    const sinceArrivalMs = (at: number | null) => (at ?? end.atMs) - this.arrivedAtMs
    const calledAfterMs = sinceArrivalMs(this.calledAtMs)
    return {
      id: this.id,
      valId: this.head.valId,
      ownerId: this.head.ownerId,
      version: this.head.version,
      source: 'claimed' in this.origin ? this.origin.claimed.source : 'http',
      status,
      error: end.outcome.kind === 'threw' ? (this.thrown ?? error) : error,
      startedAtMs: this.createdAtMs + Math.round(calledAfterMs),
      endedAtMs: this.createdAtMs + Math.round(sinceArrivalMs(end.atMs)),
      request: 'request' in this.origin ? this.origin.request : null,
      response: this.answerStatus === null ? null : { status: this.answerStatus },
      timings: {
        queuedMs: round(Math.max(0, this.#waitedBeforeMs + sinceArrivalMs(this.placedAtMs) - this.bootMs)),
        bootMs: round(this.bootMs),
        runMs: this.calledAtMs === null ? 0 : round(end.atMs - this.calledAtMs),
        cpuMs: null,
      },
      memoryPeakBytes: null,
      logs: this.logs,
      ...this.#ofQueued(),
    }
  }

  /** In the queue, by the clocks of two machines. */
  get #waitedBeforeMs(): number {
    return this.isQueued ? Math.max(0, this.createdAtMs - timeOfId(this.id)) : 0
  }

  #ofQueued(): Pick<RunReport, 'runnerId' | 'returnValue' | 'returnValueCut'> {
    if (!('claimed' in this.origin)) return {}
    const { runnerId } = this.origin
    if (this.returned === null) return { runnerId }
    const { value, isCut } = keepReturned(this.returned)
    return { runnerId, returnValue: value, returnValueCut: isCut }
  }
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100
}

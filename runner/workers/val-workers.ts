import type { Head } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import { type EndCause, isValsFault } from './end-cause.ts'
import type { LoadResult, Worker, WorkerMode } from './worker.ts'

export type Placement =
  | { readonly kind: 'placed'; readonly worker: Worker }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

export interface IdleWorkers {
  readonly take: () => Promise<Worker | null>
  readonly giveBack: (worker: Worker) => void
}

interface Waiter {
  readonly run: OpenRun
  readonly give: (placement: Placement) => void
  readonly untilMs: number
}

/** How many runs at once a worker takes, and from how many on the val gets another worker. */
const loads = {
  warm: { most: limits.requestsPerWorkerMax, easy: limits.requestsPerWorkerEasy },
  fresh: { most: limits.isolatesPerWorkerMax, easy: 1 },
} as const

/** Which code with which variables: a worker is for exactly one. */
export function keyOf({ version, environmentRevision }: Head): string {
  return `${version} ${environmentRevision}`
}

/** The workers of one val at one key, and the runs that wait for one of them. */
export class ValWorkers {
  /** The newest that was heard of, with this key. */
  head: Head
  readonly key: string
  readonly mode: WorkerMode
  readonly workers = new Set<Worker>()
  readonly #idle: IdleWorkers
  readonly #waiting: Waiter[] = []
  #loading = 0
  #crashes = 0
  #nextLoadAtMs = 0
  /** How the last load failed: the answer until the next may be tried. */
  #failure: Outcome | null = null
  #isClosed = false

  constructor(head: Head, mode: WorkerMode, idle: IdleWorkers) {
    this.head = head
    this.mode = mode
    this.key = keyOf(head)
    this.#idle = idle
  }

  get isUnused(): boolean {
    return (
      this.workers.size === 0 &&
      this.#loading === 0 &&
      this.#waiting.length === 0 &&
      this.#failure === null &&
      this.#crashes === 0
    )
  }

  get waitingCount(): number {
    return this.#waiting.length
  }

  /** At once where a worker has room. */
  place(run: OpenRun): Placement | Promise<Placement> {
    const worker = this.#leastBusy()
    if (worker) {
      if (worker.runs.size >= loads[this.mode].easy) this.#loadAnother()
      return start(worker, run)
    }
    if (this.#failure !== null && performance.now() < this.#nextLoadAtMs) {
      return { kind: 'refused', outcome: this.#failure }
    }
    if (this.#waiting.length >= limits.requestsQueuedPerValMax) {
      return { kind: 'refused', outcome: { kind: 'overloaded', why: 'queue_full' } }
    }
    const placed = new Promise<Placement>((give) => {
      this.#waiting.push({ run, give, untilMs: performance.now() + limits.queueWaitMsMax })
    })
    this.#loadAnother()
    return placed
  }

  /** A run of one of its workers ended: the next may have its place. */
  releaseOne(): void {
    for (;;) {
      const worker = this.#waiting.length > 0 ? this.#leastBusy() : undefined
      const waiter = worker && this.#waiting.shift()
      if (!waiter) return
      waiter.give(start(worker, waiter.run))
    }
  }

  /** The client of a run that waits is gone. */
  forget(run: OpenRun): void {
    const at = this.#waiting.findIndex((waiter) => waiter.run === run)
    if (at >= 0) this.#waiting.splice(at, 1)[0]?.give({ kind: 'refused', outcome: { kind: 'client_left' } })
  }

  tick(nowMs: number): void {
    while (!this.#isFirstLoading && this.#waiting[0] !== undefined && this.#waiting[0].untilMs < nowMs) {
      const why = this.#crashes > 0 ? 'crashing' : 'queue_wait'
      this.#waiting.shift()?.give({ kind: 'refused', outcome: { kind: 'overloaded', why } })
    }
    if (this.#waiting.length > 0) this.#loadAnother()
    // A val that was left alone for as long as it may have to wait at the most has served its sentence.
    if (this.workers.size === 0 && nowMs > this.#nextLoadAtMs + limits.crashWaitMsMax) {
      this.#crashes = 0
      this.#failure = null
    }
  }

  onWorkerEnd(worker: Worker, cause: EndCause): void {
    if (!this.workers.delete(worker) || !isValsFault(cause)) return
    this.#noteCrash()
    if (this.#waiting.length > 0) this.#loadAnother()
  }

  /** A newer key takes over: those who wait go with it, those at work finish. */
  close(cause: EndCause): readonly Waiter[] {
    this.#isClosed = true
    for (const worker of this.workers) worker.drain(cause)
    return this.#waiting.splice(0)
  }

  adopt(waiters: readonly Waiter[]): void {
    for (const { run } of waiters) run.head = this.head
    this.#waiting.push(...waiters)
    this.releaseOne()
    if (this.#waiting.length > 0) this.#loadAnother()
  }

  /** Whoever waits for that hears how it goes, which is within a bound of its own. */
  get #isFirstLoading(): boolean {
    return this.workers.size > 0 && [...this.workers].every(({ state }) => state === 'loading')
  }

  #leastBusy(): Worker | undefined {
    let best: Worker | undefined
    for (const worker of this.workers) {
      if (worker.state !== 'warm' || worker.runs.size >= loads[this.mode].most) continue
      if (best === undefined || worker.runs.size < best.runs.size) best = worker
    }
    return best
  }

  /** One at a time, and after a crash not at once: a val that keeps ending must not take the others' sandboxes. */
  #loadAnother(): void {
    if (this.#isClosed || this.#loading > 0 || this.workers.size >= limits.workersPerValMax) return
    if (performance.now() < this.#nextLoadAtMs) return
    this.#loading += 1
    void this.#load().finally(() => {
      this.#loading -= 1
      if (this.#waiting.length > 0) this.#loadAnother()
    })
  }

  async #load(): Promise<void> {
    const worker = await this.#idle.take()
    if (worker === null) return this.#refuseAll({ kind: 'worker_ended', cause: 'stopping' })
    // It knows no val yet: if nobody waits for it any more, another val may have it.
    const isWanted = this.#waiting.length > 0 || this.workers.size > 0
    if (this.#isClosed || !isWanted) return this.#idle.giveBack(worker)
    this.workers.add(worker)
    const startedAtMs = performance.now()
    const result = await worker.load(this.head, this.mode)
    const loadMs = performance.now() - startedAtMs
    if (result.kind !== 'loaded') {
      const first = this.#waiting[0]
      if (first) worker.runs.giveEarlyLines(first.run)
      return this.#onLoadFailed(result)
    }
    this.#failure = null
    this.#crashes = 0
    for (const { run } of this.#waiting) run.bootMs = Math.min(loadMs, performance.now() - run.arrivedAtMs)
    if (this.#isClosed) worker.drain('outdated')
    this.releaseOne()
  }

  #onLoadFailed(result: Exclude<LoadResult, { kind: 'loaded' }>): void {
    if (result.kind === 'ended' && !isValsFault(result.cause)) return
    this.#failure = failureOf(result)
    this.#refuseAll(this.#failure)
  }

  #refuseAll(outcome: Outcome): void {
    for (const { give } of this.#waiting.splice(0)) give({ kind: 'refused', outcome })
  }

  #noteCrash(): void {
    const waitMs = Math.min(limits.crashWaitMs * 2 ** this.#crashes, limits.crashWaitMsMax)
    this.#crashes += 1
    this.#nextLoadAtMs = performance.now() + waitMs
  }
}

function failureOf(result: Exclude<LoadResult, { kind: 'loaded' }>): Outcome {
  if (result.kind !== 'ended') return result
  return result.cause === 'load_timed_out'
    ? { kind: 'timed_out', waitedFor: 'load' }
    : { kind: 'worker_ended', cause: result.cause }
}

function start(worker: Worker, run: OpenRun): Placement {
  const { handles } = worker
  const isHandled = handles[run.use] || (run.use === 'scheduled' && handles.call)
  if (!isHandled) return { kind: 'refused', outcome: { kind: 'handles_nothing' } }
  worker.runs.start(run)
  return { kind: 'placed', worker }
}

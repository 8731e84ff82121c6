import type { Head } from '@valley/bus/requests.ts'
import { isOlderHead } from '../heads/head-stamp.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { SandboxDriver } from '../sandbox/sandbox.ts'
import { bootWorker } from './boot-worker.ts'
import type { EndCause } from './end-cause.ts'
import { IdlePool } from './idle-pool.ts'
import { keyOf, type Placement, ValWorkers } from './val-workers.ts'
import { type Worker, type WorkerMode, workerModes, type WorkerState } from './worker.ts'

export interface WorkforceOptions {
  readonly driver: SandboxDriver
  readonly idleWorkers: number
  readonly memoryBudgetBytes: number
  readonly warmIdleMs: number
  readonly observe: WorkforceObservations
}

export interface WorkforceObservations {
  readonly workerBooted: (ms: number) => void
  readonly bootFailed: (cause: unknown) => void
  readonly workerEnded: (worker: Worker, cause: EndCause) => void
}

/** All workers of this runner, within one budget of memory: who is idle, who belongs to which val, who has to go. */
export class Workforce implements AsyncDisposable {
  readonly #options: WorkforceOptions
  readonly #workers = new Set<Worker>()
  readonly #vals = new Map<string, ValWorkers>()
  readonly #idle: IdlePool
  readonly #timers: readonly NodeJS.Timeout[]
  #isMeasuring = false
  #measured = 0

  constructor(options: WorkforceOptions) {
    this.#options = options
    this.#idle = new IdlePool({
      size: options.idleWorkers,
      boot: () => this.#boot(),
      makeRoom: () => this.#makeRoom(),
      onBootFailed: options.observe.bootFailed,
    })
    this.#idle.fill()
    this.#timers = [
      setInterval(() => this.#tick(), limits.tickMs),
      setInterval(() => void this.#measure(), limits.measureIntervalMs),
    ]
  }

  /** A worker for this run of this head, at once if one is warm. Its run has to be released when it is over. */
  place(head: Head, run: OpenRun, mode: WorkerMode = 'warm'): Placement | Promise<Placement> {
    const workers = this.#workersOf(head, mode)
    run.head = workers.head
    return workers.place(run)
  }

  forget(run: OpenRun, mode: WorkerMode = 'warm'): void {
    this.#vals.get(placeOf(run.head, mode))?.forget(run)
  }

  release(worker: Worker, run: OpenRun, onSettled: (run: OpenRun) => void): void {
    worker.release(run, onSettled)
    for (const mode of workerModes) this.#vals.get(placeOf(run.head, mode))?.releaseOne()
  }

  countByState(): Readonly<Record<WorkerState, number>> {
    const counts = { idle: 0, loading: 0, warm: 0, draining: 0, gone: 0 }
    for (const { state } of this.#workers) counts[state] += 1
    return counts
  }

  get booting(): number {
    return this.#idle.booting
  }

  get runsWaiting(): number {
    let count = 0
    for (const val of this.#vals.values()) count += val.waitingCount
    return count
  }

  get memoryBytes(): number {
    let bytes = this.#idle.booting * limits.workerBytesGuess
    for (const worker of this.#workers) bytes += worker.memoryBytes
    return bytes
  }

  /** Takes nothing new; what is under way may finish within its time. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    this.#idle.close()
    for (const worker of this.#workers) worker.drain('stopping')
    const gone = Promise.all([...this.#workers].map((worker) => worker.gone))
    const timer = setTimeout(() => this.#endAll(), limits.stopMsMax)
    await gone
    clearTimeout(timer)
  }

  #endAll(): void {
    for (const worker of this.#workers) worker.end('stopping')
  }

  /** The newest head decides: workers of another version or environment take nothing more. */
  #workersOf(head: Head, mode: WorkerMode): ValWorkers {
    const place = placeOf(head, mode)
    const known = this.#vals.get(place)
    if (known !== undefined && (known.head === head || isOlderHead(head, known.head))) return known
    if (known?.key === keyOf(head)) {
      known.head = head
      return known
    }
    const fresh = new ValWorkers(head, mode, this.#idle)
    this.#vals.set(place, fresh)
    if (known) fresh.adopt(known.close('outdated'))
    return fresh
  }

  async #boot(): Promise<Worker> {
    const startedAtMs = performance.now()
    const worker = await bootWorker(this.#options.driver, {
      onEnd: (ended, cause) => this.#onEnd(ended, cause),
    })
    this.#options.observe.workerBooted(performance.now() - startedAtMs)
    if (worker.state !== 'gone') this.#workers.add(worker)
    return worker
  }

  #onEnd(worker: Worker, cause: EndCause): void {
    this.#workers.delete(worker)
    this.#idle.forget(worker)
    this.#options.observe.workerEnded(worker, cause)
    for (const val of this.#vals.values()) if (val.workers.has(worker)) val.onWorkerEnd(worker, cause)
  }

  #makeRoom(): boolean {
    const fits = () => this.memoryBytes + limits.workerBytesGuess <= this.#options.memoryBudgetBytes
    while (!fits()) {
      const victim = this.#leastRecentlyUsed()
      if (victim === undefined) {
        if (this.#idle.hasWaiters) this.#squeeze()
        return false
      }
      victim.end('evicted')
    }
    return true
  }

  /** Nobody is unused and others wait: whoever has most of the memory gives up their oldest worker, streams and all. */
  #squeeze(): void {
    const workers = [...this.#workers].filter(
      ({ state, runs }) => (state === 'warm' && !runs.hasQueued) || state === 'draining',
    )
    if (workers.some(({ state }) => state === 'draining')) return
    const byOwner = Object.values(Object.groupBy(workers, ({ ownerId }) => ownerId ?? ''))
    const most = byOwner.toSorted((a, b) => (b?.length ?? 0) - (a?.length ?? 0))[0] ?? []
    if (most.length <= workers.length * limits.ownerShareMax) return
    const oldest = most.toSorted((a, b) => a.lastUsedAtMs - b.lastUsedAtMs)[0]
    oldest?.drain('evicted', limits.squeezeMsMax)
  }

  #leastRecentlyUsed(): Worker | undefined {
    let oldest: Worker | undefined
    for (const worker of this.#workers) {
      if (worker.state !== 'warm' || !worker.runs.isSettled) continue
      if (oldest === undefined || worker.lastUsedAtMs < oldest.lastUsedAtMs) oldest = worker
    }
    return oldest
  }

  #tick(): void {
    const nowMs = performance.now()
    for (const worker of this.#workers) {
      worker.tick(nowMs)
      const isUnused = worker.state === 'warm' && worker.runs.size === 0
      if (isUnused && nowMs - worker.lastUsedAtMs > this.#options.warmIdleMs) worker.end('unused')
    }
    for (const [place, val] of this.#vals) {
      val.tick(nowMs)
      if (val.isUnused) this.#vals.delete(place)
    }
    this.#idle.fill()
  }

  /** In turn, so that many workers do not cost more than few. */
  #nextToMeasure(): readonly Worker[] {
    const workers = [...this.#workers]
    const from = this.#measured % Math.max(1, workers.length)
    this.#measured = from + limits.measuredAtOnceMax
    return workers.slice(from, from + limits.measuredAtOnceMax)
  }

  /** What they really use, and the budget held against it. */
  async #measure(): Promise<void> {
    if (this.#isMeasuring) return
    this.#isMeasuring = true
    for (const worker of this.#nextToMeasure()) await worker.measure()
    this.#isMeasuring = false
    while (this.memoryBytes > this.#options.memoryBudgetBytes) {
      const victim = this.#leastRecentlyUsed()
      if (victim === undefined) return
      victim.end('evicted')
    }
  }
}

/** The two modes of a val have workers of their own. */
function placeOf({ valId }: Head, mode: WorkerMode): string {
  return `${valId} ${mode}`
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import { limits } from '../limits.ts'
import type { Beats } from './beats.ts'
import type { Claims } from './claims.ts'
import { type ExecuteParts, executeRun } from './execute-run.ts'
import type { Held, HeldRuns } from './held-runs.ts'

interface QueuedParts extends ExecuteParts {
  readonly bus: Bus
  readonly held: HeldRuns
  readonly claims: Claims
  readonly beats: Beats
  readonly atOnceMax: number
}

/**
 * Claims runs off the queue for as long as there is room, and executes them. It asks when it hears that runs wait,
 * when a run ends while more wait, and now and then in case it did not hear.
 */
export class QueuedRuns implements AsyncDisposable {
  readonly #parts: QueuedParts
  readonly #runnerStops = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #isClaiming = false
  /** Whether more runs may wait than were given last time. */
  #mayWait = true
  /** Whether some wait because of a bound, and not because there was no room here. */
  #othersWait = false
  #claimsAgainAtMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor(parts: QueuedParts) {
    this.#parts = parts
    parts.bus.subscribe('runsWaiting', () => {
      this.#mayWait = true
      void this.#claim()
    })
    parts.bus.subscribe('runCanceled', ({ runId }) => parts.held.stop(runId))
    parts.bus.subscribe('runsEnded', ({ runIds }) => this.#noteEnded(runIds))
    this.#poll()
  }

  /** From now on nothing is claimed, and what has not begun does not. */
  stopClaiming(): void {
    clearTimeout(this.#timer)
    this.#runnerStops.abort()
  }

  /** Waits for what runs, for a while; the rest ends with its workers. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stopClaiming()
    const late = new AbortController()
    const timeout = sleep(limits.stopMsMax, undefined, { signal: late.signal }).catch(() => undefined)
    await Promise.race([Promise.all(this.#underWay), timeout])
    late.abort()
  }

  /** Once runs of ours are recorded, others of their owner or val may have their place. */
  #noteEnded(runIds: readonly string[]): void {
    const ours = runIds.filter((runId) => this.#parts.held.noteGone(runId))
    if (ours.length === 0 || !this.#othersWait) return
    this.#mayWait = true
    void this.#claim()
  }

  #poll(): void {
    const waitMs = limits.claimPollMs + Math.random() * limits.claimJitterMs
    this.#timer = setTimeout(() => {
      this.#mayWait = true
      void this.#claim()
      this.#poll()
    }, waitMs)
  }

  async #claim(): Promise<void> {
    // What is abandoned is told for minutes: few of them, then, however often somebody says that runs wait.
    if (this.#isClaiming || performance.now() < this.#claimsAgainAtMs) return
    this.#isClaiming = true
    try {
      while (this.#mayWait && this.#room > 0 && !this.#runnerStops.signal.aborted) await this.#claimOnce()
    } finally {
      this.#isClaiming = false
    }
  }

  get #room(): number {
    return this.#parts.atOnceMax - this.#parts.held.underWay
  }

  async #claimOnce(): Promise<void> {
    const { bus, runnerId, held, claims, beats } = this.#parts
    const wanted = Math.min(this.#room, limits.claimedAtOnceMax)
    // What comes while this one is under way may not be in its answer: only a hint from here on says so.
    this.#mayWait = false
    const claimNumber = claims.begin()
    const reply = await bus.request(
      'claimRuns',
      {
        runnerId,
        claimNumber,
        wanted,
        wantedPerVal: limits.claimedPerValMax,
        fullVals: held.valsWaiting(limits.waitingPerValMax),
      },
      { timeoutMs: limits.claimTimeoutMs },
    )
    if (reply?.kind !== 'claimed') {
      // Also of a server that says it could not: its database may have done it all the same.
      claims.abandon(claimNumber)
      this.#claimsAgainAtMs = performance.now() + limits.claimRetryWaitMs
      return beats.soon()
    }
    for (const claimed of reply.runs) this.#take(claimed, claimNumber)
    claims.settle(claimNumber)
    this.#othersWait = reply.othersWait
    if (reply.othersWait && reply.runs.length > 0) this.#mayWait = true
  }

  #take(claimed: ClaimedRun, claimNumber: number): void {
    const { held } = this.#parts
    const stop = new AbortController()
    const entry = held.add(claimed.id, { valId: claimed.valId, claimNumber, stop: () => stop.abort() })
    const running = this.#execute(claimed, entry, stop.signal).finally(() => {
      this.#underWay.delete(running)
      void this.#claim()
    })
    this.#underWay.add(running)
  }

  async #execute(claimed: ClaimedRun, entry: Held, stop: AbortSignal): Promise<void> {
    const { held } = this.#parts
    const runnerStops = this.#runnerStops.signal
    const onBegun = () => {
      // It was one too many for more of its val to be asked for.
      if (held.noteBegun(entry) !== limits.waitingPerValMax - 1 || !this.#othersWait) return
      this.#mayWait = true
      void this.#claim()
    }
    const state = await executeRun(this.#parts, claimed, { stop, runnerStops, onBegun })
    if (state === 'reported') return held.noteReported(claimed.id)
    // Given back at once, it would come back at once.
    await sleep(limits.handBackWaitMs, undefined, { signal: runnerStops }).catch(() => {})
    await this.#handBack(claimed.id, entry.claimNumber)
    held.release(claimed.id, entry)
  }

  /** For as long as it takes: it was accepted and has not begun, so that it must not be lost. Only a runner's end ends that. */
  async #handBack(runId: string, claimNumber: number): Promise<void> {
    const { bus, runnerId } = this.#parts
    const isOver = () => this.#runnerStops.signal.aborted
    for (let triesAtTheEnd = 0; triesAtTheEnd < limits.handBackTriesMax; triesAtTheEnd += isOver() ? 1 : 0) {
      const reply = await bus.request(
        'handBackRuns',
        { runnerId, claimNumber, runIds: [runId] },
        { timeoutMs: limits.handBackTimeoutMs },
      )
      if (reply?.kind === 'taken') return
      await sleep(limits.handBackWaitMs)
    }
  }
}

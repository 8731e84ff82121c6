import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '@valley/bus/connect-bus.ts'
import { limits } from '../limits.ts'
import type { Claims } from './claims.ts'
import type { HeldRuns } from './held-runs.ts'

interface BeatParts {
  readonly bus: Pick<Bus, 'request'>
  readonly runnerId: string
  readonly held: HeldRuns
  readonly claims: Claims
}

/** Says now and then that this runner is alive and what it has, and hears what has become of that. */
export class Beats implements AsyncDisposable {
  readonly #parts: BeatParts
  readonly #stop = new AbortController()
  readonly #beating: Promise<void>
  #hurry = new AbortController()
  /** Whether the beat that comes next comes in its time. */
  #isRegular = true

  constructor(parts: BeatParts) {
    this.#parts = parts
    this.#beating = this.#keepBeating()
  }

  /** Something is to be told before the next beat is due. */
  soon(): void {
    this.#isRegular = false
    this.#hurry.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#hurry.abort()
    await this.#beating
  }

  async #keepBeating(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      // From before the beat on: what is to be told since it began is not in it.
      this.#hurry = new AbortController()
      const isHeard = await this.#beat()
      const waitMs = isHeard ? limits.beatIntervalMs : limits.beatRetryWaitMs
      this.#isRegular = isHeard
      await sleep(waitMs, undefined, { signal: this.#hurry.signal }).catch(() => {})
    }
  }

  async #beat(): Promise<boolean> {
    const { bus, runnerId, held, claims } = this.#parts
    const nowMs = performance.now()
    const runIds = held.ids()
    const lastClaim = claims.settled
    // More than fits into a message are told in part: then nothing may be concluded from what is missing.
    const isAll = runIds.length <= limits.beatRunsMax
    const told = {
      runnerId,
      claimsSettled: isAll ? lastClaim : 0,
      claimsAbandoned: claims.abandoned(nowMs),
      runIds: isAll ? runIds : runIds.slice(-limits.beatRunsMax),
    }
    const reply = await bus.request('beat', told, {
      timeoutMs: limits.beatTimeoutMs,
      signal: this.#stop.signal,
    })
    if (reply?.kind !== 'heard') return false
    for (const id of reply.canceled) held.stop(id)
    for (const id of reply.gone) held.noteGone(id, lastClaim)
    if (isAll && this.#isRegular) held.noteHeard()
    return true
  }
}

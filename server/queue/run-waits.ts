import type { Bus } from '@valley/bus/connect-bus.ts'
import { limits } from '../limits.ts'

interface WaitBounds {
  readonly waitMs: number
  /** Aborted once nobody waits any more. */
  readonly signal?: AbortSignal
}

/** Whoever waits for the end of runs. A hint says when to look; a look now and then finds what no hint told. */
export class RunWaits implements Disposable {
  readonly #waiting = new Map<string, Set<() => void>>()
  #isClosed = false

  constructor(bus: Pick<Bus, 'subscribe'>) {
    bus.subscribe('runsEnded', ({ runIds }) => {
      for (const runId of runIds) this.#wake(runId)
    })
  }

  /** What `look` finds, once that is something; null when the time is up, or whoever waits has left. */
  async until<Found>(
    runId: string,
    { waitMs, signal }: WaitBounds,
    look: () => Promise<Found | null>,
  ): Promise<Found | null> {
    const deadlineMs = performance.now() + waitMs
    const isOver = () => this.#isClosed || Boolean(signal?.aborted) || performance.now() >= deadlineMs
    for (;;) {
      // From before the look on: an end that comes meanwhile is not overheard.
      const hint = this.#nextHint(runId, Math.min(limits.waitLookMs, deadlineMs - performance.now()))
      const found = await look()
      if (found !== null || isOver()) {
        hint.cancel()
        return found
      }
      signal?.addEventListener('abort', hint.cancel)
      await hint.heard
      signal?.removeEventListener('abort', hint.cancel)
    }
  }

  /** Everybody is told what there is now. */
  [Symbol.dispose](): void {
    this.#isClosed = true
    for (const runId of this.#waiting.keys()) this.#wake(runId)
  }

  #nextHint(runId: string, withinMs: number) {
    const { promise: heard, resolve } = Promise.withResolvers<void>()
    const waiters = this.#waiting.get(runId) ?? new Set()
    this.#waiting.set(runId, waiters)
    const cancel = () => {
      clearTimeout(timer)
      waiters.delete(cancel)
      if (waiters.size === 0) this.#waiting.delete(runId)
      resolve()
    }
    const timer = setTimeout(cancel, Math.max(0, withinMs))
    waiters.add(cancel)
    return { heard, cancel }
  }

  #wake(runId: string): void {
    for (const tell of this.#waiting.get(runId) ?? []) tell()
  }
}

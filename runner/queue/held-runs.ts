import { limits } from '../limits.ts'

export interface Held {
  /** Once it is reported; until the record shows it, it is still ours. */
  reportedAtMs: number | null
  readonly stop: () => void
}

/** The runs that were claimed and of which no server has said yet that they are over. */
export class HeldRuns {
  readonly #runs = new Map<string, Held>()
  #underWay = 0

  /** Claimed and not reported. */
  get underWay(): number {
    return this.#underWay
  }

  ids(nowMs: number): string[] {
    for (const [id, { reportedAtMs }] of this.#runs) {
      if (reportedAtMs !== null && nowMs - reportedAtMs > limits.reportedHeldMsMax) this.#runs.delete(id)
    }
    return [...this.#runs.keys()]
  }

  /** `stop` ends it early: it was canceled, or is no longer ours. */
  add(id: string, stop: () => void): Held {
    const held: Held = { reportedAtMs: null, stop }
    this.#runs.set(id, held)
    this.#underWay += 1
    return held
  }

  noteReported(id: string): void {
    const held = this.#runs.get(id)
    if (held === undefined || held.reportedAtMs !== null) return
    held.reportedAtMs = performance.now()
    this.#underWay -= 1
  }

  /** It was not begun, and somebody else may have it. */
  release(id: string, held: Held): void {
    this.#underWay -= 1
    // It may have come back to us before we heard that it was taken.
    if (this.#runs.get(id) === held) this.#runs.delete(id)
  }

  stop(id: string): void {
    const held = this.#runs.get(id)
    if (held?.reportedAtMs === null) held.stop()
  }

  /** A server says that it is over. One that still runs here was given up, and ends. */
  noteGone(id: string): void {
    const held = this.#runs.get(id)
    if (held === undefined) return
    if (held.reportedAtMs === null) held.stop()
    else this.#runs.delete(id)
  }
}

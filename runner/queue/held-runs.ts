import { limits } from '../limits.ts'

export interface Held {
  /** Which claim brought it. */
  readonly claimNumber: number
  /** Ends it early: it was canceled, or is no longer ours. */
  readonly stop: () => void
  /** Once it is reported, in how many beats that was heard; until the record shows it, it is still ours. */
  beatsSinceReport: number | null
}

/** The runs that were claimed and of which no server has said yet that they are over. */
export class HeldRuns {
  readonly #runs = new Map<string, Held>()
  #underWay = 0

  /** Claimed and not reported. */
  get underWay(): number {
    return this.#underWay
  }

  ids(): string[] {
    return [...this.#runs.keys()]
  }

  add(id: string, { claimNumber, stop }: Pick<Held, 'claimNumber' | 'stop'>): Held {
    const held: Held = { claimNumber, stop, beatsSinceReport: null }
    this.#runs.set(id, held)
    this.#underWay += 1
    return held
  }

  noteReported(id: string): void {
    const held = this.#runs.get(id)
    if (held === undefined || held.beatsSinceReport !== null) return
    held.beatsSinceReport = 0
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
    if (held?.beatsSinceReport === null) held.stop()
  }

  /**
   * A server says that it is not ours any more. One that still runs here was given up, and ends; but not if a later claim
   * brought it back since the server was asked.
   */
  noteGone(id: string, lastClaim = Infinity): void {
    const held = this.#runs.get(id)
    if (held === undefined || held.claimNumber > lastClaim) return
    if (held.beatsSinceReport === null) held.stop()
    else this.#runs.delete(id)
  }

  /**
   * A server that answered still calls these ours. After very many such answers no report of them will be recorded any
   * more. Counted in answers: while nobody could record anything, no time passes.
   */
  noteHeard(): void {
    for (const [id, held] of this.#runs) {
      if (held.beatsSinceReport === null) continue
      held.beatsSinceReport += 1
      if (held.beatsSinceReport > limits.reportedBeatsMax) this.#runs.delete(id)
    }
  }
}

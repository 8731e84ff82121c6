import { limits } from '../limits.ts'

export interface Held {
  readonly valId: string
  /** Which claim brought it. */
  readonly claimNumber: number
  /** Ends it early: it was canceled, or is no longer ours. */
  readonly stop: () => void
  /** Once it is reported, in how many beats that was heard; until the record shows it, it is still ours. */
  beatsSinceReport: number | null
  /** Whether its val has been called: until then it is lost for nothing if this runner is. */
  hasBegun: boolean
}

/** The runs that were claimed and of which no server has said yet that they are over. */
export class HeldRuns {
  readonly #runs = new Map<string, Held>()
  #underWay = 0
  /** By val, how many were claimed and have not begun. */
  readonly #waiting = new Map<string, number>()

  /** Vals of which so many were claimed and have not begun. */
  valsWaiting(runsMin: number): string[] {
    return [...this.#waiting].filter(([, runs]) => runs >= runsMin).map(([valId]) => valId)
  }

  /** Claimed and not reported. */
  get underWay(): number {
    return this.#underWay
  }

  ids(): string[] {
    return [...this.#runs.keys()]
  }

  add(id: string, { valId, claimNumber, stop }: Pick<Held, 'valId' | 'claimNumber' | 'stop'>): Held {
    const held: Held = { valId, claimNumber, stop, beatsSinceReport: null, hasBegun: false }
    this.#runs.set(id, held)
    this.#underWay += 1
    this.#waiting.set(valId, (this.#waiting.get(valId) ?? 0) + 1)
    return held
  }

  /** Returns how many runs of its val still wait. */
  noteBegun(held: Held): number {
    const { valId } = held
    const left = (this.#waiting.get(valId) ?? 0) - (held.hasBegun ? 0 : 1)
    held.hasBegun = true
    if (left <= 0) this.#waiting.delete(valId)
    else this.#waiting.set(valId, left)
    return left
  }

  noteReported(id: string): void {
    const held = this.#runs.get(id)
    if (held === undefined || held.beatsSinceReport !== null) return
    held.beatsSinceReport = 0
    this.noteBegun(held)
    this.#underWay -= 1
  }

  /** It was not begun, and somebody else may have it. */
  release(id: string, held: Held): void {
    this.#underWay -= 1
    this.noteBegun(held)
    // It may have come back to us before we heard that it was taken.
    if (this.#runs.get(id) === held) this.#runs.delete(id)
  }

  stop(id: string): void {
    const held = this.#runs.get(id)
    if (held?.beatsSinceReport === null) held.stop()
  }

  /**
   * A server says that it is not ours any more. One that still runs here was given up, and ends; but not if a later claim
   * brought it back since the server was asked. Returns whether it was ours at all.
   */
  noteGone(id: string, lastClaim = Infinity): boolean {
    const held = this.#runs.get(id)
    if (held === undefined || held.claimNumber > lastClaim) return false
    if (held.beatsSinceReport === null) held.stop()
    else this.#runs.delete(id)
    return true
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

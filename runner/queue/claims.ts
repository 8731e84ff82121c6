import { limits } from '../limits.ts'

/**
 * The numbers of claims, and what became of each. An answer that did not come in time may still be on its way, or its
 * server may be about to carry it out: the claim is abandoned, nothing that it brings is ever begun, and servers are
 * told so for as long as one might still do it.
 */
export class Claims {
  #last = 0
  #underWay: number | null = null
  readonly #abandoned = new Map<number, number>()

  begin(): number {
    this.#underWay = ++this.#last
    return this.#last
  }

  settle(number: number): void {
    if (this.#underWay === number) this.#underWay = null
  }

  abandon(number: number): void {
    this.settle(number)
    this.#abandoned.set(number, performance.now())
  }

  /** All up to this one are known to have been answered, or are abandoned. */
  get settled(): number {
    return this.#underWay === null ? this.#last : this.#underWay - 1
  }

  abandoned(nowMs: number): number[] {
    for (const [number, atMs] of this.#abandoned) {
      if (nowMs - atMs > limits.abandonedToldMs) this.#abandoned.delete(number)
    }
    return [...this.#abandoned.keys()]
  }
}

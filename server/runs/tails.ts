import { Fault, unavailable } from '../fault.ts'
import { limits } from '../limits.ts'

/** The tails that are open on this server: so many for each caller, so many in all, and none once it closes. */
export class Tails {
  readonly #ofCaller = new Map<string, number>()
  readonly #ends = new Set<() => void>()
  #isClosed = false

  /** Takes a place for a tail, given back when it is disposed of; `end` is called when the server closes. */
  enter(callerId: string, end: () => void): Disposable {
    const count = this.#ofCaller.get(callerId) ?? 0
    if (count >= limits.tailsOfCallerMax) {
      const message = `You watch ${limits.tailsOfCallerMax} vals already. End one of these tails first.`
      throw new Fault('rate_limited', message, {
        headers: { 'retry-after': String(limits.tailRetryAfterSeconds) },
      })
    }
    if (this.#isClosed || this.#ends.size >= limits.tailsMax) {
      throw unavailable('This server takes no more tails. Try again in a moment.')
    }
    this.#ofCaller.set(callerId, count + 1)
    this.#ends.add(end)
    return { [Symbol.dispose]: () => this.#leave(callerId, end) }
  }

  /** Ends them all: their clients come back to another server, or to this one after its restart. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#ends) end()
  }

  get size(): number {
    return this.#ends.size
  }

  #leave(callerId: string, end: () => void): void {
    if (!this.#ends.delete(end)) return
    const count = (this.#ofCaller.get(callerId) ?? 1) - 1
    if (count === 0) this.#ofCaller.delete(callerId)
    else this.#ofCaller.set(callerId, count)
  }
}

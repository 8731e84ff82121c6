import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'

/** How many requests each caller has under way, so that no one caller takes every place in the database's queue. */
export class UnderWay {
  readonly #counts = new Map<string, number>()

  /** Takes a place for one request, given back when it is disposed of. */
  enter(key: string, max: number): Disposable {
    const count = (this.#counts.get(key) ?? 0) + 1
    if (count > max) {
      throw new Fault('rate_limited', `More than ${max} requests under way at once. Wait for some of them.`, {
        headers: { 'retry-after': String(limits.retryAfterSeconds) },
      })
    }
    this.#counts.set(key, count)
    return { [Symbol.dispose]: () => this.#leave(key) }
  }

  #leave(key: string) {
    const count = (this.#counts.get(key) ?? 1) - 1
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

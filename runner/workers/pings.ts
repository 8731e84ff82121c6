/**
 * Numbered pings on a worker's line, answered in their turn. An answer says two things: the event loop turned, and
 * all that was printed before has arrived. So the same pings notice a stall and settle what runs have printed.
 */
export class Pings {
  readonly #send: (number: number) => void
  #lastSent = 0
  #lastHeard = 0
  /** When the oldest ping that is without an answer was sent. */
  #waitsSinceMs: number | null = null
  readonly #waiting: { readonly number: number; readonly done: () => void }[] = []

  constructor(send: (number: number) => void) {
    this.#send = send
  }

  /** Calls back once everything that was sent to us until now has been heard. */
  barrier(done: () => void): void {
    this.#ping(performance.now())
    this.#waiting.push({ number: this.#lastSent, done })
  }

  keepGoing(nowMs: number): void {
    if (this.#waitsSinceMs === null) this.#ping(nowMs)
  }

  heard(number: number): void {
    if (number <= this.#lastHeard || number > this.#lastSent) return
    this.#lastHeard = number
    this.#waitsSinceMs = number === this.#lastSent ? null : performance.now()
    while (this.#waiting[0] !== undefined && this.#waiting[0].number <= number) this.#waiting.shift()?.done()
  }

  silentMs(nowMs: number): number {
    return this.#waitsSinceMs === null ? 0 : nowMs - this.#waitsSinceMs
  }

  #ping(nowMs: number): void {
    this.#waitsSinceMs ??= nowMs
    this.#send(++this.#lastSent)
  }
}

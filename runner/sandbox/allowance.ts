import type { Readable } from 'node:stream'

const windowMs = 1_000

/**
 * Lets a stream bring so much in a second and no more. Beyond that it is not read until the next one, so that whoever
 * writes has to wait, and our time is left for others.
 */
export class Allowance {
  readonly #stream: Readable
  readonly #perSecondMax: number
  #spent = 0
  #sinceMs = performance.now()

  constructor(stream: Readable, perSecondMax: number) {
    this.#stream = stream
    this.#perSecondMax = perSecondMax
  }

  spend(amount: number): void {
    const nowMs = performance.now()
    if (nowMs - this.#sinceMs > windowMs) this.#renew(nowMs)
    this.#spent += amount
    if (this.#spent <= this.#perSecondMax || this.#stream.isPaused()) return
    this.#stream.pause()
    setTimeout(() => this.#goOn(), windowMs - (nowMs - this.#sinceMs)).unref()
  }

  #goOn(): void {
    this.#renew(performance.now())
    this.#stream.resume()
  }

  #renew(nowMs: number): void {
    this.#spent = 0
    this.#sinceMs = nowMs
  }
}

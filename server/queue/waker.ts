import type { Bus } from '@valley/bus/connect-bus.ts'
import { limits } from '../limits.ts'

/** Tells runners that runs wait: the first at once, and what follows within a few milliseconds together. */
export class Waker implements Disposable {
  readonly #bus: Pick<Bus, 'publish'>
  readonly #senderId: string
  #timer: NodeJS.Timeout | null = null
  #isAskedAgain = false

  constructor(bus: Pick<Bus, 'publish'>, senderId: string) {
    this.#bus = bus
    this.#senderId = senderId
  }

  wake(): void {
    if (this.#timer !== null) {
      this.#isAskedAgain = true
      return
    }
    this.#bus.publish('runsWaiting', { senderId: this.#senderId })
    this.#timer = setTimeout(() => this.#rest(), limits.wakeIntervalMs)
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #rest(): void {
    this.#timer = null
    if (!this.#isAskedAgain) return
    this.#isAskedAgain = false
    this.wake()
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.ts'
import type { Worker } from './worker.ts'

interface IdlePoolOptions {
  readonly size: number
  readonly boot: () => Promise<Worker>
  /** Whether there is memory for one worker more; may evict others to that end. */
  readonly makeRoom: () => boolean
  readonly onBootFailed: (cause: unknown) => void
}

/** Workers that were booted beforehand and know no val, so that the next val need not wait for a boot. */
export class IdlePool {
  readonly #options: IdlePoolOptions
  readonly #idle: Worker[] = []
  readonly #waiting: ((worker: Worker | null) => void)[] = []
  #booting = 0
  #isClosed = false
  #isFilling = false

  constructor(options: IdlePoolOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#idle.length
  }

  get hasWaiters(): boolean {
    return this.#waiting.length > 0
  }

  get booting(): number {
    return this.#booting
  }

  /** Null once the pool is closed. Whoever finds, when it comes, that nobody needs it any more gives it back. */
  take(): Promise<Worker | null> {
    const worker = this.#idle.shift()
    if (worker) {
      // The next boot would take the processor from the val that is just being loaded.
      setTimeout(() => this.fill(), limits.refillDelayMs).unref()
      return Promise.resolve(worker)
    }
    if (this.#isClosed) return Promise.resolve(null)
    const taken = new Promise<Worker | null>((resolve) => this.#waiting.push(resolve))
    this.fill()
    return taken
  }

  /** Boots what is missing, a few at once. Called again whenever a worker was taken or room was made. */
  fill(): void {
    // Making room ends other workers, which calls this again.
    if (this.#isFilling) return
    this.#isFilling = true
    const { size, makeRoom } = this.#options
    while (
      !this.#isClosed &&
      this.#booting < limits.bootsAtOnceMax &&
      this.#idle.length + this.#booting < size + this.#waiting.length &&
      makeRoom()
    ) {
      void this.#bootOne()
    }
    this.#isFilling = false
  }

  forget(worker: Worker): void {
    const at = this.#idle.indexOf(worker)
    if (at >= 0) this.#idle.splice(at, 1)
    this.fill()
  }

  close(): void {
    this.#isClosed = true
    for (const resolve of this.#waiting.splice(0)) resolve(null)
    for (const worker of this.#idle.splice(0)) worker.end('stopping')
  }

  async #bootOne(): Promise<void> {
    this.#booting += 1
    try {
      this.giveBack(await this.#options.boot())
    } catch (error) {
      this.#options.onBootFailed(error)
      await sleep(limits.bootRetryWaitMs)
    } finally {
      this.#booting -= 1
      this.fill()
    }
  }

  giveBack(worker: Worker): void {
    if (this.#isClosed) return worker.end('stopping')
    if (worker.state === 'gone') return
    const waiter = this.#waiting.shift()
    if (waiter) waiter(worker)
    else this.#idle.push(worker)
  }
}

import type { NatsConnection } from '@nats-io/transport-node'
import { ensureStreams } from './ensure-streams.ts'
import type { Link } from './link.ts'
import { limits } from './limits.ts'

/**
 * Sees to it that the streams are there whenever the bus is: at the start, after NATS lost those in its memory in a
 * restart, and after somebody found one missing. It tries until it succeeds or the connection is lost.
 */
export class StreamKeeper implements Disposable {
  readonly #link: Link
  readonly #onTrouble: (error: unknown) => void
  readonly #watching: Disposable[]
  #ensuring: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined

  constructor(link: Link, onTrouble: (error: unknown) => void) {
    this.#link = link
    this.#onTrouble = onTrouble
    this.#watching = [link.onUp(() => this.ensureSoon()), link.onLost(() => clearTimeout(this.#timer))]
  }

  /** Rejects when they could not be made; it goes on trying by itself. */
  async ensure(connection: NatsConnection): Promise<void> {
    this.#ensuring ??= ensureStreams(connection).finally(() => (this.#ensuring = null))
    return this.#ensuring
  }

  ensureSoon(): void {
    const { connection } = this.#link
    if (connection === null) return
    clearTimeout(this.#timer)
    this.ensure(connection).catch((error: unknown) => {
      if (this.#link.connection === null) return
      this.#onTrouble(error)
      this.#timer = setTimeout(() => this.ensureSoon(), limits.manageAgainMs)
    })
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    for (const watched of this.#watching) watched[Symbol.dispose]()
  }
}

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
  readonly #replicas: number
  readonly #onTrouble: (error: unknown) => void
  readonly #watching: Disposable[]
  #ensuring: Promise<void> | null = null
  #isTrying = false
  #timer: NodeJS.Timeout | undefined

  constructor(link: Link, replicas: number, onTrouble: (error: unknown) => void) {
    this.#link = link
    this.#replicas = replicas
    this.#onTrouble = onTrouble
    this.#watching = [link.onUp(() => this.ensureSoon()), link.onLost(() => clearTimeout(this.#timer))]
  }

  /** Rejects when they could not be made; it goes on trying by itself. */
  async ensure(connection: NatsConnection): Promise<void> {
    this.#ensuring ??= ensureStreams(connection, this.#replicas).finally(() => (this.#ensuring = null))
    return this.#ensuring
  }

  ensureSoon(): void {
    const { connection } = this.#link
    if (connection === null || this.#isTrying) return
    clearTimeout(this.#timer)
    this.#isTrying = true
    void this.#ensureOrTryAgain(connection)
  }

  async #ensureOrTryAgain(connection: NatsConnection): Promise<void> {
    try {
      await this.ensure(connection)
    } catch (error) {
      if (this.#link.connection === null) return
      this.#onTrouble(error)
      this.#timer = setTimeout(() => this.ensureSoon(), limits.manageAgainMs)
    } finally {
      this.#isTrying = false
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    for (const watched of this.#watching) watched[Symbol.dispose]()
  }
}

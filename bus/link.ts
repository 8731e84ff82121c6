import type { NatsConnection } from '@nats-io/transport-node'

/**
 * The connection as the other parts of the bus see it: there, or not there. NATS's client keeps one object and
 * connects it again by itself; what waits for an answer of a lost connection would wait in vain, and is told here.
 */
export class Link {
  #connection: NatsConnection | null = null
  readonly #onLost = new Set<() => void>()
  readonly #onUp = new Set<(connection: NatsConnection) => void>()

  /** null while the bus is down. */
  get connection(): NatsConnection | null {
    return this.#connection
  }

  up(connection: NatsConnection): void {
    this.#connection = connection
    for (const told of this.#onUp) told(connection)
  }

  down(): void {
    this.#connection = null
    for (const told of this.#onLost) told()
  }

  /** Tells once, until disposed of, that the connection is lost. */
  onLost(told: () => void): Disposable {
    return enter(this.#onLost, told)
  }

  /** Tells each time, until disposed of, that there is a connection. */
  onUp(told: (connection: NatsConnection) => void): Disposable {
    return enter(this.#onUp, told)
  }

  /** null once the signal is aborted. */
  async whenUp(signal: AbortSignal): Promise<NatsConnection | null> {
    if (this.#connection !== null || signal.aborted) return signal.aborted ? null : this.#connection
    const { promise, resolve } = Promise.withResolvers<NatsConnection | null>()
    const abort = () => resolve(null)
    using _ = this.onUp(resolve)
    signal.addEventListener('abort', abort)
    const connection = await promise
    signal.removeEventListener('abort', abort)
    return connection
  }
}

function enter<Item>(set: Set<Item>, item: Item): Disposable {
  set.add(item)
  return { [Symbol.dispose]: () => void set.delete(item) }
}

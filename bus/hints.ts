import type { NatsConnection } from '@nats-io/transport-node'
import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from './limits.ts'
import type { Link } from './link.ts'
import { type Message, type MessageBody, type MessageName, messages, subjectOf } from './messages.ts'

/**
 * Sends hints, and tells when NATS has them. Whoever was told of a change and asks about it at once should not meet
 * somebody who has not heard of it yet: NATS passes a hint on before it answers the ping behind it.
 */
export class Hints {
  readonly #link: Link
  #sent = 0
  #taken = 0
  #asking: Promise<void> | null = null

  constructor(link: Link) {
    this.#link = link
  }

  publish<Name extends MessageName>(name: Name, body: MessageBody<Name>): void {
    const message: Message = messages[name]
    if (message.isAwaited) this.#sent += 1
    this.#link.connection?.publish(subjectOf(name, body), JSON.stringify(body))
  }

  /** Returns at once where nothing was sent or NATS is away, and soon in any case. Many share one question to NATS. */
  async taken(): Promise<void> {
    const goal = this.#sent
    while (this.#link.connection !== null && this.#taken < goal) {
      this.#asking ??= this.#ask(this.#link.connection).finally(() => (this.#asking = null))
      await this.#asking
    }
  }

  async #ask(connection: NatsConnection): Promise<void> {
    const goal = this.#sent
    const given = new AbortController()
    const tooLate = sleep(limits.hintTakenMsMax, undefined, { signal: given.signal }).catch(() => undefined)
    await Promise.race([connection.flush().catch(() => undefined), tooLate])
    given.abort()
    this.#taken = goal
  }
}

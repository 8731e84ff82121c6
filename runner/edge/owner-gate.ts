import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Head } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'

export type Gate = 'open' | 'closed' | 'unavailable'

/** A private val answers whoever shows a token of its owner's; to everyone else there is no such val. */
export class OwnerGate {
  readonly #bus: Bus
  readonly #callers = new LRUCache<string, { userId: string | null }>({
    max: limits.callersCachedMax,
    ttl: limits.callerAgeMaxMs,
  })

  constructor(bus: Bus) {
    this.#bus = bus
    bus.subscribe('callerChanged', ({ userId }) => {
      for (const [hash, caller] of this.#callers) if (caller.userId === userId) this.#callers.delete(hash)
    })
  }

  async check(request: IncomingMessage, head: Head): Promise<Gate> {
    const token = /^bearer\s+(vly_\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) return 'closed'
    const tokenHash = createHash('sha256').update(token).digest('hex')
    const known = this.#callers.get(tokenHash) ?? (await this.#ask(tokenHash))
    if (known === null) return 'unavailable'
    return known.userId === head.ownerId ? 'open' : 'closed'
  }

  async #ask(tokenHash: string): Promise<{ userId: string | null } | null> {
    const reply = await this.#bus.request(
      'identifyCaller',
      { tokenHash },
      { timeoutMs: limits.headTimeoutMs },
    )
    if (reply === null || reply.kind === 'unavailable') return null
    const caller = { userId: reply.kind === 'known' ? reply.userId : null }
    this.#callers.set(tokenHash, caller)
    return caller
  }
}

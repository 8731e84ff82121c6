import { limits } from '../limits.ts'
import type { Caller } from '../caller.ts'
import { RecentMap } from '../recent-map.ts'

interface Entry {
  readonly caller: Promise<Caller | null>
  readonly until: number
}

/**
 * Who a token belongs to, remembered for a few seconds, so that a busy token costs no query per request. A change is
 * told to this cache at once, to those of other servers by a message; a lost message costs callerAgeMaxMs.
 */
export class CallerCache {
  readonly #entries = new RecentMap<string, Entry>(limits.callersCachedMax)

  /**
   * Requests that come together share one look-up; a failed or empty one is not remembered. Instead of its text, a token
   * may be named by its hash in hexadecimal digits, which looks like no token.
   */
  find(tokenText: string, load: () => Promise<Caller | null>): Promise<Caller | null> {
    const known = this.#entries.get(tokenText)
    if (known && known.until > Date.now()) return known.caller
    const caller = load().then(
      (found) => this.#keepIfFound(tokenText, found),
      (error: unknown) => {
        this.#entries.delete(tokenText)
        throw error
      },
    )
    this.#entries.set(tokenText, { caller, until: Date.now() + limits.callerAgeMaxMs })
    return caller
  }

  /** Forgets all that is known of a user's tokens: one was revoked, or the user changed. */
  async forgetUser(userId: string): Promise<void> {
    for (const [tokenText, { caller }] of this.#entries) {
      const found = await caller.catch(() => null)
      if (found === null || found.id === userId) this.#entries.delete(tokenText)
    }
  }

  get size(): number {
    return this.#entries.size
  }

  #keepIfFound(tokenText: string, found: Caller | null) {
    if (found === null) this.#entries.delete(tokenText)
    return found
  }
}

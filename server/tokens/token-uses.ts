import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { touchTokens } from './queries.ts'

/** Gathers which tokens were used and writes it down now and then, so that no request waits for it. */
export class TokenUses implements AsyncDisposable {
  readonly #used = new Set<string>()
  readonly #db: Db
  readonly #onError: (error: unknown) => void
  readonly #timer: NodeJS.Timeout

  constructor(db: Db, onError: (error: unknown) => void) {
    this.#db = db
    this.#onError = onError
    this.#timer = setInterval(() => void this.flush(), limits.tokenUseFlushMs).unref()
  }

  note(tokenId: string): void {
    if (this.#used.size < limits.callersCachedMax) this.#used.add(tokenId)
  }

  async flush(): Promise<void> {
    const ids = [...this.#used]
    this.#used.clear()
    if (ids.length === 0) return
    try {
      await touchTokens(this.#db, { ids })
    } catch (error) {
      this.#onError(error)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }
}

import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Db } from './database/statement.ts'
import type { CallerCache } from './tokens/caller-cache.ts'

/** What a handler works with. `db` is a transaction where the request asked for one answer only. */
export interface Context {
  readonly db: Db
  readonly bus: Bus
  readonly callers: CallerCache
  /** Where the service is reached from outside, without a slash at the end. */
  readonly baseUrl: string
  /** Runs once what was written is committed, and not at all if it is rolled back. */
  readonly afterCommit: (effect: () => void) => void
}

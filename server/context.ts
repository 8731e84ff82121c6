import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Db } from './database/statement.ts'
import type { EnvironmentKeys } from './env/keys.ts'
import type { Config } from './config.ts'
import type { RunBounds } from './usage/run-allowance.ts'
import type { Queue } from './queue/queue.ts'
import type { CallerCache } from './tokens/caller-cache.ts'

/** Where things are reached from outside. */
export interface Addresses {
  /** The service itself, without a slash at the end. */
  readonly baseUrl: string
  /** The domain under which vals answer, each under a label of its own; undefined: they do not. */
  readonly valsUrl: string | undefined
}

/** What a handler works with. `db` is a transaction where the request asked for one answer only. */
export interface Context extends Addresses {
  readonly db: Db
  /** Never a transaction: for what comes after this request's own is committed. */
  readonly root: Db
  readonly bus: Bus
  readonly queue: Queue
  readonly bounds: RunBounds & Pick<Config, 'runsAtOncePerOwner' | 'runRetentionDays' | 'logRetentionDays'>
  readonly callers: CallerCache
  readonly environmentKeys: EnvironmentKeys
  /** Runs once what was written is committed, and not at all if it is rolled back. */
  readonly afterCommit: (effect: () => void) => void
}

import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Config } from '../config.ts'
import type { Db } from '../database/statement.ts'
import type { Metrics } from '../metrics.ts'
import type { Observations } from '../observations.ts'
import type { Queue } from '../queue/queue.ts'
import type { Handlers } from '../reply.ts'
import type { CallerCache } from '../tokens/caller-cache.ts'
import type { TokenUses } from '../tokens/token-uses.ts'
import type { RateLimiter } from './rate-limiter.ts'
import type { UnderWay } from './under-way.ts'

/** What the HTTP side of the server is made of. */
export interface HttpServices {
  readonly config: Config
  readonly db: Db
  readonly queue: Queue
  readonly bus: Bus
  readonly callers: CallerCache
  readonly tokenUses: TokenUses
  readonly limiter: RateLimiter
  readonly underWay: UnderWay
  readonly metrics: Metrics
  readonly observe: Observations
  readonly handlers: Handlers
  /** The public URL, or the address that is listened on, which is known only once the server listens. */
  readonly defaultBaseUrl: () => string
}

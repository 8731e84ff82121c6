import * as alerts from './alerts/handlers.ts'
import * as comments from './comments/handlers.ts'
import * as env from './env/handlers.ts'
import * as likes from './likes/handlers.ts'
import type { Metrics } from './metrics.ts'
import * as platform from './platform/handlers.ts'
import * as references from './references/handlers.ts'
import * as queue from './queue/handlers.ts'
import type { Handlers } from './reply.ts'
import * as runs from './runs/handlers.ts'
import { tailValWith } from './runs/tail-val.ts'
import type { Tails } from './runs/tails.ts'
import * as schedules from './schedules/handlers.ts'
import * as search from './search/handlers.ts'
import * as tokens from './tokens/handlers.ts'
import * as usage from './usage/handlers.ts'
import * as users from './users/handlers.ts'
import * as vals from './vals/handlers.ts'
import * as versions from './versions/handlers.ts'

/** One handler for each operation of the contract; a missing one does not pass the type check. */
export function createHandlers(metrics: Metrics, tails: Tails): Handlers {
  const { getMetricsFrom, createReadiness, ...platformHandlers } = platform
  return {
    ...users,
    ...usage,
    ...vals,
    ...versions,
    ...runs,
    ...queue,
    tailVal: tailValWith(tails),
    ...likes,
    ...comments,
    ...references,
    ...search,
    ...tokens,
    ...env,
    ...schedules,
    ...alerts,
    ...platformHandlers,
    getMetrics: getMetricsFrom(metrics),
    getReadiness: createReadiness(),
  }
}

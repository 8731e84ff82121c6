import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'

/** How much of its allowance a caller has left, as the RateLimit headers tell it. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/**
 * A leaky bucket per caller: a minute's allowance may be used at once, then it refills evenly. For each bucket one
 * number is kept, the moment at which it is full again. Each process counts for itself.
 */
export class RateLimiter {
  /** The buckets that were used longest ago are forgotten first; most of them are full again. */
  readonly #fullAtMs = new RecentMap<string, number>(limits.rateBucketsMax)

  take(key: string, perMinute: number): Allowance {
    const now = Date.now()
    const costMs = 60_000 / perMinute
    const fullAtMs = Math.max(this.#fullAtMs.get(key) ?? now, now) + costMs
    const overMs = fullAtMs - now - 60_000
    if (overMs > 0.001) throw limited(perMinute, overMs)
    this.#fullAtMs.set(key, fullAtMs)
    return {
      limit: perMinute,
      remaining: Math.floor((60_000 - (fullAtMs - now)) / costMs),
      resetSeconds: Math.ceil((fullAtMs - now) / 1_000),
    }
  }
}

export function rateLimitHeaders({ limit, remaining, resetSeconds }: Allowance) {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  }
}

function limited(perMinute: number, overMs: number) {
  const retryAfterSeconds = Math.max(1, Math.ceil(overMs / 1_000))
  return new Fault(
    'rate_limited',
    `More than ${perMinute} requests a minute. Go on in ${retryAfterSeconds} s.`,
    {
      headers: {
        'retry-after': String(retryAfterSeconds),
        ...rateLimitHeaders({ limit: perMinute, remaining: 0, resetSeconds: retryAfterSeconds }),
      },
    },
  )
}

import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { selectStanding, type Standing } from './queries.ts'

export interface RunBounds {
  readonly queuedRunsPerOwnerMax: number
  /** null: no bound. */
  readonly runsPerDayMax: number | null
}

interface Seen {
  readonly standing: Standing
  readonly atMs: number
  /** Let in here since. */
  added: number
}

/**
 * How many more runs an owner may have. It is looked up at most once a second for each owner, with what came in here
 * meanwhile added: several servers together may let in a little more.
 */
export class RunAllowance {
  readonly #bounds: RunBounds
  readonly #seen = new RecentMap<string, Seen>(limits.ownersSeenMax)

  constructor(bounds: RunBounds) {
    this.#bounds = bounds
  }

  /** Lets one more in, or says why not and when to come back. */
  async require(db: Db, ownerId: string): Promise<void> {
    if ((await this.take(db, ownerId, 1)) === 1) return
    const { queuedRunsPerOwnerMax, runsPerDayMax } = this.#bounds
    const { standing } = await this.#look(db, ownerId)
    if (this.#dayRoom(standing) > 0) {
      throw new Fault(
        'queue_full',
        `${queuedRunsPerOwnerMax} of your runs wait or run already. Go on once some are over, or cancel some.`,
        { headers: { 'retry-after': String(limits.queueRetryAfterSeconds) } },
      )
    }
    throw new Fault(
      'quota_exceeded',
      `Your ${runsPerDayMax} runs of today are used up. Go on after midnight UTC; GET /v1/me/usage says more.`,
      { headers: { 'retry-after': String(Math.ceil(standing.seconds_left)), 'x-should-retry': 'false' } },
    )
  }

  /** How many of so many new ones may come in. */
  async take(db: Db, ownerId: string, wanted: number): Promise<number> {
    const seen = await this.#look(db, ownerId)
    const { standing, added } = seen
    const queueRoom = this.#bounds.queuedRunsPerOwnerMax - standing.queued
    const room = Math.max(0, Math.min(wanted, Math.min(queueRoom, this.#dayRoom(standing)) - added))
    seen.added += room
    return room
  }

  /** What waits counts as if it had run already, so that a day's worth cannot be queued twice. */
  #dayRoom({ runs_today, queued }: Standing): number {
    return this.#bounds.runsPerDayMax === null ? Infinity : this.#bounds.runsPerDayMax - runs_today - queued
  }

  async #look(db: Db, ownerId: string): Promise<Seen> {
    const nowMs = performance.now()
    const known = this.#seen.get(ownerId)
    if (known !== undefined && nowMs - known.atMs < limits.standingAgeMaxMs) return known
    const { rows } = await selectStanding(db, {
      owner_id: ownerId,
      limit: this.#bounds.queuedRunsPerOwnerMax,
    })
    const standing = rows[0] ?? { queued: 0, runs_today: 0, seconds_left: 0 }
    const seen = { standing, atMs: nowMs, added: 0 }
    this.#seen.set(ownerId, seen)
    return seen
  }
}

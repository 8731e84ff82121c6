import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { selectStandings, type Standing } from './queries.ts'

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
    if ((await this.take(db, new Map([[ownerId, 1]]))).get(ownerId) === 1) return
    const { queuedRunsPerOwnerMax, runsPerDayMax } = this.#bounds
    const [seen] = await this.#look(db, [ownerId])
    if (seen === undefined || this.#dayRoom(seen.standing) > seen.added) {
      throw new Fault(
        'queue_full',
        `${queuedRunsPerOwnerMax} of your runs wait or run already. Go on once some are over, or cancel some.`,
        { headers: { 'retry-after': String(limits.queueRetryAfterSeconds) } },
      )
    }
    throw new Fault(
      'quota_exceeded',
      `Your ${runsPerDayMax} runs of today are used up. Go on after midnight UTC; GET /v1/me/usage says more.`,
      {
        headers: { 'retry-after': String(Math.ceil(seen.standing.seconds_left)), 'x-should-retry': 'false' },
      },
    )
  }

  /** How many of so many new ones of each owner may come in. */
  async take(db: Db, wanted: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, number>> {
    const taken = new Map<string, number>()
    for (const seen of await this.#look(db, [...wanted.keys()])) {
      const { standing, added } = seen
      const room =
        Math.min(this.#bounds.queuedRunsPerOwnerMax - standing.queued, this.#dayRoom(standing)) - added
      const count = Math.max(0, Math.min(wanted.get(standing.owner_id) ?? 0, room))
      seen.added += count
      taken.set(standing.owner_id, count)
    }
    return taken
  }

  /** What waits counts as if it had run already, so that a day's worth cannot be queued twice. */
  #dayRoom({ runs_today, queued }: Standing): number {
    return this.#bounds.runsPerDayMax === null ? Infinity : this.#bounds.runsPerDayMax - runs_today - queued
  }

  async #look(db: Db, ownerIds: readonly string[]): Promise<readonly Seen[]> {
    const nowMs = performance.now()
    const isKnown = (id: string) => nowMs - (this.#seen.get(id)?.atMs ?? -Infinity) < limits.standingAgeMaxMs
    const unknown = ownerIds.filter((id) => !isKnown(id))
    if (unknown.length > 0) {
      const limit = this.#bounds.queuedRunsPerOwnerMax
      const { rows } = await selectStandings(db, { owner_ids: unknown, limit })
      for (const standing of rows) {
        // Of several that looked at once, the first to know counts: what it has let in since is noted there.
        if (!isKnown(standing.owner_id))
          this.#seen.set(standing.owner_id, { standing, atMs: nowMs, added: 0 })
      }
    }
    return ownerIds.flatMap((id) => this.#seen.get(id) ?? [])
  }
}

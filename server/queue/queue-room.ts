import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { countQueued } from './queries.ts'

interface Counted {
  count: number
  readonly atMs: number
}

/**
 * How much an owner may have in the queue. Counted at most once a second for each owner, with what came in here
 * meanwhile added: several servers together may let in a little more.
 */
export class QueueRoom {
  readonly #max: number
  readonly #counted = new RecentMap<string, Counted>(limits.ownersCountedMax)

  constructor(queuedPerOwnerMax: number) {
    this.#max = queuedPerOwnerMax
  }

  async require(db: Db, ownerId: string): Promise<void> {
    if ((await this.take(db, ownerId, 1)) === 1) return
    throw new Fault(
      'queue_full',
      `${this.#max} of your runs wait or run already. Go on once some of them are over, or cancel some.`,
      { headers: { 'retry-after': String(limits.queueRetryAfterSeconds) } },
    )
  }

  /** How many of so many new ones there is room for. */
  async take(db: Db, ownerId: string, wanted: number): Promise<number> {
    const nowMs = performance.now()
    let counted = this.#counted.get(ownerId)
    if (counted === undefined || nowMs - counted.atMs > limits.countAgeMaxMs) {
      const [row] = (await countQueued(db, { owner_id: ownerId, limit: this.#max })).rows
      counted = { count: row?.count ?? 0, atMs: nowMs }
      this.#counted.set(ownerId, counted)
    }
    const room = Math.max(0, Math.min(wanted, this.#max - counted.count))
    counted.count += room
    return room
  }
}

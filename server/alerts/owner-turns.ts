import { lowestId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { walkOwners } from './delivery-queries.ts'

interface Wanted {
  readonly limit: number
  readonly except: ReadonlySet<string>
}

/** Goes round among the owners of deliveries: however many one of them has, the others have their turn. */
export class OwnerTurns {
  #after = lowestId

  /** Owners of whom something is due. It goes on where it stopped, to the end of the round at the most. */
  async next(db: Db, { limit, except }: Wanted): Promise<readonly string[]> {
    const owners: string[] = []
    for (let walks = 0; walks < limits.deliveringWalksMax; walks++) {
      const walked = limits.deliveringOwnersWalkedMax
      const { rows } = await walkOwners(db, { after_owner: this.#after, walked })
      const due = rows.filter(({ owner_id, is_due }) => is_due && !except.has(owner_id))
      owners.push(...due.slice(0, limit - owners.length).map(({ owner_id }) => owner_id))
      const isFull = owners.length === limit
      const isRoundOver = !isFull && rows.length < walked
      const last = isFull ? owners.at(-1) : rows.at(-1)?.owner_id
      this.#after = isRoundOver || last === undefined ? lowestId : last
      if (isFull || isRoundOver) break
    }
    return owners
  }
}

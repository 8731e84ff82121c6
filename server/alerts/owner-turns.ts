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

  /** Owners of whom something is due. It goes on where it stopped, and once to the end of the round at the most. */
  async next(db: Db, { limit, except }: Wanted): Promise<readonly string[]> {
    const walked = limits.deliveringOwnersWalkedMax
    const { rows } = await walkOwners(db, { after_owner: this.#after, walked })
    const owners = rows.filter(({ owner_id, is_due }) => is_due && !except.has(owner_id)).slice(0, limit)
    const isFull = owners.length === limit
    const last = isFull ? owners.at(-1) : rows.length === walked ? rows.at(-1) : null
    this.#after = last?.owner_id ?? lowestId
    return owners.map(({ owner_id }) => owner_id)
  }
}

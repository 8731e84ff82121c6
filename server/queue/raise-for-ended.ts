import { raiseAlerts } from '../alerts/raise-alerts.ts'
import type { Db } from '../database/statement.ts'
import type { EndedRow } from './transitions.ts'

/**
 * Raises alerts for those of these runs that are not tried again; returns how many. In the transaction that ended them:
 * nobody hears of their end again, and whether it was the last attempt is known now.
 */
export async function raiseForEnded(transaction: Db, ended: readonly EndedRow[]): Promise<number> {
  const final = ended
    .filter(({ is_retried }) => !is_retried)
    .map(({ owner_id, val_id, ended_at, ...run }) => {
      return { ...run, ownerId: owner_id, valId: val_id, endedAtMs: ended_at.getTime() }
    })
  return raiseAlerts(transaction, final)
}

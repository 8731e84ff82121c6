import { alertSecrets } from '../alerts/seal-secret.ts'
import { lowestId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import type { EnvironmentKeys } from './keys.ts'
import { purposeOfVariable, type SealedVariable } from './seal-value.ts'
import { type SealedRow, type SealedTable, sealedTable } from './sealed-table.ts'

export interface Rotation {
  /** How many values are now under the first key that were not. */
  readonly resealed: number
  /** How many cannot be opened, because their key is not configured or their row was tampered with. */
  readonly unreadable: number
  /** The keys that something is still sealed with: once it is only the first, the others may go. */
  readonly keysInUse: readonly string[]
}

const variables = sealedTable<SealedVariable & SealedRow>({
  table: 'variables',
  columns: ['owner_id', 'holder_id', 'name'],
  purposeOf: purposeOfVariable,
})

/** All that is sealed with these keys. */
const tables: readonly SealedTable[] = [variables, alertSecrets]

/**
 * Seals everything anew with the first key, a batch at a time. A row that is done no longer bears its old key, so
 * that it may be ended at any moment and goes on from there when it is started again.
 */
export async function rotateKeys(db: Db, keys: EnvironmentKeys): Promise<Rotation> {
  const counts = { resealed: 0, unreadable: 0 }
  const inUse = new Set<string>()
  for (const table of tables) {
    const { resealed, unreadable } = await rotateTable(db, table, keys)
    counts.resealed += resealed
    counts.unreadable += unreadable
    for (const keyId of await table.findKeysInUse(db)) inUse.add(keyId)
  }
  return { ...counts, keysInUse: [...inUse].toSorted() }
}

async function rotateTable(db: Db, table: SealedTable, keys: EnvironmentKeys) {
  const [first] = keys
  if (!first)
    throw new Fault('invalid_request', 'Set ENVIRONMENT_KEYS: its first key is the one to seal with.')
  let resealed = 0
  let unreadable = 0
  for (const keyId of await table.findKeysInUse(db)) {
    if (keyId === first.id) continue
    let after = lowestId
    while (true) {
      const batch = await table.resealBatch(db, { keys, first, keyId, after })
      resealed += batch.resealed
      unreadable += batch.unreadable
      if (batch.last === null) break
      after = batch.last
    }
  }
  return { resealed, unreadable }
}

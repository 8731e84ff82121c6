import { lowestId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { limits } from '../limits.ts'
import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'
import { resealVariables, selectNextKeyInUse, selectVariablesOfKey } from './queries.ts'
import { openValueOrNull, sealValue } from './seal-value.ts'

export interface Rotation {
  /** How many values are now under the first key that were not. */
  readonly resealed: number
  /** How many cannot be opened, because their key is not configured or their row was tampered with. */
  readonly unreadable: number
  /** The keys that something is still sealed with: once it is only the first, the others may go. */
  readonly keysInUse: readonly string[]
}

/**
 * Seals everything anew with the first key, a batch at a time. A row that is done no longer bears its old key, so
 * that it may be ended at any moment and goes on from there when it is started again.
 */
export async function rotateKeys(db: Db, keys: EnvironmentKeys): Promise<Rotation> {
  const [first] = keys
  if (!first)
    throw new Fault('invalid_request', 'Set ENVIRONMENT_KEYS: its first key is the one to seal with.')
  let resealed = 0
  let unreadable = 0
  for (const keyId of await findKeysInUse(db)) {
    if (keyId === first.id) continue
    let after = lowestId
    while (true) {
      const batch = await resealBatch(db, { keys, first, keyId, after })
      resealed += batch.resealed
      unreadable += batch.unreadable
      if (batch.last === null) break
      after = batch.last
    }
  }
  return { resealed, unreadable, keysInUse: await findKeysInUse(db) }
}

interface Batch {
  readonly keys: EnvironmentKeys
  readonly first: EnvironmentKey
  readonly keyId: string
  readonly after: string
}

async function resealBatch(db: Db, { keys, first, keyId, after }: Batch) {
  const { rows } = await selectVariablesOfKey(db, { key_id: keyId, after, limit: limits.rotationBatchRows })
  const anew = rows.flatMap((row) => {
    const value = openValueOrNull(keys, row)
    return value === null ? [] : [{ id: row.id, sealed_value: sealValue(first, row, value).sealed_value }]
  })
  const { rows: done } = await resealVariables(db, {
    old_key_id: keyId,
    new_key_id: first.id,
    ids: anew.map(({ id }) => id),
    sealed_values: anew.map(({ sealed_value }) => sealed_value),
  })
  const last = rows.length === limits.rotationBatchRows ? (rows.at(-1)?.id ?? null) : null
  return { resealed: done.length, unreadable: rows.length - anew.length, last }
}

async function findKeysInUse(db: Db): Promise<readonly string[]> {
  const found: string[] = []
  while (true) {
    const [next] = (await selectNextKeyInUse(db, { after: found.at(-1) ?? '' })).rows
    if (!next) return found
    found.push(next.key_id)
  }
}

import { sql } from 'kysely'
import { type Db, statement } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'
import { openWithKeysOrNull, type Sealed, sealWithKey } from './seal-with-key.ts'

/** Every write of a sealed value gives its row another id. */
export interface SealedRow extends Sealed {
  readonly id: string
}

export interface ResealBatch {
  readonly keys: EnvironmentKeys
  readonly first: EnvironmentKey
  /** What is sealed with this one, from the row after this one on, is sealed with the first. */
  readonly keyId: string
  readonly after: string
}

export interface Resealed {
  readonly resealed: number
  readonly unreadable: number
  /** Where the next batch begins; null after the last. */
  readonly last: string | null
}

export interface SealedTable {
  findKeysInUse(db: Db): Promise<readonly string[]>
  resealBatch(db: Db, batch: ResealBatch): Promise<Resealed>
}

interface TablePlan<Row> {
  readonly table: string
  /** What the purpose is made of. */
  readonly columns: readonly (keyof Row & string)[]
  readonly purposeOf: (row: Row) => string
}

/** A table with values that are sealed with ENVIRONMENT_KEYS: what a change of keys has to know of it. */
export function sealedTable<Row extends SealedRow>({
  table,
  columns,
  purposeOf,
}: TablePlan<Row>): SealedTable {
  const { selectNextKeyInUse, selectOfKey, reseal } = writeStatements<Row>(table, columns)
  return {
    async findKeysInUse(db) {
      const found: string[] = []
      while (true) {
        const [next] = (await selectNextKeyInUse(db, { after: found.at(-1) ?? '' })).rows
        if (!next) return found
        found.push(next.key_id)
      }
    },
    async resealBatch(db, { keys, first, keyId, after }) {
      const { rows } = await selectOfKey(db, { key_id: keyId, after, limit: limits.rotationBatchRows })
      const anew = rows.flatMap((row) => {
        const text = openWithKeysOrNull(keys, purposeOf(row), row)
        return text === null ? [] : [{ id: row.id, ...sealWithKey(first, purposeOf(row), text) }]
      })
      const { rows: done } = await reseal(db, {
        old_key_id: keyId,
        new_key_id: first.id,
        ids: anew.map(({ id }) => id),
        sealed_values: anew.map(({ sealed_value }) => sealed_value),
      })
      const last = rows.length === limits.rotationBatchRows ? (rows.at(-1)?.id ?? null) : null
      return { resealed: done.length, unreadable: rows.length - anew.length, last }
    },
  }
}

interface ResealArgs {
  old_key_id: string
  new_key_id: string
  ids: string[]
  sealed_values: Buffer[]
}

function writeStatements<Row extends SealedRow>(table: string, columns: readonly string[]) {
  return {
    /** The next key after this one that anything is sealed with. One step along the index, however many rows there are. */
    selectNextKeyInUse: statement<{ after: string }, { key_id: string }>(
      (arg) => sql<{ key_id: string }>`
        SELECT key_id FROM ${sql.table(table)} WHERE key_id > ${arg('after')} ORDER BY key_id LIMIT 1`,
    ),
    selectOfKey: statement<{ key_id: string; after: string; limit: number }, Row>(
      (arg) => sql<Row>`
        SELECT ${sql.join(columns.map((column) => sql.ref(column)))}, id, key_id, sealed_value
        FROM ${sql.table(table)}
        WHERE key_id = ${arg('key_id')} AND id > ${arg('after')} ORDER BY id LIMIT ${arg('limit')}`,
    ),
    /** Every write changes the id, so that a value that was set meanwhile is not overwritten with the one before it. */
    reseal: statement<ResealArgs, { id: string }>(
      (arg) => sql<{ id: string }>`
        UPDATE ${sql.table(table)} v SET key_id = ${arg('new_key_id')}, sealed_value = anew.sealed_value
        FROM unnest(${arg('ids')}::uuid[], ${arg('sealed_values')}::bytea[]) AS anew (id, sealed_value)
        WHERE v.key_id = ${arg('old_key_id')} AND v.id = anew.id
        RETURNING v.id`,
    ),
  }
}

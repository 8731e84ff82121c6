import { sql } from 'kysely'
import { statement } from '../database/statement.ts'
import { sealBytes } from '../seal.ts'
import type { SealedVariable, VariablePlace } from './seal-value.ts'

interface HolderArgs {
  owner_id: string
  holder_id: string
}

export interface VariableRow {
  readonly name: string
  readonly id: string
}

export const selectVariables = statement<HolderArgs & { limit: number }, VariableRow>(
  (arg) => sql<VariableRow>`
    SELECT name, id FROM variables WHERE owner_id = ${arg('owner_id')} AND holder_id = ${arg('holder_id')}
    ORDER BY name COLLATE "C" LIMIT ${arg('limit')}`,
)

export interface Totals {
  readonly variables: number
  readonly bytes: number
}

/** What the holder has besides the variable of this name. */
export const selectTotalsOfOthers = statement<HolderArgs & { name: string }, Totals>(
  (arg) => sql<Totals>`
    SELECT count(*)::integer AS variables,
      coalesce(sum(octet_length(sealed_value) - ${sql.lit(sealBytes)}), 0)::integer AS bytes
    FROM variables
    WHERE owner_id = ${arg('owner_id')} AND holder_id = ${arg('holder_id')} AND name <> ${arg('name')}`,
)

export const upsertVariable = statement<SealedVariable & { id: string }, never>(
  (arg) => sql<never>`
    INSERT INTO variables (owner_id, holder_id, name, id, key_id, sealed_value)
    VALUES (${arg('owner_id')}, ${arg('holder_id')}, ${arg('name')}, ${arg('id')}, ${arg('key_id')},
      ${arg('sealed_value')})
    ON CONFLICT (owner_id, holder_id, name) DO UPDATE SET
      id = excluded.id, key_id = excluded.key_id, sealed_value = excluded.sealed_value`,
)

export const deleteVariable = statement<VariablePlace, { name: string }>(
  (arg) => sql<{ name: string }>`
    DELETE FROM variables
    WHERE owner_id = ${arg('owner_id')} AND holder_id = ${arg('holder_id')} AND name = ${arg('name')}
    RETURNING name`,
)

import { sql } from 'kysely'
import { listStatement } from '../database/list-statement.ts'
import { statement } from '../database/statement.ts'

export interface VersionRow {
  readonly version: number
  readonly created_at: Date
}

interface OfVal {
  owner_id: string
  val_id: string
}

export const selectVersions = listStatement<OfVal, VersionRow, number>(
  (arg, span) => sql<VersionRow>`
    SELECT version, created_at FROM versions
    WHERE owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')} AND ${span.within(sql.ref('version'))}
    ORDER BY version ${span.order} ${span.extent}`,
)

export const deleteVersionRow = statement<OfVal & { version: number }, { version: number }>(
  (arg) => sql<{ version: number }>`
    WITH gone AS (
      DELETE FROM versions
      WHERE owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')} AND version = ${arg('version')}
      RETURNING version, code_hash
    ), released AS (INSERT INTO released_codes (hash) SELECT code_hash FROM gone
      ON CONFLICT (hash) DO UPDATE SET released_at = now())
    SELECT version FROM gone`,
)

/** Makes the newest remaining version the current one; returns no row when none remains. */
export const makeNewestCurrent = statement<OfVal & { now: Date }, { id: string }>(
  (arg) => sql<{ id: string }>`
    WITH newest AS (
      SELECT n.version, n.code_hash, n.created_at, c.code FROM versions n JOIN codes c ON c.hash = n.code_hash
      WHERE n.owner_id = ${arg('owner_id')} AND n.val_id = ${arg('val_id')}
      ORDER BY n.version DESC LIMIT 1
    ), v AS (
      UPDATE vals v SET version = newest.version, code_hash = newest.code_hash,
        version_created_at = newest.created_at,
        updated_at = greatest(${arg('now')}::timestamptz, v.updated_at + interval '1 millisecond')
      FROM newest WHERE v.id = ${arg('val_id')}
      RETURNING v.id, v.name, v.readme
    )
    UPDATE documents d SET words = document_words(v.name, v.readme, newest.code)
    FROM v, newest WHERE d.val_id = v.id RETURNING v.id`,
)

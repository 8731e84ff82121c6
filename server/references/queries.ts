import { sql } from 'kysely'
import { listStatement } from '../database/list-statement.ts'

export interface ReferenceRow {
  readonly id: string
  readonly val_id: string
  readonly val_name: string
  readonly val_owner_id: string
  readonly val_username: string
  readonly depends_on_id: string
  readonly depends_on_name: string
}

/** References to the owner's vals. A private importer is shown only to its own owner. */
export const selectReferencesTo = listStatement<{ owner_id: string }, ReferenceRow>(
  (arg, span) => sql<ReferenceRow>`
    SELECT f.id, v.id AS val_id, v.name AS val_name, v.owner_id AS val_owner_id, u.username AS val_username,
      d.id AS depends_on_id, d.name AS depends_on_name
    FROM val_references f JOIN vals v ON v.id = f.val_id JOIN users u ON u.id = v.owner_id
      JOIN vals d ON d.id = f.depends_on_id
    WHERE f.depends_on_owner_id = ${arg('owner_id')} AND ${span.within(sql.ref('f.id'))}
      AND (v.privacy <> 'private' OR v.owner_id = ${arg('owner_id')})
    ORDER BY f.id ${span.order} ${span.extent}`,
)

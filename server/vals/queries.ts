import { type RawBuilder, sql } from 'kysely'
import type { Privacy, ValType } from '@valley/contract/vals.ts'
import { listStatement } from '../database/list-statement.ts'
import { statement } from '../database/statement.ts'
import { codeWithinPage, type ListedVal } from './page-of-vals.ts'
import type { SavedVal, ValRow } from './val-row.ts'

const basicColumns = sql`v.id, v.owner_id, v.name, v.privacy, v.type, v.version, v.version_created_at, v.updated_at`
const savedColumns = sql`${basicColumns}, v.readme, v.like_count, v.reference_count`

export const selectVal = statement<{ id: string }, ValRow>(
  (arg) => sql<ValRow>`
    SELECT ${savedColumns}, u.username, c.code
    FROM vals v JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = v.code_hash
    WHERE v.id = ${arg('id')}`,
)

export const selectValByName = statement<{ username: string; name: string }, ValRow>(
  (arg) => sql<ValRow>`
    SELECT ${savedColumns}, u.username, c.code
    FROM users u JOIN vals v ON v.owner_id = u.id JOIN codes c ON c.hash = v.code_hash
    WHERE u.username = ${arg('username')} AND lower(v.name) = lower(${arg('name')})`,
)

export const selectOwnValByName = statement<{ owner_id: string; name: string }, ValRow>(
  (arg) => sql<ValRow>`
    SELECT ${savedColumns}, u.username, c.code
    FROM vals v JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = v.code_hash
    WHERE v.owner_id = ${arg('owner_id')} AND lower(v.name) = lower(${arg('name')})`,
)

export const selectValAtVersion = statement<{ id: string; version: number }, ValRow>(
  (arg) => sql<ValRow>`
    SELECT v.id, v.owner_id, v.name, v.privacy, v.type, v.updated_at, v.readme, v.like_count, v.reference_count,
      n.version, n.created_at AS version_created_at, u.username, c.code
    FROM vals v
      JOIN versions n ON n.owner_id = v.owner_id AND n.val_id = v.id
      JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = n.code_hash
    WHERE v.id = ${arg('id')} AND n.version = ${arg('version')}`,
)

/** Holds the val still until the transaction ends. */
export const selectValForUpdate = statement<
  { id: string; owner_id: string },
  { version: number; updated_at: Date }
>(
  (arg) => sql<{ version: number; updated_at: Date }>`
    SELECT version, updated_at FROM vals
    WHERE id = ${arg('id')} AND owner_id = ${arg('owner_id')} FOR UPDATE`,
)

function listVals(filter: RawBuilder<unknown>) {
  return listStatement<{ owner_id: string }, ListedVal>(
    (arg, span) => sql<ListedVal>`
      SELECT ${basicColumns}, u.username, ${codeWithinPage(sql`v.id ${span.order}`)}
      FROM (
        SELECT * FROM vals
        WHERE owner_id = ${arg('owner_id')} AND ${filter} AND ${span.within(sql.ref('id'))}
        ORDER BY id ${span.order} ${span.extent}
      ) v JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = v.code_hash
      ORDER BY v.id ${span.order}`,
  )
}

export const selectValsOfOwner = listVals(sql`true`)
export const selectPublicValsOfOwner = listVals(sql`privacy = 'public'`)

export interface NewValArgs {
  id: string
  owner_id: string
  name: string
  code: string
  code_hash: Buffer
  privacy: Privacy | null
  type: ValType | null
  sets_readme: boolean
  readme: string | null
  now: Date
}

type Arg<Args> = <Name extends keyof Args>(name: Name) => Args[Name]

/** One statement saves everything a new version consists of; what differs is what happens to a name in use. */
function insertStatement(onConflict: (arg: Arg<NewValArgs>) => RawBuilder<unknown>) {
  return statement<NewValArgs, SavedVal>(
    (arg) => sql<SavedVal>`
      WITH code AS (
        INSERT INTO codes (hash, code) VALUES (${arg('code_hash')}, ${arg('code')}) ON CONFLICT DO NOTHING
      ), v AS (
        INSERT INTO vals AS v (id, owner_id, name, privacy, type, readme,
          version, last_version, code_hash, version_created_at, updated_at)
        VALUES (${arg('id')}, ${arg('owner_id')}, ${arg('name')},
          coalesce(${arg('privacy')}::val_privacy, 'public'), coalesce(${arg('type')}::val_type, 'script'),
          ${arg('readme')}, 1, 1, ${arg('code_hash')}, ${arg('now')}, ${arg('now')})
        ON CONFLICT (owner_id, lower(name)) ${onConflict(arg)}
        RETURNING *
      ), ${saveVersionAndDocument(arg)}
      SELECT ${savedColumns} FROM v`,
  )
}

/** Returns no row when the name is in use. */
export const insertVal = insertStatement(() => sql`DO NOTHING`)

/** Returns no row when the val of this name has all of it already. A returned row with another id was updated. */
export const upsertVal = insertStatement(
  (arg) => sql`DO UPDATE SET
    privacy = coalesce(${arg('privacy')}::val_privacy, v.privacy),
    type = coalesce(${arg('type')}::val_type, v.type),
    readme = CASE WHEN ${arg('sets_readme')}::boolean THEN excluded.readme ELSE v.readme END,
    ${setCode(sql`excluded.code_hash`, sql`excluded.updated_at`)}
  WHERE v.code_hash <> excluded.code_hash
    OR v.privacy <> ${arg('privacy')}::val_privacy
    OR v.type <> ${arg('type')}::val_type
    OR (${arg('sets_readme')}::boolean AND v.readme IS DISTINCT FROM excluded.readme)`,
)

export interface ValChangeArgs extends Omit<NewValArgs, 'name' | 'code' | 'code_hash'> {
  name: string | null
  code: string | null
  code_hash: Buffer | null
  /** The state that If-Match asks for; null for any. */
  if_version: number | null
  if_updated_at: Date | null
}

/** Returns no row when the val is not the owner's, is not in the state asked for, or has all of it already. */
export const updateVal = statement<ValChangeArgs, SavedVal>(
  (arg) => sql<SavedVal>`
    WITH code AS (
      INSERT INTO codes (hash, code) SELECT ${arg('code_hash')}, ${arg('code')}
      WHERE ${arg('code')}::text IS NOT NULL ON CONFLICT DO NOTHING
    ), v AS (
      UPDATE vals v SET
        name = coalesce(${arg('name')}, v.name),
        privacy = coalesce(${arg('privacy')}::val_privacy, v.privacy),
        type = coalesce(${arg('type')}::val_type, v.type),
        readme = CASE WHEN ${arg('sets_readme')}::boolean THEN ${arg('readme')} ELSE v.readme END,
        ${setCode(sql`coalesce(${arg('code_hash')}::bytea, v.code_hash)`, sql`${arg('now')}::timestamptz`)}
      WHERE v.id = ${arg('id')} AND v.owner_id = ${arg('owner_id')}
        AND (${arg('if_version')}::integer IS NULL
          OR (v.version = ${arg('if_version')}::integer AND v.updated_at = ${arg('if_updated_at')}::timestamptz))
        AND (v.code_hash <> ${arg('code_hash')}::bytea
          OR v.name <> ${arg('name')}
          OR v.privacy <> ${arg('privacy')}::val_privacy
          OR v.type <> ${arg('type')}::val_type
          OR (${arg('sets_readme')}::boolean AND v.readme IS DISTINCT FROM ${arg('readme')}))
      RETURNING *
    ), ${saveVersionAndDocument(arg)}
    SELECT ${savedColumns} FROM v`,
)

/** New code takes the next number. A change is later than the one before it even when the clock steps back. */
function setCode(hash: RawBuilder<unknown>, now: RawBuilder<unknown>) {
  const changes = sql`v.code_hash <> ${hash}`
  const moment = sql`greatest(${now}, v.updated_at + interval '1 millisecond')`
  return sql`
    version = CASE WHEN ${changes} THEN v.last_version + 1 ELSE v.version END,
    last_version = CASE WHEN ${changes} THEN v.last_version + 1 ELSE v.last_version END,
    version_created_at = CASE WHEN ${changes} THEN ${moment} ELSE v.version_created_at END,
    code_hash = ${hash},
    updated_at = ${moment}`
}

function saveVersionAndDocument(arg: (name: 'code') => unknown) {
  return sql`
    version AS (
      INSERT INTO versions (owner_id, val_id, version, code_hash, created_at)
      SELECT owner_id, id, version, code_hash, version_created_at FROM v ON CONFLICT DO NOTHING
    ), document AS (
      INSERT INTO documents (val_id, owner_id, is_public, name, words)
      SELECT v.id, v.owner_id, v.privacy = 'public', v.name, document_words(v.name, v.readme,
        coalesce(${arg('code')}::text, (SELECT c.code FROM codes c WHERE c.hash = v.code_hash))) FROM v
      ON CONFLICT (val_id) DO UPDATE SET
        is_public = excluded.is_public, name = excluded.name, words = excluded.words
    )`
}

interface DeleteArgs {
  id: string
  owner_id: string
  if_version: number | null
  if_updated_at: Date | null
}

/** With its row the val is gone from every list; what hung on it is purged later, in batches. */
export const deleteValRow = statement<DeleteArgs, { val_id: string }>(
  (arg) => sql<{ val_id: string }>`
    WITH v AS (
      DELETE FROM vals v WHERE v.id = ${arg('id')} AND v.owner_id = ${arg('owner_id')}
        AND (${arg('if_version')}::integer IS NULL
          OR (v.version = ${arg('if_version')}::integer AND v.updated_at = ${arg('if_updated_at')}::timestamptz))
      RETURNING id, owner_id
    ), document AS (DELETE FROM documents WHERE val_id IN (SELECT id FROM v))
    INSERT INTO deleted_vals (val_id, owner_id) SELECT id, owner_id FROM v RETURNING val_id`,
)

/** For a save that stored its text and then had nothing to save. */
export const releaseCode = statement<{ code_hash: Buffer }, never>(
  (arg) => sql<never>`INSERT INTO released_codes (hash) VALUES (${arg('code_hash')})
      ON CONFLICT (hash) DO UPDATE SET released_at = now()`,
)

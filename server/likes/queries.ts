import { sql } from 'kysely'
import { listStatement } from '../database/list-statement.ts'
import { statement } from '../database/statement.ts'
import { codeWithinPage, type ListedVal } from '../vals/page-of-vals.ts'

interface LikeArgs {
  user_id: string
  val_id: string
}

/** Locks the val's row first, so that parallel likes count one after the other and none joins a deleted val. */
export const insertLike = statement<LikeArgs & { id: string }, never>(
  (arg) => sql<never>`
    WITH v AS (SELECT id FROM vals WHERE id = ${arg('val_id')} FOR NO KEY UPDATE),
    added AS (
      INSERT INTO likes (user_id, val_id, id) SELECT ${arg('user_id')}, v.id, ${arg('id')} FROM v
      ON CONFLICT DO NOTHING RETURNING val_id
    )
    UPDATE vals SET like_count = like_count + 1 WHERE id = (SELECT val_id FROM added)`,
)

export const deleteLike = statement<LikeArgs, { val_id: string }>(
  (arg) => sql<{ val_id: string }>`
    WITH v AS (SELECT id FROM vals WHERE id = ${arg('val_id')} FOR NO KEY UPDATE),
    removed AS (
      DELETE FROM likes USING v WHERE likes.user_id = ${arg('user_id')} AND likes.val_id = v.id
      RETURNING likes.val_id
    ),
    counted AS (UPDATE vals SET like_count = like_count - 1 WHERE id = (SELECT val_id FROM removed))
    SELECT val_id FROM removed`,
)

export type LikedVal = ListedVal & { readonly like_id: string }

/** A val that turned private since is left out, unless it is the user's own. */
export const selectLikedVals = listStatement<{ user_id: string }, LikedVal>(
  (arg, span) => sql<LikedVal>`
    SELECT v.like_id, v.id, v.owner_id, v.name, v.privacy, v.type, v.version, v.version_created_at,
      v.updated_at, u.username, ${codeWithinPage(sql`v.like_id ${span.order}`)}
    FROM (
      SELECT v.*, l.id AS like_id FROM likes l JOIN vals v ON v.id = l.val_id
      WHERE l.user_id = ${arg('user_id')} AND ${span.within(sql.ref('l.id'))}
        AND (v.privacy <> 'private' OR v.owner_id = ${arg('user_id')})
      ORDER BY l.id ${span.order} ${span.extent}
    ) v JOIN users u ON u.id = v.owner_id JOIN codes c ON c.hash = v.code_hash
    ORDER BY v.like_id ${span.order}`,
)

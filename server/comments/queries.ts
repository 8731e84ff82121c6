import { type RawBuilder, sql } from 'kysely'
import { listStatement, type SpanSql } from '../database/list-statement.ts'
import { statement } from '../database/statement.ts'
import type { MentionRow } from '../vals/val-row.ts'

export interface CommentRow extends MentionRow {
  readonly id: string
  readonly author_id: string
  readonly author_username: string
  readonly comment: string
  readonly updated_at: Date
}

const columns = sql`c.id, c.comment, c.updated_at, a.id AS author_id, a.username AS author_username,
  v.id AS val_id, v.name AS val_name, v.privacy AS val_privacy, v.version AS val_version,
  v.owner_id AS val_owner_id, o.username AS val_username`
const joins = sql`
  JOIN users a ON a.id = c.author_id JOIN vals v ON v.id = c.val_id JOIN users o ON o.id = v.owner_id`

export const selectComment = statement<{ id: string }, CommentRow>(
  (arg) => sql<CommentRow>`SELECT ${columns} FROM comments c ${joins} WHERE c.id = ${arg('id')}`,
)

export const selectCommentsOfVal = listStatement<{ val_id: string }, CommentRow>(
  (arg, span) => sql<CommentRow>`
    SELECT ${columns} FROM comments c ${joins}
    WHERE c.val_id = ${arg('val_id')} AND ${span.within(sql.ref('c.id'))}
    ORDER BY c.id ${span.order} ${span.extent}`,
)

type Arg<Args> = <Name extends keyof Args>(name: Name) => Args[Name]
interface ByUser {
  user_id: string
}

const given = (arg: Arg<ByUser>) => sql`c.author_id = ${arg('user_id')}`
const received = (arg: Arg<ByUser>) =>
  sql`c.val_owner_id = ${arg('user_id')} AND c.author_id <> c.val_owner_id`

/** A comment on a val that has turned private since is shown to the val's owner only. */
function visible(arg: Arg<ByUser>, span: SpanSql, which: RawBuilder<unknown>) {
  return sql`
    SELECT ${columns} FROM comments c ${joins}
    WHERE ${which} AND ${span.within(sql.ref('c.id'))}
      AND (v.privacy <> 'private' OR v.owner_id = ${arg('user_id')})`
}

export const selectCommentsGiven = listStatement<ByUser, CommentRow>(
  (arg, span) =>
    sql<CommentRow>`${visible(arg, span, given(arg))} ORDER BY c.id ${span.order} ${span.extent}`,
)

export const selectCommentsReceived = listStatement<ByUser, CommentRow>(
  (arg, span) =>
    sql<CommentRow>`${visible(arg, span, received(arg))} ORDER BY c.id ${span.order} ${span.extent}`,
)

/** The two lists merged: each comes in order from its own index, so nothing is sorted. */
export const selectCommentsAny = listStatement<ByUser, CommentRow>(
  (arg, span) => sql<CommentRow>`
    SELECT * FROM (
      (${visible(arg, span, given(arg))} ORDER BY c.id ${span.order} ${span.reach})
      UNION ALL
      (${visible(arg, span, received(arg))} ORDER BY c.id ${span.order} ${span.reach})
    ) either ORDER BY id ${span.order} ${span.extent}`,
)

interface NewCommentArgs {
  id: string
  author_id: string
  val_id: string
  comment: string
  now: Date
}

/** Locks the val's row, so that no comment joins a deleted val. Returns no row when the val is gone. */
export const insertComment = statement<NewCommentArgs, { id: string }>(
  (arg) => sql<{ id: string }>`
    WITH v AS (SELECT id, owner_id FROM vals WHERE id = ${arg('val_id')} FOR KEY SHARE)
    INSERT INTO comments (id, author_id, val_id, val_owner_id, comment, updated_at)
    SELECT ${arg('id')}, ${arg('author_id')}, v.id, v.owner_id, ${arg('comment')}, ${arg('now')} FROM v
    RETURNING id`,
)

export const updateCommentText = statement<{ id: string; comment: string; now: Date }, never>(
  (arg) => sql<never>`
    UPDATE comments SET comment = ${arg('comment')}, updated_at = ${arg('now')} WHERE id = ${arg('id')}`,
)

export const deleteCommentRow = statement<{ id: string }, never>(
  (arg) => sql<never>`DELETE FROM comments WHERE id = ${arg('id')}`,
)

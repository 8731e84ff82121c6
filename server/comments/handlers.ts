import type { Comment } from '@valley/contract/comments.ts'
import type { Caller } from '../caller.ts'
import { newId, timeOf } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { idSpan, pageOf } from '../page.ts'
import { type Handler, Reply } from '../reply.ts'
import { findReadableVal } from '../vals/find-val.ts'
import { presentMention } from '../vals/present-val.ts'
import * as queries from './queries.ts'

const listsByRelationship = {
  any: queries.selectCommentsAny,
  given: queries.selectCommentsGiven,
  received: queries.selectCommentsReceived,
} as const

export const listMyComments: Handler<'listMyComments'> = async ({ db, baseUrl }, caller, request) => {
  const span = idSpan(request)
  const rows = await listsByRelationship[request.query.relationship](db, { user_id: caller.id }, span)
  return pageOf(baseUrl, request, { span, rows, keyOf: ({ id }) => id, present: presentComment })
}

export const listComments: Handler<'listComments'> = async ({ db, baseUrl }, caller, request) => {
  const val = await findReadableVal(db, caller, request.params.val_id)
  const span = idSpan(request)
  const rows = await queries.selectCommentsOfVal(db, { val_id: val.id }, span)
  return pageOf(baseUrl, request, { span, rows, keyOf: ({ id }) => id, present: presentComment })
}

export const createComment: Handler<'createComment'> = async ({ db }, caller, { params, body }) => {
  const val = await findReadableVal(db, caller, params.val_id)
  const id = newId()
  await queries.insertComment(db, {
    id,
    author_id: caller.id,
    val_id: val.id,
    comment: body.comment,
    now: timeOf(id),
  })
  return new Reply(201, presentComment(await findComment(db, id)))
}

export const updateComment: Handler<'updateComment'> = async ({ db }, caller, { params, body }) => {
  const comment = await findReadableComment(db, caller, params.comment_id)
  if (comment.author_id !== caller.id) throw new Fault('forbidden', 'Only its author may change a comment.')
  await queries.updateCommentText(db, { id: comment.id, comment: body.comment, now: new Date() })
  return presentComment(await findComment(db, comment.id))
}

/** Authors may take back what they wrote also where the val has turned private since. */
export const deleteComment: Handler<'deleteComment'> = async ({ db }, caller, { params }) => {
  const comment = await findComment(db, params.comment_id)
  if (comment.author_id !== caller.id) await requireValOwner(db, caller, comment)
  await queries.deleteCommentRow(db, { id: comment.id })
}

async function requireValOwner(db: Db, caller: Caller, comment: queries.CommentRow) {
  await findReadableComment(db, caller, comment.id)
  if (comment.val_owner_id === caller.id) return
  throw new Fault('forbidden', "Only the comment's author and the val's owner may delete it.")
}

async function findReadableComment(db: Db, caller: Caller, id: string): Promise<queries.CommentRow> {
  const comment = await findComment(db, id)
  if (comment.val_privacy === 'private' && comment.val_owner_id !== caller.id) throw missing()
  return comment
}

async function findComment(db: Db, id: string): Promise<queries.CommentRow> {
  const [comment] = (await queries.selectComment(db, { id })).rows
  if (!comment) throw missing()
  return comment
}

function missing() {
  return new Fault('not_found', 'There is no such comment, or you may not see it.')
}

function presentComment(row: queries.CommentRow): Comment {
  return {
    id: row.id,
    author: { id: row.author_id, username: row.author_username },
    comment: row.comment,
    createdAt: timeOf(row.id).toISOString(),
    updatedAt: row.updated_at.toISOString(),
    val: presentMention(row),
  }
}

import { newId } from '../database/ids.ts'
import { idSpan } from '../page.ts'
import type { Handler } from '../reply.ts'
import { findReadableVal } from '../vals/find-val.ts'
import { pageOfVals } from '../vals/page-of-vals.ts'
import { deleteLike, insertLike, selectLikedVals } from './queries.ts'

export const likeVal: Handler<'likeVal'> = async ({ db }, caller, { params }) => {
  const { id } = await findReadableVal(db, caller, params.val_id)
  await insertLike(db, { user_id: caller.id, val_id: id, id: newId() })
}

/** A like can be taken back also from a val that has turned private since. */
export const unlikeVal: Handler<'unlikeVal'> = async ({ db }, caller, { params }) => {
  const { rows } = await deleteLike(db, { user_id: caller.id, val_id: params.val_id })
  if (rows.length === 0) await findReadableVal(db, caller, params.val_id)
}

export const listMyLikes: Handler<'listMyLikes'> = async (context, caller, request) => {
  const span = idSpan(request)
  const rows = await selectLikedVals(context.db, { user_id: caller.id }, span)
  return pageOfVals(context, request, { span, rows, keyOf: ({ like_id }) => like_id })
}

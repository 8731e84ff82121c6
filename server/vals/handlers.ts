import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import { idSpan } from '../page.ts'
import { type Handler, Reply } from '../reply.ts'
import { findUser } from '../users/find-user.ts'
import {
  findOwnVal,
  findReadableVal,
  findReadableValAtVersion,
  findReadableValByName,
  lockOwnValOrNull,
} from './find-val.ts'
import { pageOfVals } from './page-of-vals.ts'
import { presentVal } from './present-val.ts'
import { deleteValRow, selectPublicValsOfOwner, selectValsOfOwner } from './queries.ts'
import * as save from './save-val.ts'

export const createVal: Handler<'createVal'> = async (context, caller, { body, query }) => {
  const row = await save.createVal(context, caller, { ...query, ...body })
  const val = presentVal(row, context)
  return new Reply(201, val, val.links.self)
}

export const putVal: Handler<'putVal'> = async (context, caller, { body, ifMatch }) => {
  const { row, outcome } = await save.putVal(context, caller, { fields: body, ifMatch })
  const val = presentVal(row, context)
  return outcome === 'created' ? new Reply(201, val, val.links.self) : new Reply(200, val)
}

export const getVal: Handler<'getVal'> = async (context, caller, { params }) => {
  return presentVal(await findReadableVal(context.db, caller, params.val_id), context)
}

export const getValByName: Handler<'getValByName'> = async (context, caller, { params }) => {
  const { username, val_name: name } = params
  return presentVal(await findReadableValByName(context.db, caller, { username, name }), context)
}

export const getModule: Handler<'getModule'> = async ({ db }, caller, { params, query }) => {
  const { version } = query
  const { code } =
    version === undefined
      ? await findReadableVal(db, caller, params.val_id)
      : await findReadableValAtVersion(db, caller, { id: params.val_id, version })
  return code
}

export const updateVal: Handler<'updateVal'> = async (context, caller, { params, body, ifMatch }) => {
  // Locked first: the search document is written anew from the code of a save that may be under way right now, which
  // a statement that began before its end would not see.
  await inTransaction(context, async (locked) => {
    await lockOwnValOrNull(locked.db, caller, params.val_id)
    await save.changeVal(locked, caller, { id: params.val_id, fields: body, ifMatch })
  })
}

export const deleteVal: Handler<'deleteVal'> = async (context, caller, { params, ifMatch }) => {
  const val = await findOwnVal(context.db, caller, params.val_id)
  const state = save.requireMatch(ifMatch, val)
  const { rows } = await deleteValRow(context.db, { id: val.id, owner_id: caller.id, ...state })
  if (rows.length === 0) {
    if (state.if_version !== null) throw save.stale()
    throw new Fault('not_found', 'There is no such val any more.')
  }
  save.announce(context, val)
}

export const listMyVals: Handler<'listMyVals'> = async (context, caller, request) => {
  const span = idSpan(request)
  const rows = await selectValsOfOwner(context.db, { owner_id: caller.id }, span)
  return pageOfVals(context, request, { span, rows, keyOf: (row) => row.id })
}

export const listUserVals: Handler<'listUserVals'> = async (context, caller, request) => {
  const { id } = await findUser(context.db, request.params.user_id)
  const span = idSpan(request)
  const select = id === caller.id ? selectValsOfOwner : selectPublicValsOfOwner
  const rows = await select(context.db, { owner_id: id }, span)
  return pageOfVals(context, request, { span, rows, keyOf: (row) => row.id })
}

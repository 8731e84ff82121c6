import type { Variable } from '@valley/contract/env.ts'
import { limits } from '@valley/contract/limits.ts'
import type { Context } from '../context.ts'
import { timeOf } from '../database/ids.ts'
import type { Handler } from '../reply.ts'
import { lockUser } from '../users/find-user.ts'
import { findOwnValOrHide, lockOwnValOrHide } from '../vals/find-val.ts'
import { announce } from '../vals/save-val.ts'
import { deleteVariable, selectVariables, type VariableRow } from './queries.ts'
import { setVariable } from './set-variable.ts'

export const listMyVariables: Handler<'listMyVariables'> = async (context, { id }, request) => {
  return listVariables(context, { owner_id: id, holder_id: id }, request)
}

export const setMyVariable: Handler<'setMyVariable'> = async (context, { id }, { params, body }) => {
  await setVariable(context, {
    place: { owner_id: id, holder_id: id, name: params.name },
    value: body.value,
    lockHolder: async (db) => lockUser(db, id),
  })
  announceOwn(context, id)
}

export const deleteMyVariable: Handler<'deleteMyVariable'> = async (context, { id }, { params }) => {
  const { rows } = await deleteVariable(context.db, { owner_id: id, holder_id: id, name: params.name })
  if (rows.length > 0) announceOwn(context, id)
}

export const listValVariables: Handler<'listValVariables'> = async (context, caller, request) => {
  const { id, owner_id } = await findOwnValOrHide(context.db, caller, request.params.val_id)
  return listVariables(context, { owner_id, holder_id: id }, request)
}

export const setValVariable: Handler<'setValVariable'> = async (context, caller, { params, body }) => {
  const { val_id: id, name } = params
  await setVariable(context, {
    place: { owner_id: caller.id, holder_id: id, name },
    value: body.value,
    lockHolder: async (db) => lockOwnValOrHide(db, caller, id),
  })
  announce(context, { id })
}

export const deleteValVariable: Handler<'deleteValVariable'> = async (context, caller, { params }) => {
  const { id, owner_id } = await findOwnValOrHide(context.db, caller, params.val_id)
  const { rows } = await deleteVariable(context.db, { owner_id, holder_id: id, name: params.name })
  if (rows.length > 0) announce(context, { id })
}

async function listVariables(
  { db, baseUrl }: Context,
  holder: { readonly owner_id: string; readonly holder_id: string },
  { target }: { readonly target: string },
) {
  const { rows } = await selectVariables(db, { ...holder, limit: limits.variablesMax })
  return { data: rows.map(presentVariable), links: { self: new URL(baseUrl + target).href } }
}

function presentVariable({ name, id }: VariableRow): Variable {
  return { name, updatedAt: timeOf(id).toISOString() }
}

/** One message for all of the user's vals, of which there may be many. */
function announceOwn({ bus, afterCommit }: Context, userId: string) {
  afterCommit(() => bus.publish('environmentChanged', { userId }))
}

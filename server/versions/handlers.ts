import { limits } from '@valley/contract/limits.ts'
import type { Caller } from '../caller.ts'
import type { Db } from '../database/statement.ts'
import { type IfMatch, matches } from '../etag.ts'
import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import { numberSpan, pageOf } from '../page.ts'
import { type Handler, Reply } from '../reply.ts'
import { findOwnVal, findReadableVal, findReadableValAtVersion, lockOwnValOrNull } from '../vals/find-val.ts'
import { presentVal } from '../vals/present-val.ts'
import { announce, changeVal, stale } from '../vals/save-val.ts'
import { deleteVersionRow, makeNewestCurrent, selectVersions } from './queries.ts'

export const listVersions: Handler<'listVersions'> = async ({ db, baseUrl }, caller, request) => {
  const val = await findReadableVal(db, caller, request.params.val_id)
  const span = numberSpan(request, { above: 0, below: limits.versionMax })
  const rows = await selectVersions(db, { owner_id: val.owner_id, val_id: val.id }, span)
  return pageOf(baseUrl, request, {
    span,
    rows,
    keyOf: ({ version }) => version,
    present: ({ version, created_at }) => ({
      val_id: val.id,
      version,
      createdAt: created_at.toISOString(),
      author: { id: val.owner_id, username: val.username },
    }),
  })
}

export const createVersion: Handler<'createVersion'> = async (
  context,
  caller,
  { params, query, body, ifMatch },
) => {
  const name = body.name ?? query.name
  const fields = name === undefined ? body : { ...body, name }
  const { row, outcome } = await changeVal(context, caller, { id: params.val_id, fields, ifMatch })
  const val = presentVal(row, context)
  if (outcome !== 'versioned') return new Reply(200, val)
  return new Reply(201, val, `${val.links.versions}/${val.version}`)
}

export const getVersion: Handler<'getVersion'> = async (context, caller, { params }) => {
  const { val_id: id, version } = params
  return presentVal(await findReadableValAtVersion(context.db, caller, { id, version }), context)
}

export const deleteVersion: Handler<'deleteVersion'> = async (context, caller, { params, ifMatch }) => {
  const { val_id: id, version } = params
  await inTransaction(context, ({ db }) => removeVersion(db, caller, { id, version, ifMatch }))
  announce(context, { id })
}

interface Removal {
  readonly id: string
  readonly version: number
  readonly ifMatch: IfMatch | null
}

/** A refusal after the deletion rolls it back. */
async function removeVersion(db: Db, caller: Caller, { id, version, ifMatch }: Removal) {
  const { owner_id } = await findOwnVal(db, caller, id)
  const val = await lockOwnValOrNull(db, caller, id)
  const deleted = await deleteVersionRow(db, { owner_id, val_id: id, version })
  if (!val || deleted.rows.length === 0) throw missing()
  if (!matches(ifMatch, { version, updatedAtMs: val.updated_at.getTime() })) throw stale()
  if (version !== val.version) return
  const newest = await makeNewestCurrent(db, { owner_id, val_id: id, now: new Date() })
  if (newest.rows.length === 0)
    throw new Fault('last_version', 'This is the only version. Delete the val instead.')
}

function missing() {
  return new Fault('not_found', 'There is no such version, or you may not see it.')
}

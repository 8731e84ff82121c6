import { hash } from 'node:crypto'
import type { ValFields } from '@valley/contract/vals.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { isUniqueViolation } from '../database/database-fault.ts'
import { newId, timeOf } from '../database/ids.ts'
import { type IfMatch, matches } from '../etag.ts'
import { Fault, unavailable } from '../fault.ts'
import { limits } from '../limits.ts'
import { findOwnVal } from './find-val.ts'
import { generateName } from './generate-name.ts'
import { insertVal, releaseCode, selectOwnValByName, updateVal, upsertVal } from './queries.ts'
import type { SavedVal, ValRow } from './val-row.ts'

interface NewVal extends ValFields {
  readonly code: string
}

/** What a save came to: the val as it is now, and whether the save made it or a version of it. */
export interface Saved {
  readonly row: ValRow
  readonly outcome: 'created' | 'versioned' | 'changed' | 'unchanged'
}

export async function createVal(context: Context, caller: Caller, fields: NewVal): Promise<ValRow> {
  for (let tries = 0; tries < limits.generatedNameTriesMax; tries++) {
    const name = fields.name ?? generateName()
    const args = newValArgs(caller, { ...fields, name })
    const [saved] = (await insertVal(context.db, args)).rows
    if (saved) return announce(context, withCode(saved, caller, fields.code))
    await releaseCode(context.db, args)
    if (fields.name !== undefined) break
  }
  if (fields.name !== undefined) throw nameTaken(fields.name)
  throw unavailable('No free name was found. Try again, or give the val a name.')
}

interface Put {
  readonly fields: NewVal & { readonly name: string }
  readonly ifMatch: IfMatch | null
}

/** Creates the val of this name or changes it, in one statement, so that parallel calls make one val. */
export async function putVal(context: Context, caller: Caller, { fields, ifMatch }: Put): Promise<Saved> {
  if (ifMatch !== null) return putMatchingVal(context, caller, { fields, ifMatch })
  for (let tries = 0; tries < limits.putTriesMax; tries++) {
    const args = newValArgs(caller, fields)
    const { rows } = await upsertVal(context.db, args)
    const [saved] = rows
    if (saved) {
      const row = announce(context, withCode(saved, caller, fields.code))
      return { row, outcome: saved.id === args.id ? 'created' : 'changed' }
    }
    const unchanged = await findOwnValByNameOrNull(context, caller, fields.name)
    if (unchanged) return { row: unchanged, outcome: 'unchanged' }
  }
  throw unavailable('This val is being deleted and saved again and again. Try again in a moment.')
}

/** If-Match never creates: it names a state of a val that exists. */
async function putMatchingVal(context: Context, caller: Caller, { fields, ifMatch }: Put): Promise<Saved> {
  const existing = await findOwnValByNameOrNull(context, caller, fields.name)
  if (!existing) throw stale()
  const { name: _, ...rest } = fields
  return changeVal(context, caller, { id: existing.id, fields: rest, ifMatch })
}

interface Change {
  readonly id: string
  readonly fields: ValFields & { readonly code?: string }
  readonly ifMatch: IfMatch | null
}

/** Changes a val of the caller's, if it still is in the state that If-Match names. */
export async function changeVal(context: Context, caller: Caller, change: Change): Promise<Saved> {
  const before = await findOwnVal(context.db, caller, change.id)
  const state = requireMatch(change.ifMatch, before)
  const args = { ...changeArgs(caller, change), ...state }
  const { rows } = await updateVal(context.db, args).catch((error: unknown) => {
    throw isUniqueViolation(error, 'vals_by_name') ? nameTaken(change.fields.name, error) : error
  })
  const [saved] = rows
  if (!saved) {
    const { code_hash } = args
    if (code_hash) await releaseCode(context.db, { code_hash })
    const now = await findOwnVal(context.db, caller, change.id)
    requireMatch(change.ifMatch, now)
    return { row: now, outcome: 'unchanged' }
  }
  const isVersion = saved.version_created_at.getTime() === saved.updated_at.getTime()
  const row = announce(context, withCode(saved, caller, change.fields.code ?? before.code))
  return { row, outcome: isVersion ? 'versioned' : 'changed' }
}

async function findOwnValByNameOrNull({ db }: Context, caller: Caller, name: string): Promise<ValRow | null> {
  const { rows } = await selectOwnValByName(db, { owner_id: caller.id, name })
  return rows[0] ?? null
}

/** What If-Match demands of the row, for the statement to check again under its lock. */
export function requireMatch(ifMatch: IfMatch | null, row: Pick<ValRow, 'version' | 'updated_at'>) {
  const state = { version: row.version, updatedAtMs: row.updated_at.getTime() }
  if (!matches(ifMatch, state)) throw stale()
  const isAny = ifMatch === null || ifMatch === '*'
  return { if_version: isAny ? null : row.version, if_updated_at: isAny ? null : row.updated_at }
}

export function stale() {
  return new Fault('precondition_failed', 'The val has changed since you read it. Read it again, then save.')
}

/** Tells whoever keeps a copy of the val that it changed. */
export function announce<Row extends { readonly id: string }>({ bus, afterCommit }: Context, row: Row): Row {
  afterCommit(() => bus.publish('valChanged', { valId: row.id }))
  return row
}

function newValArgs(caller: Caller, fields: NewVal & { readonly name: string }) {
  const id = newId()
  return {
    ...fieldArgs(fields),
    id,
    owner_id: caller.id,
    name: fields.name,
    ...codeArgs(fields.code),
    now: timeOf(id),
  }
}

function changeArgs(caller: Caller, { id, fields }: Change) {
  const code = fields.code === undefined ? { code: null, code_hash: null } : codeArgs(fields.code)
  return {
    ...fieldArgs(fields),
    id,
    owner_id: caller.id,
    name: fields.name ?? null,
    ...code,
    now: new Date(),
  }
}

function fieldArgs({ privacy, type, readme }: ValFields) {
  return {
    privacy: privacy ?? null,
    type: type ?? null,
    sets_readme: readme !== undefined,
    readme: readme ?? null,
  }
}

function codeArgs(code: string) {
  return { code, code_hash: hash('sha256', code, 'buffer') }
}

function withCode(saved: SavedVal, caller: Caller, code: string): ValRow {
  return { ...saved, username: caller.username, code }
}

function nameTaken(name: string | undefined, cause?: unknown) {
  return new Fault(
    'name_taken',
    `You already have a val named ${name}. Choose another name, or PUT /v1/vals.`,
    {
      cause,
      headers: { 'x-should-retry': 'false' },
    },
  )
}

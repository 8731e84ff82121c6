import type { Caller } from '../caller.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { selectVal, selectValAtVersion, selectValByName, selectValForUpdate } from './queries.ts'
import type { ValRow } from './val-row.ts'

/** Someone else's private val answers exactly as a missing one. */
export async function findReadableVal(db: Db, caller: Caller | null, id: string): Promise<ValRow> {
  const { rows } = await selectVal(db, { id })
  return readable(rows[0], caller)
}

/** The val, if the caller owns it. Whoever may see it learns that it is another's; all others that it is missing. */
export async function findOwnVal(db: Db, caller: Caller, id: string): Promise<ValRow> {
  const val = await findReadableVal(db, caller, id)
  if (val.owner_id !== caller.id) {
    throw new Fault('forbidden', 'Only its owner may do that to this val.')
  }
  return val
}

/** The val, if the caller owns it, for what nobody else may see: to others it is missing, whatever its privacy. */
export async function findOwnValOrHide(db: Db, caller: Caller, id: string): Promise<ValRow> {
  const val = await findReadableVal(db, caller, id)
  if (val.owner_id !== caller.id) throw missing()
  return val
}

/** An unlisted val has to be known by its id: names can be guessed. */
export async function findReadableValByName(
  db: Db,
  caller: Caller | null,
  { username, name }: { readonly username: string; readonly name: string },
): Promise<ValRow> {
  const { rows } = await selectValByName(db, { username, name })
  const val = readable(rows[0], caller)
  if (val.privacy === 'unlisted' && val.owner_id !== caller?.id) throw missing()
  return val
}

export async function findReadableValAtVersion(
  db: Db,
  caller: Caller | null,
  { id, version }: { readonly id: string; readonly version: number },
): Promise<ValRow> {
  const { rows } = await selectValAtVersion(db, { id, version })
  return readable(rows[0], caller)
}

/** Holds a val of the caller's still until the transaction ends; null when there is none. */
export async function lockOwnValOrNull(db: Db, caller: Caller, id: string) {
  const { rows } = await selectValForUpdate(db, { id, owner_id: caller.id })
  return rows[0] ?? null
}

/** The same for what nobody else may see: whoever does not own it finds no such val. */
export async function lockOwnValOrHide(db: Db, caller: Caller, id: string): Promise<void> {
  if ((await lockOwnValOrNull(db, caller, id)) === null) throw missing()
}

function readable(val: ValRow | undefined, caller: Caller | null): ValRow {
  if (!val || (val.privacy === 'private' && val.owner_id !== caller?.id)) throw missing()
  return val
}

function missing() {
  return new Fault('not_found', 'There is no such val, or you may not see it.')
}

import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { selectUserById, selectUserByName, selectUserForUpdate, type UserRow } from './queries.ts'

export async function findUser(db: Db, id: string): Promise<UserRow> {
  const { rows } = await selectUserById(db, { id })
  return found(rows)
}

export async function findUserByName(db: Db, username: string): Promise<UserRow> {
  const { rows } = await selectUserByName(db, { username })
  return found(rows)
}

/** Holds a user still until the transaction ends, except for new vals and tokens of theirs. */
export async function lockUser(db: Db, id: string): Promise<void> {
  await selectUserForUpdate(db, { id })
}

function found([user]: readonly UserRow[]): UserRow {
  if (!user) throw new Fault('not_found', 'There is no such user.')
  return user
}

import { Username } from '@valley/contract/scalars.ts'
import { isUniqueViolation } from '../database/database-fault.ts'
import { newId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { insertUser, selectUsernames } from './queries.ts'

interface NewUser {
  readonly username: string
  readonly email: string | null
}

/** Users are made by the operator; the API has no route for it. */
export async function createUser(db: Db, { username, email }: NewUser): Promise<string> {
  const id = newId()
  if (!Username.safeParse(username).success) {
    throw new Fault(
      'invalid_request',
      'A username takes 2 to 30 of a-z, 0-9 and single hyphens, and starts with a letter.',
    )
  }
  try {
    await insertUser(db, { id, username, email })
  } catch (cause) {
    throw nameTakenOr(cause, username)
  }
  return id
}

export async function listUsernames(db: Db, limit: number): Promise<readonly string[]> {
  const { rows } = await selectUsernames(db, { limit })
  return rows.map(({ username }) => username)
}

export function nameTakenOr(error: unknown, username: string | undefined): unknown {
  if (!isUniqueViolation(error, 'users_username_key')) return error
  return new Fault('name_taken', `The username ${username} is taken. Choose another one.`, {
    cause: error,
    headers: { 'x-should-retry': 'false' },
  })
}

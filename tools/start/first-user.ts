import { openDatabase } from '@valley/server/database/open-database.ts'
import { listUsernames } from '@valley/server/users/create-user.ts'
import { createUserWithToken } from '../users/create-user-with-token.ts'

export interface FirstUser {
  name: string
  /** Known only when it was made just now: the database has but its hash. */
  token: string | null
}

/** Makes the first user where there is none yet. */
export async function ensureFirstUser(databaseUrl: string, name: string): Promise<FirstUser> {
  await using database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined })
  const [existing] = await listUsernames(database.db, 1)
  if (existing !== undefined) return { name: existing, token: null }
  return { name, token: await createUserWithToken(database.db, name) }
}

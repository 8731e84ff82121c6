import { openDatabase } from '@valley/server/database/open-database.ts'
import { createUserWithToken } from '../users/create-user-with-token.ts'

export interface Tokens {
  readonly alice: string
  readonly bob: string
}

export async function createPeople(databaseUrl: string): Promise<Tokens> {
  await using database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined })
  const alice = await createUserWithToken(database.db, 'alice')
  const bob = await createUserWithToken(database.db, 'bob')
  return { alice, bob }
}

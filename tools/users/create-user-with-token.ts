import type { Db } from '@valley/server/database/statement.ts'
import { issueToken } from '@valley/server/tokens/issue-token.ts'
import { createUser } from '@valley/server/users/create-user.ts'

/**
 * Makes a user and returns a token of theirs that may do everything. In this process rather than by the
 * server's command line, which takes longer to load than the rest takes to start.
 */
export async function createUserWithToken(db: Db, username: string): Promise<string> {
  const ownerId = await createUser(db, { username, email: null })
  const { text } = await issueToken(db, { ownerId, name: 'first token', scopes: null, expiresAt: null })
  return text
}

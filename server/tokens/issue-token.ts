import type { Scope } from '@valley/contract/scopes.ts'
import { newId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { insertToken, type TokenRow } from './queries.ts'
import { hashToken, newTokenText } from './token-text.ts'

interface NewToken {
  readonly ownerId: string
  readonly name: string
  readonly scopes: readonly Scope[] | null
  readonly expiresAt: Date | null
}

/** Makes a token. The secret is returned here and never again: only its hash is kept. */
export async function issueToken(db: Db, { ownerId, name, scopes, expiresAt }: NewToken) {
  const text = newTokenText()
  const row: TokenRow = { id: newId(), name, scopes, expires_at: expiresAt, last_used_at: null }
  await insertToken(db, {
    id: row.id,
    owner_id: ownerId,
    hash: hashToken(text),
    name,
    scopes: scopes === null ? null : [...scopes],
    expires_at: expiresAt,
  })
  return { row, text }
}

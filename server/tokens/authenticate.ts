import type { Caller } from '../caller.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import type { CallerCache } from './caller-cache.ts'
import { selectCallerByHash } from './queries.ts'
import { hashToken, isTokenText } from './token-text.ts'

interface Authentication {
  readonly db: Db
  readonly callers: CallerCache
  /** Asked before the database is, for a token that is not remembered; refuses whoever asks too much. */
  readonly enter: () => Disposable
}

/** Who the Authorization header names. A token that is not good is refused also where none is needed. */
export async function authenticate(
  { callers, ...lookUp }: Authentication,
  authorization: string,
): Promise<Caller> {
  const text = bearerOf(authorization)
  if (text === undefined) throw unauthenticated('Send the token as "Authorization: Bearer vly_…".')
  const found = await callers.find(text, () => loadCaller(lookUp, text))
  if (found === null) throw unauthenticated('The token is unknown or was revoked. Make a new one.')
  if (hasEnded(found)) throw unauthenticated('The token has expired. Make a new one.')
  return found
}

/** Whose token has this hash, for a runner, which never sends the token itself; null when it is not good. */
export async function findCallerOfHashOrNull(
  { db, callers }: Omit<Authentication, 'enter'>,
  tokenHash: string,
): Promise<Caller | null> {
  const found = await callers.find(tokenHash, () => findCallerByHashOrNull(db, Buffer.from(tokenHash, 'hex')))
  return found === null || hasEnded(found) ? null : found
}

function hasEnded({ expiresAt }: Caller): boolean {
  return expiresAt !== null && expiresAt.getTime() <= Date.now()
}

/** The token inside an Authorization header. */
export function bearerOf(authorization: string): string | undefined {
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1]
}

export function unauthenticated(message: string) {
  return new Fault('unauthenticated', message, { headers: { 'www-authenticate': 'Bearer' } })
}

async function loadCaller(
  { db, enter }: Omit<Authentication, 'callers'>,
  text: string,
): Promise<Caller | null> {
  if (!isTokenText(text)) throw unauthenticated('The token is mistyped or cut short. Copy it again.')
  using _ = enter()
  return await findCallerByHashOrNull(db, hashToken(text))
}

async function findCallerByHashOrNull(db: Db, tokenHash: Buffer): Promise<Caller | null> {
  const [row] = (await selectCallerByHash(db, { hash: tokenHash })).rows
  if (!row) return null
  const { owner_id: id, username, token_id: tokenId, scopes, expires_at: expiresAt } = row
  return { id, username, tokenId, scopes, expiresAt }
}

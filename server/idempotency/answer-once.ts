import { hash } from 'node:crypto'
import type { Caller } from '../caller.ts'
import { isLockTimeout } from '../database/database-fault.ts'
import type { Db } from '../database/statement.ts'
import { Fault, unavailable } from '../fault.ts'
import { seal, unseal } from '../seal.ts'
import { claimKey, keepAnswer, selectKey } from './queries.ts'

export interface OnceRequest {
  readonly caller: Caller
  readonly tokenText: string
  readonly key: string
  /** What makes it the same request: method, target and body. */
  readonly fingerprint: string
}

/**
 * Gives the first answer again to a request that repeats its key. Key, effect and answer are one transaction, so a
 * crash leaves all or none of them; a refused request leaves none, and may be tried again under the same key.
 */
export async function answerOnce<Answer>(
  db: Db,
  { caller, tokenText, key, fingerprint }: OnceRequest,
  answer: (db: Db) => Promise<Answer>,
): Promise<Answer> {
  const sealKey = sealKeyOf(tokenText, key)
  const of = { token_id: caller.tokenId, key_hash: hash('sha256', key, 'buffer') }
  const request_hash = hash('sha256', fingerprint, 'buffer')
  return db.transaction().execute(async (transaction) => {
    const claimed = await claimKey(transaction, { ...of, request_hash }).catch((error: unknown) => {
      throw isLockTimeout(error) ? underWay(error) : error
    })
    if (claimed.rows.length === 0) return readAnswer<Answer>(transaction, of, { request_hash, sealKey })
    const first = await answer(transaction)
    await keepAnswer(transaction, { ...of, sealed_answer: seal(sealKey, JSON.stringify(first)) })
    return first
  })
}

/**
 * What opens a kept answer, which may hold a new token or private code: the caller's own secret, of which the database
 * knows only a hash.
 */
function sealKeyOf(tokenText: string, idempotencyKey: string): Buffer {
  return hash('sha256', `valley idempotency\n${tokenText}\n${idempotencyKey}`, 'buffer')
}

async function readAnswer<Answer>(
  db: Db,
  of: { token_id: string; key_hash: Buffer },
  { request_hash, sealKey }: { request_hash: Buffer; sealKey: Buffer },
): Promise<Answer> {
  const [kept] = (await selectKey(db, of)).rows
  if (!kept?.sealed_answer) throw underWay()
  if (!kept.request_hash.equals(request_hash)) {
    throw new Fault(
      'idempotency_key_reused',
      'This Idempotency-Key was used for another request. Use a new key.',
    )
  }
  return JSON.parse(unseal(sealKey, kept.sealed_answer)) as Answer
}

function underWay(cause?: unknown) {
  return unavailable('A request with this Idempotency-Key is under way. Try again in a moment.', cause)
}

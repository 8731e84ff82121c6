import { sql } from 'kysely'
import { limits } from '@valley/contract/limits.ts'
import { statement } from '../database/statement.ts'

interface KeyArgs {
  token_id: string
  key_hash: Buffer
}

/**
 * Returns a row when the key is new, or so old that it may be used again. While another request holds the same key,
 * this waits for that request's transaction to end.
 */
export const claimKey = statement<KeyArgs & { request_hash: Buffer }, { token_id: string }>(
  (arg) => sql<{ token_id: string }>`
    INSERT INTO idempotency_keys AS k (token_id, key_hash, request_hash)
    VALUES (${arg('token_id')}, ${arg('key_hash')}, ${arg('request_hash')})
    ON CONFLICT (token_id, key_hash) DO UPDATE SET
      request_hash = excluded.request_hash, sealed_answer = NULL, created_at = now()
    WHERE k.created_at < now() - make_interval(hours => ${sql.lit(limits.idempotencyKeyHours)})
    RETURNING token_id`,
)

export interface KeyRow {
  readonly request_hash: Buffer
  readonly sealed_answer: Buffer | null
}

export const selectKey = statement<KeyArgs, KeyRow>(
  (arg) => sql<KeyRow>`
    SELECT request_hash, sealed_answer FROM idempotency_keys
    WHERE token_id = ${arg('token_id')} AND key_hash = ${arg('key_hash')}`,
)

export const keepAnswer = statement<KeyArgs & { sealed_answer: Buffer }, never>(
  (arg) => sql<never>`
    UPDATE idempotency_keys SET sealed_answer = ${arg('sealed_answer')}
    WHERE token_id = ${arg('token_id')} AND key_hash = ${arg('key_hash')}`,
)

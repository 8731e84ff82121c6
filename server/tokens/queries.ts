import { type InsertResult, sql } from 'kysely'
import type { Scope } from '@valley/contract/scopes.ts'
import { build, statement } from '../database/statement.ts'
import { listStatement } from '../database/list-statement.ts'

export interface CallerRow {
  readonly token_id: string
  readonly owner_id: string
  readonly username: string
  readonly scopes: readonly Scope[] | null
  readonly expires_at: Date | null
}

export const selectCallerByHash = statement<{ hash: Buffer }, CallerRow>(
  (arg) => sql<CallerRow>`
    SELECT t.id AS token_id, t.owner_id, u.username, t.scopes, t.expires_at
    FROM tokens t JOIN users u ON u.id = t.owner_id
    WHERE t.hash = ${arg('hash')}`,
)

export interface TokenRow {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[] | null
  readonly expires_at: Date | null
  readonly last_used_at: Date | null
}

export const selectTokens = listStatement<{ owner_id: string }, TokenRow>(
  (arg, span) => sql<TokenRow>`
    SELECT id, name, scopes, expires_at, last_used_at FROM tokens
    WHERE owner_id = ${arg('owner_id')} AND ${span.within(sql.ref('id'))}
    ORDER BY id ${span.order} ${span.extent}`,
)

interface NewTokenArgs {
  id: string
  owner_id: string
  hash: Buffer
  name: string
  scopes: string[] | null
  expires_at: Date | null
}

export const insertToken = statement<NewTokenArgs, InsertResult>((arg) =>
  build.insertInto('tokens').values({
    id: arg('id'),
    owner_id: arg('owner_id'),
    hash: arg('hash'),
    name: arg('name'),
    scopes: arg('scopes'),
    expires_at: arg('expires_at'),
  }),
)

export const deleteTokenOfOwner = statement<{ id: string; owner_id: string }, { id: string }>((arg) =>
  build
    .deleteFrom('tokens')
    .where('id', '=', arg('id'))
    .where('owner_id', '=', arg('owner_id'))
    .returning('id'),
)

export const deleteTokenById = statement<{ id: string }, { owner_id: string }>((arg) =>
  build.deleteFrom('tokens').where('id', '=', arg('id')).returning('owner_id'),
)

/** A use is kept to the minute, so that a busy token is written once a minute at most. */
export const touchTokens = statement<{ ids: string[] }, never>(
  (arg) => sql<never>`
    UPDATE tokens SET last_used_at = date_trunc('minute', now())
    WHERE id = ANY(${arg('ids')}::uuid[])
      AND (last_used_at IS NULL OR last_used_at < date_trunc('minute', now()))`,
)

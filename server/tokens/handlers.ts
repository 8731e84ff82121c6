import { type Scope, scopes as everyScope } from '@valley/contract/scopes.ts'
import type { Token } from '@valley/contract/tokens.ts'
import { type Caller, hasScope } from '../caller.ts'
import { timeOf } from '../database/ids.ts'
import { Fault } from '../fault.ts'
import { idSpan, pageOf } from '../page.ts'
import { type Handler, Reply } from '../reply.ts'
import { issueToken } from './issue-token.ts'
import { deleteTokenOfOwner, selectTokens, type TokenRow } from './queries.ts'

export const listMyTokens: Handler<'listMyTokens'> = async ({ db, baseUrl }, caller, request) => {
  const span = idSpan(request)
  const rows = await selectTokens(db, { owner_id: caller.id }, span)
  return pageOf(baseUrl, request, { span, rows, keyOf: ({ id }) => id, present: presentToken })
}

export const createToken: Handler<'createToken'> = async ({ db }, caller, { body }) => {
  const { row, text } = await issueToken(db, {
    ownerId: caller.id,
    name: body.name,
    scopes: grantable(caller, body.scopes),
    expiresAt: endOf(caller, body.expiresAt),
  })
  return new Reply(201, { ...presentToken(row), token: text })
}

export const deleteToken: Handler<'deleteToken'> = async ({ db, bus, callers }, caller, { params }) => {
  const { rows } = await deleteTokenOfOwner(db, { id: params.token_id, owner_id: caller.id })
  if (rows.length === 0) throw new Fault('not_found', 'You have no such token.')
  await callers.forgetUser(caller.id)
  bus.publish('callerChanged', { userId: caller.id })
}

/** A token cannot grant a scope that it lacks. Left out, the new one gets the same scopes. */
function grantable(caller: Caller, wanted: readonly Scope[] | undefined): readonly Scope[] | null {
  if (wanted === undefined) return caller.scopes
  const lacking = wanted.find((scope) => !hasScope(caller, scope))
  if (lacking === undefined) return [...new Set(wanted)]
  throw new Fault('forbidden_scope', `Your token lacks the scope ${lacking}, so it cannot grant it.`)
}

/** Nor can it grant more time than it has. Left out, the new one ends with it. */
function endOf({ expiresAt: own }: Caller, wanted: string | null | undefined): Date | null {
  if (own === null) return wanted ? new Date(wanted) : null
  if (wanted === undefined) return own
  if (wanted !== null && new Date(wanted) <= own) return new Date(wanted)
  throw new Fault(
    'invalid_request',
    'Your own token ends before that, so it cannot make one that lasts longer.',
    {
      issues: [{ path: 'body.expiresAt', message: `must not be after ${own.toISOString()}` }],
    },
  )
}

function presentToken(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    scopes: [...(row.scopes ?? everyScope)],
    createdAt: timeOf(row.id).toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
  }
}

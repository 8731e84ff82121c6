import { z } from 'zod'
import { limits } from './limits.ts'
import { listOf, Page } from './lists.ts'
import type { Operations } from './operation.ts'
import { Id, text, Timestamp } from './scalars.ts'
import { Scope } from './scopes.ts'

/** The last moment that is written with four digits for its year. */
const expiresAtMaxMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

export const Token = z
  .object({
    id: Id,
    name: z.string(),
    scopes: z.array(Scope),
    createdAt: Timestamp,
    expiresAt: Timestamp.nullable(),
    lastUsedAt: Timestamp.nullable().describe('Kept to the minute.'),
  })
  .meta({ id: 'Token' })
export type Token = z.infer<typeof Token>

export const NewToken = Token.extend({
  token: z.string().describe('The secret. It is shown in this answer only.'),
}).meta({ id: 'NewToken' })
export type NewToken = z.infer<typeof NewToken>

export const tokens = {
  listMyTokens: {
    method: 'GET',
    path: '/v1/me/tokens',
    tag: 'Tokens',
    summary: 'List your tokens, without their secrets',
    auth: 'required',
    scope: 'user:read',
    query: Page,
    response: { 200: listOf(Token) },
  },
  createToken: {
    method: 'POST',
    path: '/v1/me/tokens',
    tag: 'Tokens',
    summary: 'Make a token',
    description:
      'It can have no scope that the calling token lacks; left out, it has the same ones. Nor can it outlive the calling token.',
    auth: 'required',
    scope: 'user:write',
    body: z.object({
      name: text({ min: 1, max: limits.tokenNameCharsMax }),
      scopes: z.array(Scope).min(1).max(Scope.options.length).optional(),
      expiresAt: z.iso
        .datetime({ offset: true })
        .refine((value) => Date.parse(value) > Date.now(), 'must be in the future')
        .refine((value) => Date.parse(value) <= expiresAtMaxMs, 'must be before the year 10000')
        .nullable()
        .optional(),
    }),
    response: { 201: NewToken },
    exampleBody: { name: 'laptop', scopes: ['val:read', 'val:write'] },
  },
  deleteToken: {
    method: 'DELETE',
    path: '/v1/me/tokens/{token_id}',
    tag: 'Tokens',
    summary: 'Revoke a token',
    auth: 'required',
    scope: 'user:write',
    params: z.object({ token_id: Id }),
    response: { 204: null },
    errors: ['not_found'],
  },
} as const satisfies Operations

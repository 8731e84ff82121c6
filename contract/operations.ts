import { alerts } from './alerts.ts'
import { comments } from './comments.ts'
import { env } from './env.ts'
import type { ErrorCode } from './errors.ts'
import { likes } from './likes.ts'
import type { Operation } from './operation.ts'
import { platform } from './platform.ts'
import { references } from './references.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { search } from './search.ts'
import { tokens } from './tokens.ts'
import { usage } from './usage.ts'
import { users } from './users.ts'
import { vals } from './vals.ts'
import { versions } from './versions.ts'

/** Everything that the service answers. */
export const operations = {
  ...users,
  ...usage,
  ...vals,
  ...versions,
  ...runs,
  ...likes,
  ...comments,
  ...references,
  ...search,
  ...tokens,
  ...env,
  ...schedules,
  ...alerts,
  ...platform,
} as const

export type OperationName = keyof typeof operations

/** The codes that an operation can answer with: its own, and those that follow from what it takes. */
export function errorCodesOf(operation: Operation): readonly ErrorCode[] {
  const takesInput = operation.query !== undefined || operation.body !== undefined
  const follows: readonly (readonly [boolean, ErrorCode])[] = [
    [takesInput, 'invalid_request'],
    [operation.auth !== 'none', 'unauthenticated'],
    [operation.scope !== null, 'forbidden_scope'],
    [operation.ifMatch === true, 'precondition_failed'],
    [operation.method === 'POST', 'idempotency_key_reused'],
    [operation.body !== undefined, 'payload_too_large'],
    [operation.body !== undefined, 'unsupported_media_type'],
    [operation.auth !== 'none', 'rate_limited'],
    [true, 'internal'],
    [true, 'unavailable'],
  ]
  return [...(operation.errors ?? []), ...follows.filter(([applies]) => applies).map(([, code]) => code)]
}

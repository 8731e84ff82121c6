import { z } from 'zod'

/** What each error code means and the status it is sent with. The only place where either is decided. */
export const errors = {
  invalid_request: { status: 400, means: 'The request does not fit the operation; issues says where.' },
  unauthenticated: { status: 401, means: 'No token, or one that is unknown, expired, revoked or mistyped.' },
  forbidden: { status: 403, means: 'Everyone may see this, but only its owner may do that.' },
  forbidden_scope: { status: 403, means: 'The token lacks the scope that the message names.' },
  not_found: { status: 404, means: 'There is no such thing, or the caller may not see it.' },
  method_not_allowed: { status: 405, means: 'The path exists; the Allow header lists its methods.' },
  name_taken: { status: 409, means: 'The name is in use. Choose another; retrying does not help.' },
  last_version: { status: 409, means: 'A val keeps at least one version. Delete the val instead.' },
  run_ended: { status: 409, means: 'The run is over: there is nothing left to cancel.' },
  idempotency_key_reused: { status: 409, means: 'This Idempotency-Key was used with another request.' },
  precondition_failed: { status: 412, means: 'If-Match no longer fits: read again, then decide.' },
  payload_too_large: { status: 413, means: 'The body is larger than this operation takes.' },
  unsupported_media_type: { status: 415, means: 'Send application/json, or raw code where it is taken.' },
  rate_limited: { status: 429, means: 'Too many requests; Retry-After says when to go on.' },
  queue_full: { status: 429, means: 'Too many of your runs wait already; go on once some are over.' },
  quota_exceeded: {
    status: 429,
    means: 'The runs of the day are used up; Retry-After says when it is over.',
  },
  internal: { status: 500, means: 'A fault of the service. The requestId finds it in the logs.' },
  unavailable: { status: 503, means: 'The service cannot answer now; Retry-After says when to try again.' },
} as const

export type ErrorCode = keyof typeof errors

export const errorCodes = Object.keys(errors) as [ErrorCode, ...ErrorCode[]]

export const ErrorBody = z
  .object({
    code: z.enum(errorCodes),
    message: z.string().describe('One sentence that says what to do.'),
    requestId: z.string().describe('Name this when you report a problem.'),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({
    id: 'Error',
    examples: [
      { code: 'name_taken', message: 'You already have a val named hello.', requestId: '0199f2ab4c1e7d3a' },
    ],
  })
export type ErrorBody = z.infer<typeof ErrorBody>

import type { ErrorBody, ErrorCode } from '@valley/contract/errors.ts'

/**
 * A code of the API, or one of the client's own:
 * `network` no answer came, and whether the server acted is unknown;
 * `timeout` the same, because the attempt took longer than `timeoutMs`;
 * `unexpected_answer` something answered that is not Valley, such as a proxy's error page.
 */
export type ValleyErrorCode = ErrorCode | 'network' | 'timeout' | 'unexpected_answer'

export type Issue = NonNullable<ErrorBody['issues']>[number]

interface Details {
  readonly status?: number
  readonly requestId?: string | undefined
  readonly issues?: readonly Issue[] | undefined
  readonly retryAfterMs?: number | undefined
  readonly headers?: Headers
  readonly cause?: unknown
}

/** The only error that a call rejects with, except for the reason of your own AbortSignal. */
export class ValleyError extends Error {
  // On the prototype, so that a stack trace begins with it.
  static {
    this.prototype.name = 'ValleyError'
  }

  readonly code: ValleyErrorCode
  /** Undefined when there was no answer. */
  readonly status: number | undefined
  /** Name this when you report a problem. */
  readonly requestId: string | undefined
  /** Where the request did not fit; empty for other codes than `invalid_request`. */
  readonly issues: readonly Issue[]
  /** How long the server asked to wait. */
  readonly retryAfterMs: number | undefined
  /** The headers of the answer, if there was one. */
  readonly headers: Headers | undefined

  constructor(code: ValleyErrorCode, message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : {})
    this.code = code
    this.status = details.status
    this.requestId = details.requestId
    this.issues = details.issues ?? []
    this.retryAfterMs = details.retryAfterMs
    this.headers = details.headers
  }
}

/** Whether this is a ValleyError and, where codes are given, has one of them. */
export function isValleyError<Code extends ValleyErrorCode = ValleyErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ValleyError & { readonly code: Code } {
  return error instanceof ValleyError && (codes.length === 0 || codes.some((code) => code === error.code))
}

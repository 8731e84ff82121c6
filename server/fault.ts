import { errors, type ErrorBody, type ErrorCode } from '@valley/contract/errors.ts'
import { limits } from './limits.ts'

interface FaultDetails {
  readonly cause?: unknown
  readonly issues?: NonNullable<ErrorBody['issues']>
  readonly headers?: Readonly<Record<string, string>>
}

/** A refusal that the caller is told about: a code of the contract, a public sentence, a private cause. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: ErrorCode
  readonly status: number
  readonly issues: ErrorBody['issues']
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, { cause, issues, headers = {} }: FaultDetails = {}) {
    super(message, { cause })
    this.code = code
    this.status = errors[code].status
    this.issues = issues
    this.headers = headers
  }
}

/** What passes by itself: the caller is told when to come back. */
export function unavailable(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', message, {
    cause,
    headers: { 'retry-after': String(limits.retryAfterSeconds) },
  })
}

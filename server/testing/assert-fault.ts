import assert from 'node:assert/strict'
import { type ErrorBody, type ErrorCode, errors } from '@valley/contract/errors.ts'
import type { Answer } from './call-as.ts'

/** The answer is this refusal, with the status that the contract gives it; returns its body. */
export function assertFault({ status, headers, text }: Answer<unknown>, code: ErrorCode): ErrorBody {
  assert.ok(text.startsWith('{'), `expected ${code}, got ${status}: ${text.slice(0, 200)}`)
  const body = parseError(text)
  assert.equal(`${status} ${body.code}`, `${errors[code].status} ${code}`, body.message)
  assert.equal(body.requestId, headers.get('x-request-id'))
  return body
}

function parseError(text: string): ErrorBody {
  return JSON.parse(text) as ErrorBody
}

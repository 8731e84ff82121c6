import type { Reply } from './attempt.ts'
import { limits } from './limits.ts'
import type { Route } from './routes.ts'
import { type Issue, ValleyError, type ValleyErrorCode } from './valley-error.ts'

/** A successful answer. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Reads a reply as what the route promises, or as the error that it is. */
export function answerFrom(reply: Reply, kind: Route['answer']): Answer | ValleyError {
  const { status, headers, text } = reply
  if (status === 204 || status === 304) return { status, headers, body: undefined }
  if (status < 200 || status > 299) return errorFrom(reply)
  const body = kind === 'json' ? parseOrUndefined(text) : text
  return body === undefined ? unexpected(reply) : { status, headers, body }
}

function errorFrom(reply: Reply): ValleyError {
  const body = parseOrUndefined(reply.text)
  if (!isErrorBody(body)) return unexpected(reply)
  return new ValleyError(body.code, body.message, {
    ...detailsFrom(reply),
    requestId: body.requestId,
    issues: body.issues,
  })
}

/** A proxy's error page, a redirect, a portal's login: say what came, as far as it helps. */
function unexpected(reply: Reply): ValleyError {
  const { status, headers } = reply
  const target = headers.get('location')
  // A browser hides everything about a redirect and calls its status 0.
  const said = status === 0 || target ? `a redirect to ${target ?? 'elsewhere'}` : excerptOf(reply)
  const message = `Something other than Valley answered (status ${status}): ${said}. Is the base URL right?`
  return new ValleyError('unexpected_answer', message, {
    ...detailsFrom(reply),
    requestId: headers.get('x-request-id') ?? undefined,
  })
}

function detailsFrom({ status, headers }: Reply) {
  return { status, headers, retryAfterMs: retryAfterMs(headers) }
}

/** Seconds or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function excerptOf({ text, headers }: Reply): string {
  const words = text
    .slice(0, limits.excerptCharsMax)
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return words || `an empty body of type ${headers.get('content-type') ?? 'unknown'}`
}

interface ReceivedError {
  readonly code: ValleyErrorCode
  readonly message: string
  readonly requestId?: string
  readonly issues?: readonly Issue[]
}

function isErrorBody(body: unknown): body is ReceivedError {
  if (typeof body !== 'object' || body === null || !('code' in body) || !('message' in body)) return false
  return typeof body.code === 'string' && typeof body.message === 'string'
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { Operation } from '@valley/contract/operation.ts'
import { parseIfMatch, type IfMatch } from '../etag.ts'
import { Fault } from '../fault.ts'

const rawCodeTypes = new Set([
  'text/plain',
  'text/javascript',
  'application/javascript',
  'application/typescript',
])

export interface RawRequest {
  readonly incoming: IncomingMessage
  readonly params: Readonly<Record<string, string>>
  readonly target: string
}

export interface ParsedRequest {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly bodyText: string
  readonly target: string
  readonly ifMatch: IfMatch | null
  readonly lastEventId: string | null
}

/** Everything that the operation declares, parsed; the first part that does not fit ends it. */
export function parseRequest(operation: Operation, raw: RawRequest, bodyText: string): ParsedRequest {
  const { incoming, params, target } = raw
  const ifMatch = operation.ifMatch && incoming.headers['if-match']
  const lastEventId = operation.events && incoming.headers['last-event-id']
  return {
    params: operation.params && parseParams(operation.params, params),
    query: operation.query && parsePart('query', operation.query, queryOf(target)),
    body: operation.body && parsePart('body', operation.body, bodyValue(operation, incoming, bodyText)),
    bodyText,
    target,
    ifMatch: typeof ifMatch === 'string' ? parseIfMatch(ifMatch) : null,
    lastEventId: typeof lastEventId === 'string' ? lastEventId : null,
  }
}

/** A malformed id names nothing, so it answers like an unknown one. */
function parseParams(schema: z.ZodObject, params: Readonly<Record<string, string>>) {
  const parsed = schema.safeParse(params)
  if (!parsed.success) throw new Fault('not_found', 'There is nothing at this address.')
  return parsed.data
}

/** Of a parameter that is given twice, the first counts. */
function queryOf(target: string): Record<string, string> {
  const start = target.indexOf('?')
  if (start === -1) return {}
  return Object.fromEntries([...new URLSearchParams(target.slice(start + 1))].toReversed())
}

function parsePart(part: 'query' | 'body', schema: z.ZodObject, value: unknown) {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues.map(({ path, message }) => ({
    path: [part, ...path].join('.'),
    message,
  }))
  const [first] = issues
  throw new Fault('invalid_request', `The request does not fit: ${first?.path}: ${first?.message}.`, {
    issues,
  })
}

function bodyValue(operation: Operation, { headers }: IncomingMessage, text: string): unknown {
  if (operation.bodyMayBeMissing && text === '') return {}
  const [mediaType = '', ...options] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const type = mediaType.trim()
  const charset = options.map((option) => option.trim()).find((option) => option.startsWith('charset='))
  const encoding = headers['content-encoding'] ?? 'identity'
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset)
  if (isUtf8 && encoding === 'identity') {
    if (type === 'application/json') return parseJson(text)
    if (operation.takesRawCode && rawCodeTypes.has(type)) return { code: text }
  }
  throw new Fault('unsupported_media_type', 'Send the body as UTF-8 with "Content-Type: application/json".')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Fault('invalid_request', 'The body is not valid JSON.', {
      cause,
      issues: [{ path: 'body', message: cause instanceof Error ? cause.message : 'is not valid JSON' }],
    })
  }
}

import type { ServerResponse } from 'node:http'
import { passingDatabaseFault } from '../database/database-fault.ts'
import { isKnown } from '../etag.ts'
import { Fault } from '../fault.ts'
import { compress } from './compress.ts'
import type { HttpServices } from './http-services.ts'
import type { RawRequest } from './parse-request.ts'
import { renderFault, type Rendered } from './render.ts'
import { requestIdOf } from './request-id.ts'
import type { NamedOperation } from './route.ts'
import { flatten, send } from './send.ts'
import { sendEvents } from './send-events.ts'
import { type Progress, serveOperation } from './serve-operation.ts'

/** What every answer carries. Tokens only, no cookies: any page may call the API. */
const standingHeaders = [
  'access-control-allow-origin',
  '*',
  'cache-control',
  'private, no-cache',
  'x-content-type-options',
  'nosniff',
  'vary',
  'authorization, accept-encoding',
] as const

/** What a script in a page may read besides the body; nobody else asks for it. */
const exposedHeaders = [
  'access-control-expose-headers',
  'etag, location, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, x-request-id, x-should-retry',
] as const

/** Answers one request, whatever happens: a fault is told to the caller, a surprise to the operator. */
export async function answerRequest(
  services: HttpServices,
  what: NamedOperation | Fault,
  raw: RawRequest & { readonly outgoing: ServerResponse },
): Promise<void> {
  const startedAt = performance.now()
  const requestId = requestIdOf(raw.incoming.headers['x-request-id'])
  const progress: Progress = { headers: {}, caller: null }
  let fault: Fault | null = null
  let rendered: Rendered
  try {
    if (what instanceof Fault) throw what
    rendered = unlessKnown(what, raw, await serveOperation(services, what, { raw, progress }))
  } catch (error) {
    fault = faultOf(error)
    rendered = renderFault(fault, requestId)
  }
  const origin = raw.incoming.headers.origin === undefined ? [] : exposedHeaders
  const { status, headers, body } = await encode(raw, rendered)
  const allHeaders = flatten(
    [...standingHeaders, ...origin, 'x-request-id', requestId],
    progress.headers,
    headers,
  )
  tell(services, {
    fault,
    seen: {
      requestId,
      operation: what instanceof Fault ? what.code : what.name,
      status: rendered.status,
      durationMs: performance.now() - startedAt,
      userId: progress.caller?.id ?? null,
    },
  })
  if (rendered.stream) return sendEvents(raw, allHeaders, rendered.stream)
  return send(raw.outgoing, { status, headers: allHeaders, body })
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  const passing = passingDatabaseFault(error)
  return (
    passing ?? new Fault('internal', 'Something broke on our side. Report the requestId.', { cause: error })
  )
}

function unlessKnown({ operation }: NamedOperation, { incoming }: RawRequest, rendered: Rendered): Rendered {
  const known = incoming.headers['if-none-match']
  const { etag } = rendered.headers
  if (known === undefined || etag === undefined || operation.method !== 'GET' || !isKnown(known, etag))
    return rendered
  return { status: 304, headers: { etag }, text: null }
}

function encode({ incoming }: RawRequest, rendered: Rendered): Encoded | Promise<Encoded> {
  const accepted = incoming.headers['accept-encoding']
  const { status, headers, text } = rendered
  if (text === null || accepted === undefined) return { status, headers, body: text }
  return encodeCompressed(rendered, text, accepted)
}

async function encodeCompressed(rendered: Rendered, text: string, accepted: string): Promise<Encoded> {
  const { status, headers } = rendered
  const compressed = await compress(text, accepted)
  if (compressed === null) return { status, headers, body: text }
  const weakEtag = headers['etag'] === undefined ? {} : { etag: `W/${headers['etag']}` }
  return {
    status,
    headers: { ...headers, ...weakEtag, 'content-encoding': compressed.encoding },
    body: compressed.bytes,
  }
}

interface Encoded {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

type Seen = Parameters<HttpServices['observe']['answered']>[0]

function tell({ observe, metrics }: HttpServices, { fault, seen }: { fault: Fault | null; seen: Seen }) {
  metrics.observeRequest(seen.operation, seen.status, seen.durationMs / 1_000)
  if (fault?.code === 'internal') observe.failed(seen, fault.cause)
  else if (fault?.code === 'unavailable') observe.unavailable(seen, fault.cause)
  else observe.answered(seen)
}

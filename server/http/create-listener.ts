import type { IncomingMessage, ServerResponse } from 'node:http'
import { Fault } from '../fault.ts'
import { type DocsFiles, docsFileOrNull } from '../platform/docs.ts'
import { answerRequest } from './answer-request.ts'
import { compress } from './compress.ts'
import type { HttpServices } from './http-services.ts'
import { routeOf } from './route.ts'
import { flatten, send } from './send.ts'

/** Every operation of the contract at its path; for the rest, an answer that says what there is instead. */
export function createListener(services: HttpServices, docsFiles: DocsFiles) {
  return (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    answer(services, docsFiles, { incoming, outgoing }).catch((error: unknown) => {
      // An answer that cannot even be written must not end the process.
      services.observe.answerLost(error)
      outgoing.destroy()
    })
  }
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

const noRoute = new Fault('not_found', 'There is no such route. GET /docs lists those that there are.')

async function answer(services: HttpServices, docsFiles: DocsFiles, { incoming, outgoing }: Exchange) {
  const target = targetOf(incoming.url ?? '/')
  const path = pathOf(target)
  const route = routeOf(incoming.method ?? 'GET', path)
  const raw = { incoming, outgoing, target, params: {} }
  if (route.kind === 'operation')
    return answerRequest(services, route.found, { ...raw, params: route.params })
  if (route.kind === 'nowhere') {
    const file =
      incoming.method === 'GET' || incoming.method === 'HEAD' ? docsFileOrNull(docsFiles, path) : null
    return file === null ? answerRequest(services, noRoute, raw) : sendFile(outgoing, file, incoming)
  }
  const { allow } = route
  if (incoming.method === 'OPTIONS') {
    return sendPlain(outgoing, { status: 204, headers: preflightHeaders(allow), body: null })
  }
  const notAllowed = new Fault('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
  return answerRequest(services, notAllowed, raw)
}

async function sendFile(outgoing: ServerResponse, file: Plain, { headers }: IncomingMessage) {
  const accepted = headers['accept-encoding']
  const compressed = accepted && file.body ? await compress(file.body.toString(), accepted) : null
  if (compressed === null) return sendPlain(outgoing, file)
  const encoded = { ...file.headers, 'content-encoding': compressed.encoding, vary: 'accept-encoding' }
  return sendPlain(outgoing, { ...file, headers: encoded, body: compressed.bytes })
}

interface Plain {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

function sendPlain(outgoing: ServerResponse, { headers, ...rest }: Plain): void {
  send(outgoing, { ...rest, headers: flatten([], headers) })
}

function preflightHeaders(allow: string) {
  return {
    allow,
    'access-control-allow-origin': '*',
    'access-control-allow-methods': allow,
    'access-control-allow-headers':
      'authorization, content-type, if-match, if-none-match, idempotency-key, last-event-id, x-request-id',
    'access-control-max-age': '86400',
  }
}

/** A request line may also name a whole URL; its host is not ours to believe. */
function targetOf(url: string): string {
  if (url.startsWith('/')) return url
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : '/'
}

function pathOf(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

import type { HttpBindings } from '@hono/node-server'
import { type Context as HonoContext, Hono } from 'hono'
import type { Operation } from '@valley/contract/operation.ts'
import { operations, type OperationName } from '@valley/contract/operations.ts'
import { Fault } from '../fault.ts'
import { answerRequest } from './answer-request.ts'
import { type DocsFiles, docsFile } from '../platform/docs.ts'
import type { HttpServices } from './http-services.ts'

type Env = { Bindings: HttpBindings }
type App = Hono<Env>

/** Every operation of the contract at its path; for the rest, an answer that says what there is instead. */
export function mount(services: HttpServices, docsFiles: DocsFiles): App {
  const app: App = new Hono<Env>({ strict: false })
  for (const [name, operation] of Object.entries<Operation>(operations)) {
    const named = { name: name as OperationName, operation }
    app.on(operation.method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), (c) =>
      answerRequest(services, named, rawRequest(c)),
    )
  }
  app.get(
    '/docs/:file',
    (c) => docsFile(docsFiles, c.req.param('file')) ?? answerRequest(services, noRoute, rawRequest(c)),
  )
  // Not as routes of their own: a path with one handler is dispatched without a chain.
  app.notFound((c) => answerOtherwise(services, c))
  return app
}

const noRoute = new Fault('not_found', 'There is no such route. GET /docs lists those that there are.')

/** The methods of each path, for requests that use another one. */
const allowed = [...Map.groupBy(Object.values<Operation>(operations), ({ path }) => path)].map(
  ([path, declared]) => {
    const methods = declared.map(({ method }) => method)
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    return { pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`), allow }
  },
)

function answerOtherwise(services: HttpServices, c: HonoContext<Env>): Response | Promise<Response> {
  const allow = allowed.find(({ pattern }) => pattern.test(c.req.path))?.allow
  if (allow === undefined) return answerRequest(services, noRoute, rawRequest(c))
  if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: preflightHeaders(allow) })
  const notAllowed = new Fault('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } })
  return answerRequest(services, notAllowed, rawRequest(c))
}

function preflightHeaders(allow: string) {
  return {
    allow,
    'access-control-allow-origin': '*',
    'access-control-allow-methods': allow,
    'access-control-allow-headers':
      'authorization, content-type, if-match, if-none-match, idempotency-key, x-request-id',
    'access-control-max-age': '86400',
  }
}

function rawRequest(c: HonoContext<Env>) {
  const { incoming } = c.env
  return { incoming, params: c.req.param() as Record<string, string>, target: targetOf(incoming.url ?? '/') }
}

/** A request line may also name a whole URL; its host is not ours to believe. */
function targetOf(url: string): string {
  if (url.startsWith('/')) return url
  const parsed = URL.parse(url)
  return parsed ? parsed.pathname + parsed.search : '/'
}

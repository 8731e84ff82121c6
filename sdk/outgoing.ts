import type { Fetch, Outgoing } from './attempt.ts'
import { etagFrom } from './etags.ts'
import type {
  CallOptions,
  IdempotencyKeyOption,
  IfMatchOption,
  IfNoneMatchOption,
} from './operation-types.ts'
import type { Route } from './routes.ts'
import { type Params, type Query, urlOf } from './url.ts'

/** What every call of a client has in common. */
export interface Settings {
  readonly baseUrl: URL
  readonly token: string | undefined
  readonly fetch: Fetch
  readonly timeoutMs: number
  readonly retriesMax: number
}

/** One call, once its operation no longer matters to the compiler. */
export interface Call {
  readonly route: Route
  readonly input: AnyInput
  readonly options: AnyOptions
}

export interface AnyInput {
  readonly params?: Params
  readonly query?: Query | string
  readonly body?: unknown
}

export type AnyOptions = CallOptions & IfMatchOption & IdempotencyKeyOption & IfNoneMatchOption

export function outgoingFor(settings: Settings, call: Call): Outgoing {
  const { route, input, options } = call
  return {
    fetch: settings.fetch,
    method: route.method,
    url: urlOf(settings.baseUrl, { path: route.path, params: input.params, query: input.query }),
    headers: headersFor(settings.token, call),
    body: input.body === undefined ? undefined : JSON.stringify(input.body),
    timeoutMs: options.timeoutMs ?? settings.timeoutMs,
    signal: options.signal,
  }
}

function headersFor(token: string | undefined, { route, input, options }: Call): Headers {
  const { ifMatch, ifNoneMatch, idempotencyKey = randomKey() } = options
  const headers = new Headers({ accept: route.answer === 'json' ? 'application/json' : '*/*' })
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  if (input.body !== undefined) headers.set('content-type', 'application/json')
  if (ifMatch !== undefined) headers.set('if-match', etagFrom(ifMatch))
  if (ifNoneMatch !== undefined) headers.set('if-none-match', etagFrom(ifNoneMatch))
  if (route.method === 'POST') headers.set('idempotency-key', idempotencyKey)
  return headers
}

/** Not crypto.randomUUID: browsers keep that from pages that are served over plain HTTP. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

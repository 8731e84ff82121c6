import { randomBytes } from 'node:crypto'
import type { TestServer, TestUser } from './open-test-server.ts'

export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The JSON of the answer; its shape has been checked against the OpenAPI document. */
  readonly body: Body
}

type HeadersOf = Readonly<Record<string, string>>

interface Sent {
  /** Text goes out as it is, everything else as JSON. */
  readonly body?: unknown
  readonly headers?: HeadersOf
}

export type TestCaller = ReturnType<typeof callAs>

/** Speaks plain HTTP with the server, as whoever the token names. */
export function callAs(server: Pick<TestServer, 'fetch' | 'url'>, token: string | null) {
  const send = async <Body>(method: string, path: string, sent: Sent = {}): Promise<Answer<Body>> => {
    const authorization: HeadersOf = token === null ? {} : { authorization: `Bearer ${token}` }
    const response = await server.fetch(new URL(path, server.url), {
      method,
      ...encode(sent.body),
      headers: { ...encode(sent.body).headers, ...authorization, ...sent.headers },
    })
    const { status, headers } = response
    const text = await textOf(response)
    const isJson = headers.get('content-type') === 'application/json'
    return { status, headers, text, body: (isJson && text !== '' ? JSON.parse(text) : null) as Body }
  }
  return {
    send,
    get: <Body>(path: string, headers: HeadersOf = {}) => send<Body>('GET', path, { headers }),
    post: <Body>(path: string, body: unknown, headers: HeadersOf = {}) =>
      send<Body>('POST', path, { body, headers }),
    put: <Body>(path: string, body?: unknown, headers: HeadersOf = {}) =>
      send<Body>('PUT', path, { body, headers }),
    delete: (path: string, headers: HeadersOf = {}) => send<unknown>('DELETE', path, { headers }),
  }
}

/** A new user with a token that may do everything. */
export async function newCaller(server: TestServer, name = 'user'): Promise<TestCaller & { user: TestUser }> {
  const user = await server.createUser(`${name}-${randomBytes(4).toString('hex')}`)
  return { ...callAs(server, user.token), user }
}

/** An answer that goes on has no whole text; whoever wants its events reads them elsewhere. */
async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response.text()
  await response.body?.cancel()
  return ''
}

function encode(body: unknown): { readonly body?: string; readonly headers: HeadersOf } {
  if (body === undefined) return { headers: {} }
  if (typeof body === 'string') return { body, headers: {} }
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

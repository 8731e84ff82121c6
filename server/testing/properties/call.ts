import type { TestServer, TestUser } from '../open-test-server.ts'

export interface Request {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** A path, or a whole URL such as a link of a list. */
  readonly to: string
  readonly as: TestUser
  readonly body?: object
}

export interface Answer {
  readonly status: number
  readonly etag: string | null
  readonly body: unknown
}

/** One request; what it answers is checked against the OpenAPI document on the way. */
export async function call(server: TestServer, { method, to, as, body }: Request): Promise<Answer> {
  const response = await server.fetch(new URL(to, server.url), {
    method,
    headers: {
      authorization: `Bearer ${as.token}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    etag: response.headers.get('etag'),
    body: text === '' ? null : JSON.parse(text),
  }
}

export function range(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index)
}

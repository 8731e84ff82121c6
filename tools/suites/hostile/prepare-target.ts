import assert from 'node:assert/strict'
import type { Target } from './target.ts'

interface Place {
  readonly url: string
  readonly server: { readonly pid: number }
  readonly tokens: { readonly alice: string; readonly bob: string }
}

/** Gives two users a few things each, so that there is something to attack. Alice attacks. */
export async function prepareTarget({ url, tokens, server }: Place): Promise<Target> {
  const [own, foreign] = await Promise.all([furnish(url, tokens.alice), furnish(url, tokens.bob)])
  return {
    url,
    pid: server.pid,
    token: tokens.alice,
    own: { ...own, username: 'bob', val_name: 'first' },
    foreign,
    cursors: await readCursors(url, tokens.alice, own),
  }
}

async function furnish(url: string, token: string): Promise<Record<string, string>> {
  const post = async (path: string, body: object) => ask(url, token, { method: 'POST', path, body })
  const first = { name: 'first', code: 'export default 1', readme: 'hello' }
  const val_id = String((await post('/v1/vals', first))['id'])
  for (const number of [2, 3, 4]) {
    await post(`/v1/vals/${val_id}/versions`, { code: `export default ${number} // hello` })
    await post('/v1/vals', { name: `hello${number}`, code: `// hello ${number}` })
  }
  const { id: comment_id } = await post(`/v1/vals/${val_id}/comments`, { comment: 'First.' })
  await post(`/v1/vals/${val_id}/comments`, { comment: 'Second.' })
  const { id: user_id } = await ask(url, token, { method: 'GET', path: '/v1/me' })
  const { id: token_id } = await post('/v1/me/tokens', { name: 'spare' })
  return { val_id, comment_id, user_id, token_id, version: '2' } as Record<string, string>
}

async function readCursors(
  url: string,
  token: string,
  { val_id }: Record<string, string>,
): Promise<string[]> {
  const paths = [
    '/v1/me/vals?limit=1',
    `/v1/vals/${val_id}/versions?limit=1`,
    '/v1/search/vals?query=hello&limit=1',
  ]
  const pages = await Promise.all(paths.map(async (path) => ask(url, token, { method: 'GET', path })))
  return pages.map(({ links }) => {
    const cursor = new URL((links as { next: string }).next).searchParams.get('cursor')
    assert.ok(cursor)
    return cursor
  })
}

interface Question {
  readonly method: string
  readonly path: string
  readonly body?: object
}

/** A well-formed request, and the answer's body. */
export async function ask(
  url: string,
  token: string,
  { method, path, body }: Question,
): Promise<Record<string, unknown>> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  assert.ok(response.ok, `${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

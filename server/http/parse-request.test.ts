import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { limits } from '@valley/contract/limits.ts'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal, readVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

const rawCodeTypes = ['text/plain', 'text/javascript', 'application/javascript', 'application/typescript']

test('raw code makes a val under the name of ?name=, or under a generated one', async () => {
  const alice = await newCaller(server, 'alice')
  for (const [i, type] of rawCodeTypes.entries()) {
    const headers = { 'content-type': i % 2 === 0 ? type : `${type}; charset=UTF-8` }
    const code = `export default "${type} — ünïcode"`
    const named = await alice.post<Val>(`/v1/vals?name=raw_${i}`, code, headers)
    assert.equal(named.status, 201)
    assert.partialDeepStrictEqual(named.body, { name: `raw_${i}`, code, privacy: 'public', type: 'script' })
    const generated = await alice.post<Val>('/v1/vals', code, headers)
    assert.match(generated.body.name, /^[a-z]+[A-Z][a-z]+\d{4}$/)
    assert.equal(generated.body.code, code)
  }
})

test('raw code makes a version', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  for (const [i, type] of rawCodeTypes.entries()) {
    const { status, body } = await alice.post<Val>(`/v1/vals/${val.id}/versions`, `// ${type}`, {
      'content-type': type,
    })
    assert.equal(status, 201)
    assert.partialDeepStrictEqual(body, { version: i + 2, code: `// ${type}`, name: val.name })
  }
})

test('raw code has the same bounds as code in JSON, and a name in ?name= the same shape', async () => {
  const alice = await newCaller(server, 'alice')
  const raw = { 'content-type': 'text/plain' }
  const issuesOf = async (path: string, code: string) =>
    assertFault(await alice.post(path, code, raw), 'invalid_request').issues?.map(({ path: where }) => where)
  assert.deepEqual(await issuesOf('/v1/vals', ''), ['body.code'])
  assert.deepEqual(await issuesOf('/v1/vals', 'x'.repeat(limits.codeCharsMax + 1)), ['body.code'])
  assert.deepEqual(await issuesOf('/v1/vals?name=9', '1'), ['query.name'])
})

test('a body of any other media type is refused', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  const json = JSON.stringify({ name: 'x', code: '1', comment: '1' })
  const types = [
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'text/html',
    '',
  ]
  for (const type of [...types, 'application/json; charset=latin1', 'text/plain; charset=utf-16']) {
    assertFault(await alice.post('/v1/vals', json, { 'content-type': type }), 'unsupported_media_type')
  }
  const noRawCode = [
    await alice.put('/v1/vals', json, { 'content-type': 'text/plain' }),
    await alice.put(`/v1/vals/${id}`, json, { 'content-type': 'text/javascript' }),
    await alice.post(`/v1/vals/${id}/comments`, json, { 'content-type': 'text/plain' }),
    await alice.post('/v1/vals', json, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
  ]
  for (const answer of noRawCode) assertFault(answer, 'unsupported_media_type')
})

test('a JSON body may name its charset and is read as UTF-8', async () => {
  const alice = await newCaller(server, 'alice')
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset="UTF-8"',
  ]) {
    const { status, body } = await alice.post<Val>('/v1/vals', JSON.stringify({ code: '"日本語 🎉"' }), {
      'content-type': type,
    })
    assert.equal(status, 201)
    assert.equal(body.code, '"日本語 🎉"')
  }
})

test('a body that is not JSON, or not an object, is refused with an issue', async () => {
  const alice = await newCaller(server, 'alice')
  for (const text of [
    '',
    '{',
    '{"code":}',
    'null',
    '[]',
    '"code"',
    '1',
    '{"code":1}',
    '{"code":null}',
    '{}',
  ]) {
    const answer = await alice.post('/v1/vals', text, { 'content-type': 'application/json' })
    const { issues } = assertFault(answer, 'invalid_request')
    assert.ok(issues?.every(({ path, message }) => path.startsWith('body') && message !== ''))
    assert.notEqual(issues?.length, 0)
  }
})

test('every field that does not fit is named at once', async () => {
  const alice = await newCaller(server, 'alice')
  const body = { name: '9', code: '', readme: 7, privacy: 'secret', type: 'cron' }
  const { issues, message } = assertFault(await alice.post('/v1/vals', body), 'invalid_request')
  assert.deepEqual(
    new Set(issues?.map(({ path }) => path)),
    new Set(['body.name', 'body.code', 'body.readme', 'body.privacy', 'body.type']),
  )
  assert.match(message, /^[A-Z].*\.$/)
})

test('text with NUL or a lone surrogate is refused, not changed', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  for (const bad of ['a\0b', 'a\uD800b']) {
    assertFault(await alice.post('/v1/vals', { code: bad }), 'invalid_request')
    assertFault(await alice.put(`/v1/vals/${id}`, { readme: bad }), 'invalid_request')
    assertFault(await alice.post(`/v1/vals/${id}/comments`, { comment: bad }), 'invalid_request')
    assertFault(await alice.put('/v1/me', { bio: bad }), 'invalid_request')
  }
})

test('unknown fields of a body are ignored', async () => {
  const alice = await newCaller(server, 'alice')
  const created = await alice.post<Val>('/v1/vals', {
    code: '1',
    id: 'mine',
    likeCount: 99,
    future: { a: [1] },
  })
  assert.equal(created.status, 201)
  assert.notEqual(created.body.id, 'mine')
  assert.equal(created.body.likeCount, 0)
  const path = `/v1/vals/${created.body.id}`
  assert.equal((await alice.put(path, { code: 'not here', version: 9 })).status, 204)
  assert.deepEqual(await readVal(alice, created.body), created.body)
})

test('of a parameter that is given twice the first counts, and unknown ones are ignored', async () => {
  const alice = await newCaller(server, 'alice')
  await createVal(alice)
  await createVal(alice)
  const { status, body } = await alice.get<{ data: unknown[] }>('/v1/me/vals?limit=1&limit=0&future=1')
  assert.equal(status, 200)
  assert.equal(body.data.length, 1)
})

test('Content-Type: application/json on a GET or DELETE without a body is fine', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  const json = { 'content-type': 'application/json' }
  assert.equal((await alice.get('/v1/me', json)).status, 200)
  assert.equal((await alice.get(`/v1/vals/${id}`, json)).status, 200)
  assert.equal((await alice.put(`/v1/me/likes/${id}`, undefined, json)).status, 204)
  assert.equal((await alice.delete(`/v1/me/likes/${id}`, json)).status, 204)
  assert.equal((await alice.delete(`/v1/vals/${id}`, json)).status, 204)
})

test('a trailing slash is fine', async () => {
  const alice = await newCaller(server, 'alice')
  const { status, body } = await alice.post<Val>('/v1/vals/', { code: '1' })
  assert.equal(status, 201)
  assert.equal((await alice.get('/v1/me/')).status, 200)
  assert.equal((await alice.get(`/v1/vals/${body.id}/`)).status, 200)
  assert.equal((await alice.get(`/v1/vals/${body.id}/versions/1/`)).status, 200)
  assert.equal((await alice.get('/v1/me/vals/?limit=1')).status, 200)
  assert.equal((await alice.delete(`/v1/vals/${body.id}/`)).status, 204)
})

test('a malformed id in a path answers 404, like an unknown one', async () => {
  const alice = await newCaller(server, 'alice')
  const malformed = ['1', 'me', '%00', '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f4', `0199f2ab'--`, '%F0%9F%8E%89']
  const unknown = '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'
  for (const id of [...malformed, unknown]) {
    const answers = [
      ...['', '/versions', '/versions/1', '/module', '/runs', '/comments'].map((rest) =>
        alice.get(`/v1/vals/${id}${rest}`),
      ),
      alice.get(`/v1/users/${id}`),
      alice.get(`/v1/users/${id}/vals`),
      alice.get(`/v1/alias/${id}-`),
      alice.get(`/v1/alias/${alice.user.username}/-${id}`),
      alice.put(`/v1/vals/${id}`, { readme: '' }),
      alice.delete(`/v1/vals/${id}`),
      alice.post(`/v1/vals/${id}/versions`, { code: '1' }),
      alice.post(`/v1/vals/${id}/comments`, { comment: '1' }),
      alice.put(`/v1/comments/${id}`, { comment: '1' }),
      alice.delete(`/v1/comments/${id}`),
      alice.put(`/v1/me/likes/${id}`),
      alice.delete(`/v1/me/likes/${id}`),
      alice.delete(`/v1/me/tokens/${id}`),
    ]
    for (const answer of await Promise.all(answers)) assertFault(answer, 'not_found')
  }
})

test('a body beyond the largest size is refused, whether it says its size or not', async () => {
  const alice = await newCaller(server, 'alice')
  const tooLarge = ' '.repeat(limits.bodyBytesMax + 1)
  assertFault(await alice.post('/v1/vals', tooLarge, { 'content-type': 'text/plain' }), 'payload_too_large')
  assert.equal(await statusOfChunkedPost(alice.user.token, tooLarge), 413)
})

/** fetch always names the length of a text, so this one speaks HTTP itself. */
function statusOfChunkedPost(token: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/plain' }
    const sent = request(new URL('/v1/vals', server.url), { method: 'POST', headers }, (incoming) => {
      resolve(incoming.statusCode)
      incoming.destroy()
    })
    sent.on('error', reject)
    sent.write(body.slice(0, 100))
    sent.end(body.slice(100))
  })
}

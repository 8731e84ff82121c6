import assert from 'node:assert/strict'
import { request } from 'node:http'
import { after, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Operation } from '@valley/contract/operation.ts'
import { operations } from '@valley/contract/operations.ts'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)
const someId = '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'

const methodsByPath = Map.groupBy(Object.values<Operation>(operations), ({ path }) => path)
const everyPath = [...methodsByPath].map(([path, declared]) => ({
  path: path.replaceAll(/\{\w+\}/g, someId),
  methods: declared.map(({ method }) => method as string),
}))

test('a method that a path does not take answers 405 and says which it takes', async () => {
  for (const { path, methods } of everyPath) {
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      if (allowed.includes(method)) continue
      const answer = await anyone.send(method, path)
      assertFault(answer, 'method_not_allowed')
      assert.deepEqual(answer.headers.get('allow')?.split(', '), allowed, `${method} ${path}`)
    }
  }
})

test('OPTIONS on every path allows any origin, the methods, and the headers that clients send', async () => {
  for (const { path, methods } of everyPath) {
    const headers = { origin: 'https://example.com', 'access-control-request-method': methods[0] ?? 'GET' }
    const answer = await anyone.send('OPTIONS', path, { headers })
    assert.equal(answer.status, 204)
    assert.equal(answer.text, '')
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    const allowed = answer.headers.get('access-control-allow-methods')?.split(', ')
    assert.deepEqual(
      methods.filter((method) => !allowed?.includes(method)),
      [],
    )
    const sendable = answer.headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
    for (const name of ['authorization', 'content-type', 'if-match', 'if-none-match', 'idempotency-key']) {
      assert.ok(sendable.includes(name), name)
    }
  }
})

test('any page may read any answer, its headers too, and no cookie is ever set', async () => {
  const alice = await newCaller(server, 'alice')
  const page = { origin: 'https://page.example' }
  const answers = [
    await alice.get('/v1/me', page),
    await alice.post('/v1/vals', { code: '1' }, page),
    await alice.post('/v1/vals', {}, page),
    await anyone.get('/v1/me', page),
    await anyone.get('/v1/nowhere', page),
    await anyone.send('PATCH', '/v1/me', { headers: page }),
  ]
  for (const { headers } of answers) {
    assert.equal(headers.get('access-control-allow-origin'), '*')
    const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? []
    for (const name of ['etag', 'location', 'retry-after', 'x-request-id', 'x-should-retry']) {
      assert.ok(exposed.includes(name), name)
    }
    assert.equal(headers.has('set-cookie'), false)
    assert.equal(headers.has('access-control-allow-credentials'), false)
  }
})

test('HEAD answers as GET does, without the body', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  for (const path of [
    `/v1/vals/${id}`,
    '/v1/me',
    `/v1/vals/${id}/module`,
    `/v1/vals/${someId}`,
    '/healthz',
  ]) {
    const [head, get] = [await alice.send('HEAD', path), await alice.get(path)]
    assert.equal(head.status, get.status)
    assert.equal(head.text, '')
    assert.equal(head.headers.get('etag'), get.headers.get('etag'))
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'))
  }
  assert.equal((await anyone.send('HEAD', '/v1/me')).status, 401)
})

test('an unknown route answers 404 in the shape of every error', async () => {
  for (const path of ['/nowhere', '/v1', '/v2/me', '/v1/vals/a/b/c/d', '/docs/nothing.js', '/v1//vals']) {
    assertFault(await anyone.get(path), 'not_found')
  }
})

test('an error has a code, a sentence, the requestId, and issues for 400 only', async () => {
  const alice = await newCaller(server, 'alice')
  await createVal(alice, { name: 'taken' })
  const invalid = assertFault(await alice.post('/v1/vals', { name: 7 }), 'invalid_request')
  assert.deepEqual(Object.keys(invalid).toSorted(), ['code', 'issues', 'message', 'requestId'])
  for (const issue of invalid.issues ?? []) assert.deepEqual(Object.keys(issue), ['path', 'message'])
  const others = [
    assertFault(await anyone.get('/v1/me'), 'unauthenticated'),
    assertFault(await alice.get(`/v1/vals/${someId}`), 'not_found'),
    assertFault(await alice.post('/v1/vals', { name: 'taken', code: '1' }), 'name_taken'),
    assertFault(await anyone.send('PATCH', '/v1/me'), 'method_not_allowed'),
  ]
  for (const body of others) {
    assert.deepEqual(Object.keys(body).toSorted(), ['code', 'message', 'requestId'])
    assert.match(body.message, /^[A-Z].+[.!…"]$/)
  }
})

test('401 says how to authenticate', async () => {
  for (const token of [null, 'nonsense', `vly_${'0'.repeat(49)}`]) {
    const answer = await callAs(server, token).get('/v1/me')
    assertFault(answer, 'unauthenticated')
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer')
  }
})

test('an Authorization header that is no bearer token is refused also where none is needed', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  const { token } = alice.user
  for (const authorization of ['Basic YTpi', 'Bearer', `Bearer ${token} x`, token, `Token ${token}`]) {
    assertFault(await anyone.get(`/v1/vals/${id}`, { authorization }), 'unauthenticated')
  }
  assert.equal((await anyone.get('/v1/me', { authorization: `bearer  ${token}` })).status, 200)
})

test("a caller's own request id comes back where it is well-formed, otherwise a new one", async () => {
  const own = 'trace-0123456789.abc_DEF'
  const answer = await anyone.get('/v1/nowhere', { 'x-request-id': own })
  assert.equal(assertFault(answer, 'not_found').requestId, own)
  assert.equal((await anyone.get('/healthz', { 'x-request-id': own })).headers.get('x-request-id'), own)
  const fresh = new Set<string | null>()
  for (const bad of ['short', 'x'.repeat(65), 'with space in it', '<script>alert(1)</script>']) {
    const id = (await anyone.get('/healthz', { 'x-request-id': bad })).headers.get('x-request-id')
    assert.notEqual(id, bad)
    fresh.add(id)
  }
  assert.equal(fresh.size, 4)
})

interface RawAnswer {
  readonly encoding: string | undefined
  readonly etag: string | undefined
  readonly bytes: Buffer
}

/** fetch decodes what it gets and hides what came over the wire. */
function readRaw(path: string, acceptEncoding?: string): Promise<RawAnswer> {
  const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.url), { headers }, (incoming) => {
      incoming.toArray().then(
        (chunks) =>
          resolve({
            encoding: incoming.headers['content-encoding'],
            etag: incoming.headers.etag,
            bytes: Buffer.concat(chunks as Buffer[]),
          }),
        reject,
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

const codeOf = (bytes: Buffer) => (JSON.parse(bytes.toString()) as Val).code

test('an answer over 1 KiB is compressed as the caller takes it, a smaller one is not', async () => {
  const alice = await newCaller(server, 'alice')
  const large = await createVal(alice, { code: 'large '.repeat(400) })
  const path = `/v1/vals/${large.id}`
  const br = await readRaw(path, 'gzip, deflate, br')
  assert.equal(br.encoding, 'br')
  assert.equal(codeOf(brotliDecompressSync(br.bytes)), large.code)
  const gzip = await readRaw(path, 'gzip')
  assert.equal(gzip.encoding, 'gzip')
  assert.equal(codeOf(gunzipSync(gzip.bytes)), large.code)
  assert.ok(gzip.bytes.length < 1_024)
  for (const accept of [undefined, 'identity', 'gzip;q=0, br;q=0', 'deflate']) {
    const plain = await readRaw(path, accept)
    assert.equal(plain.encoding, undefined)
    assert.equal(codeOf(plain.bytes), large.code)
  }
  const small = await createVal(alice, { code: 'small' })
  assert.equal((await readRaw(`/v1/vals/${small.id}`, 'br, gzip')).encoding, undefined)
})

test('1 KiB is counted in bytes, not in characters', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { code: '語'.repeat(500) })
  assert.equal((await readRaw(`/v1/vals/${id}/module`, 'gzip')).encoding, 'gzip')
})

test('an ETag that came with a compressed answer is good for 304 and for a save', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { code: 'large '.repeat(400) })
  const { etag = assert.fail() } = await readRaw(`/v1/vals/${id}`, 'br')
  assert.match(etag, /^W\//, 'bytes differ between encodings, so it is a weak one')
  assert.equal((await alice.get(`/v1/vals/${id}`, { 'if-none-match': etag })).status, 304)
  assert.equal((await alice.put(`/v1/vals/${id}`, { readme: 'r' }, { 'if-match': etag })).status, 204)
})

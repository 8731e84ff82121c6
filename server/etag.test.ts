import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from './testing/assert-fault.ts'
import { type Answer, callAs, newCaller, type TestCaller } from './testing/call-as.ts'
import { createVal, readVal, saveCode } from './testing/create-val.ts'
import { openTestServer } from './testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

async function etagOf(path: string, caller: TestCaller = anyone): Promise<string> {
  const { status, headers } = await caller.get(path)
  assert.equal(status, 200)
  return headers.get('etag') ?? assert.fail(`${path} has no ETag`)
}

interface Write {
  readonly name: string
  readonly send: (caller: TestCaller, val: Val, headers: Record<string, string>) => Promise<Answer<unknown>>
  /** What it is that the write takes If-Match of. */
  readonly pathOf: (val: Val) => string
  readonly success: number
}

const valPath = ({ id }: Val) => `/v1/vals/${id}`
const writes: readonly Write[] = [
  {
    name: 'PUT by name',
    send: (caller, { name }, headers) => caller.put('/v1/vals', { name, code: 'new' }, headers),
    pathOf: valPath,
    success: 200,
  },
  {
    name: 'PUT by id',
    send: (caller, { id }, headers) => caller.put(`/v1/vals/${id}`, { readme: 'new' }, headers),
    pathOf: valPath,
    success: 204,
  },
  {
    name: 'POST of a version',
    send: (caller, { id }, headers) => caller.post(`/v1/vals/${id}/versions`, { code: 'new' }, headers),
    pathOf: valPath,
    success: 201,
  },
  {
    name: 'DELETE of a version',
    send: (caller, { id }, headers) => caller.delete(`/v1/vals/${id}/versions/1`, headers),
    pathOf: ({ id }) => `/v1/vals/${id}/versions/1`,
    success: 204,
  },
  {
    name: 'DELETE of a val',
    send: (caller, { id }, headers) => caller.delete(`/v1/vals/${id}`, headers),
    pathOf: valPath,
    success: 204,
  },
]

async function valWithTwoVersions(caller: TestCaller): Promise<Val> {
  return saveCode(caller, await createVal(caller), 'export default 2')
}

for (const { name, send, pathOf, success } of writes) {
  test(`${name} with a stale If-Match is refused and changes nothing; with the current one it is done`, async () => {
    const alice = await newCaller(server, 'alice')
    const val = await valWithTwoVersions(alice)
    const stale = await etagOf(pathOf(val))
    assert.equal((await alice.put(`/v1/vals/${val.id}`, { readme: 'meanwhile' })).status, 204)
    const before = await readVal(alice, val)
    assertFault(await send(alice, val, { 'if-match': stale }), 'precondition_failed')
    for (const foreign of ['"not-one-of-ours"', '']) {
      assertFault(await send(alice, val, { 'if-match': foreign }), 'precondition_failed')
    }
    assert.deepEqual(await readVal(alice, val), before)
    const fresh = await etagOf(pathOf(val))
    assert.equal((await send(alice, val, { 'if-match': fresh })).status, success)
  })

  test(`${name} takes If-Match: * and lists of ETags, weak ones too`, async () => {
    const alice = await newCaller(server, 'alice')
    const [one, two] = [await valWithTwoVersions(alice), await valWithTwoVersions(alice)]
    assert.equal((await send(alice, one, { 'if-match': '*' })).status, success)
    const listed = `"other", W/${await etagOf(pathOf(two))}`
    assert.equal((await send(alice, two, { 'if-match': listed })).status, success)
  })

  test(`a like in between does not make ${name} stale`, async () => {
    const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
    const val = await valWithTwoVersions(alice)
    const etag = await etagOf(pathOf(val))
    assert.equal((await bob.put(`/v1/me/likes/${val.id}`)).status, 204)
    assert.equal((await send(alice, val, { 'if-match': etag })).status, success)
  })
}

test('If-Match on PUT by name never creates a val', async () => {
  const alice = await newCaller(server, 'alice')
  for (const ifMatch of ['*', '"1-1700000000000-0-0-alice"']) {
    const answer = await alice.put('/v1/vals', { name: 'absent', code: '1' }, { 'if-match': ifMatch })
    assertFault(answer, 'precondition_failed')
  }
  assertFault(await alice.get(`/v1/alias/${alice.user.username}/absent`), 'not_found')
})

test('of 10 parallel saves with the same If-Match, one is done', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const etag = await etagOf(`/v1/vals/${val.id}`)
  const saves = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      alice.post(`/v1/vals/${val.id}/versions`, { code: `${i}` }, { 'if-match': etag }),
    ),
  )
  assert.equal(saves.filter(({ status }) => status === 201).length, 1)
  assert.equal(saves.filter(({ status }) => status === 412).length, 9)
  assert.equal((await readVal(alice, val)).version, 2)
})

test('a stale If-Match tells a stranger no more than the request without it', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const { id } = await createVal(alice, { privacy: 'private' })
  assertFault(await bob.put(`/v1/vals/${id}`, { readme: 'x' }, { 'if-match': '"1-1-0-0-a"' }), 'not_found')
})

test('If-None-Match of the current ETag gives 304 without a body, for a val, by name, and for a version', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await valWithTwoVersions(alice)
  const paths = [
    `/v1/vals/${val.id}`,
    `/v1/vals/${val.id}/versions/1`,
    `/v1/alias/${alice.user.username}/${val.name}`,
  ]
  for (const path of paths) {
    const etag = await etagOf(path)
    for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const { status, text, headers } = await anyone.get(path, { 'if-none-match': known })
      assert.deepEqual({ status, text, etag: headers.get('etag') }, { status: 304, text: '', etag })
    }
    assert.equal((await anyone.get(path, { 'if-none-match': '"other"' })).status, 200)
  }
})

test('whatever an answer shows changes its ETag', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await valWithTwoVersions(alice)
  const path = `/v1/vals/${val.id}`
  const changes = [
    () => saveCode(alice, val, 'export default 3'),
    () => alice.put(path, { readme: 'new' }),
    () => alice.put(path, { privacy: 'unlisted' }),
    () => bob.put(`/v1/me/likes/${val.id}`),
    () => alice.delete(`${path}/versions/3`),
    () => alice.put('/v1/me', { username: `${alice.user.username}-b` }),
  ]
  const seen = [await etagOf(path)]
  for (const change of changes) {
    await change()
    const { status, headers } = await anyone.get(path, { 'if-none-match': seen.join(', ') })
    assert.equal(status, 200)
    seen.push(headers.get('etag') ?? assert.fail())
  }
  assert.equal(new Set(seen).size, seen.length)
})

test('the answer to a save has the ETag that a read then has', async () => {
  const alice = await newCaller(server, 'alice')
  const created = await alice.post<Val>('/v1/vals', { name: 'saved', code: '1' })
  const path = `/v1/vals/${created.body.id}`
  assert.equal(created.headers.get('etag'), await etagOf(path))
  const put = await alice.put('/v1/vals', { name: 'saved', code: '2' })
  assert.equal(put.headers.get('etag'), await etagOf(path))
  const version = await alice.post(`${path}/versions`, { code: '3' })
  assert.equal(version.headers.get('etag'), await etagOf(path))
  assert.equal(version.headers.get('etag'), await etagOf(`${path}/versions/3`))
})

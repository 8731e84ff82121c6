import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import type { Version } from '@valley/contract/versions.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, readVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

test('a private val answers 404 to everyone but its owner', async () => {
  const alice = await newCaller(server, 'alice')
  const bob = await newCaller(server, 'bob')
  const { id } = await createVal(alice, { privacy: 'private' })
  assert.equal((await alice.get(`/v1/vals/${id}`)).status, 200)
  assertFault(await bob.get(`/v1/vals/${id}`), 'not_found')
  assertFault(await anyone.get(`/v1/vals/${id}`), 'not_found')
})

test("someone else's private val answers word for word as a missing one", async () => {
  const alice = await newCaller(server, 'alice')
  const bob = await newCaller(server, 'bob')
  const { id } = await createVal(alice, { privacy: 'private' })
  const missing = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const answerTo = async (path: string) => {
    const { code, message } = assertFault(await bob.get(path), 'not_found')
    return { code, message }
  }
  for (const rest of ['', '/versions', '/versions/1', '/module', '/runs', '/comments']) {
    assert.deepEqual(await answerTo(`/v1/vals/${id}${rest}`), await answerTo(`/v1/vals/${missing}${rest}`))
  }
})

test('a new val has all that it was given, and says where it is', async () => {
  const alice = await newCaller(server, 'alice')
  const fields = {
    name: 'weather',
    code: 'export default 42',
    readme: '# Hi',
    privacy: 'unlisted',
    type: 'http',
  }
  const { status, headers, body } = await alice.post<Val>('/v1/vals', fields)
  assert.equal(status, 201)
  const self = `${server.url}/v1/vals/${body.id}`
  assert.equal(headers.get('location'), self)
  const { id, username } = alice.user
  assert.partialDeepStrictEqual(body, { ...fields, author: { id, username }, version: 1, likeCount: 0 })
  assert.equal(body.links.self, self)
  assert.equal(body.links.versions, `${self}/versions`)
  assert.equal(body.links.runs, `${self}/runs`)
  assert.equal(body.links.module, `${self}/module`)
  assert.deepEqual(await readVal(alice, body), body)
})

test('a val that is given only code is public, a script, without readme, and has a readable name', async () => {
  const alice = await newCaller(server, 'alice')
  const [first, second] = await Promise.all([createVal(alice), createVal(alice)])
  assert.partialDeepStrictEqual(first, { privacy: 'public', type: 'script', readme: null, version: 1 })
  assert.match(first.name, /^[a-z]+[A-Z][a-z]+\d{4}$/)
  assert.notEqual(first.name, second.name)
})

test('times are ISO 8601 in UTC with milliseconds, and ids are UUIDv7', async () => {
  const before = Date.now()
  const val = await createVal(await newCaller(server))
  assert.match(val.id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  for (const time of [val.createdAt, val.updatedAt, val.versionCreatedAt]) {
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.ok(Date.parse(time) >= before && Date.parse(time) <= Date.now())
  }
})

test('a name that is in use is refused without regard to case, and a client need not try again', async () => {
  const alice = await newCaller(server, 'alice')
  await createVal(alice, { name: 'Weather' })
  const refused = await alice.post('/v1/vals', { name: 'wEATHER', code: '1' })
  assert.match(assertFault(refused, 'name_taken').message, /wEATHER/)
  assert.equal(refused.headers.get('x-should-retry'), 'false')
})

test('a name that is in use is refused as a new name, by PUT and by a new version, and nothing changes', async () => {
  const alice = await newCaller(server, 'alice')
  await createVal(alice, { name: 'taken' })
  const val = await createVal(alice, { name: 'mine' })
  const refusals = [
    await alice.put(`/v1/vals/${val.id}`, { name: 'Taken', readme: 'new' }),
    await alice.post(`/v1/vals/${val.id}/versions`, { name: 'TAKEN', code: 'export default 2' }),
  ]
  for (const refusal of refusals) {
    assertFault(refusal, 'name_taken')
    assert.equal(refusal.headers.get('x-should-retry'), 'false')
  }
  assert.deepEqual(await readVal(alice, val), val)
})

test('two users may each have a val of the same name', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  assert.notEqual((await createVal(alice, { name: 'same' })).id, (await createVal(bob, { name: 'same' })).id)
})

test('a val may change the case of its own name', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'weather' })
  assert.equal((await alice.put(`/v1/vals/${val.id}`, { name: 'Weather' })).status, 204)
  assert.equal((await readVal(alice, val)).name, 'Weather')
})

test('a deleted val is gone, with its versions, and its name is free again', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'phoenix' })
  const { status, text } = await alice.delete(`/v1/vals/${val.id}`)
  assert.deepEqual({ status, text }, { status: 204, text: '' })
  for (const rest of ['', '/versions', '/versions/1', '/module', '/runs', '/comments']) {
    assertFault(await alice.get(`/v1/vals/${val.id}${rest}`), 'not_found')
  }
  assertFault(await alice.get(`/v1/alias/${alice.user.username}/phoenix`), 'not_found')
  assertFault(await alice.delete(`/v1/vals/${val.id}`), 'not_found')
  const again = await createVal(alice, { name: 'Phoenix' })
  assert.notEqual(again.id, val.id)
  assert.equal(again.version, 1)
})

test('PUT creates a val with 201 and a Location, then saves new code as the next version with 200', async () => {
  const alice = await newCaller(server, 'alice')
  const created = await alice.put<Val>('/v1/vals', { name: 'put', code: '1', readme: 'kept' })
  assert.equal(created.status, 201)
  assert.equal(created.headers.get('location'), created.body.links.self)
  const changed = await alice.put<Val>('/v1/vals', { name: 'PUT', code: '2' })
  assert.equal(changed.status, 200)
  assert.partialDeepStrictEqual(changed.body, { id: created.body.id, version: 2, code: '2', readme: 'kept' })
  assert.equal(changed.headers.get('location'), null)
})

test('PUT of the same code and fields makes no new version and changes nothing', async () => {
  const alice = await newCaller(server, 'alice')
  const fields = { name: 'same', code: '1', readme: 'r', privacy: 'unlisted', type: 'http' }
  const created = await alice.put<Val>('/v1/vals', fields)
  for (const again of [fields, { name: 'same', code: '1' }]) {
    const { status, body, headers } = await alice.put<Val>('/v1/vals', again)
    assert.equal(status, 200)
    assert.deepEqual(body, created.body)
    assert.equal(headers.get('etag'), created.headers.get('etag'))
  }
})

test('PUT of the same code with other fields changes them without a new version', async () => {
  const alice = await newCaller(server, 'alice')
  await alice.put('/v1/vals', { name: 'fields', code: '1', readme: 'r' })
  const { status, body } = await alice.put<Val>('/v1/vals', {
    name: 'fields',
    code: '1',
    readme: null,
    privacy: 'private',
    type: 'http',
  })
  assert.equal(status, 200)
  assert.partialDeepStrictEqual(body, { version: 1, readme: null, privacy: 'private', type: 'http' })
})

test('PUT by id changes name, readme, privacy and type without a new version, and leaves out what is left out', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { readme: 'old' })
  const path = `/v1/vals/${val.id}`
  assert.equal((await alice.put(path, { name: 'renamed' })).status, 204)
  assert.partialDeepStrictEqual(await readVal(alice, val), { name: 'renamed', readme: 'old', version: 1 })
  const change = { readme: 'new', privacy: 'private', type: 'http' } as const
  assert.equal((await alice.put(path, change)).status, 204)
  const now = await readVal(alice, val)
  assert.partialDeepStrictEqual(now, { ...change, name: 'renamed', version: 1, code: val.code })
  assert.ok(now.updatedAt > val.updatedAt)
  assert.equal(now.versionCreatedAt, val.versionCreatedAt)
  assert.equal((await alice.put(path, { readme: null })).status, 204)
  assert.equal((await readVal(alice, val)).readme, null)
})

test('PUT by id of what the val already has changes nothing, not even updatedAt', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  for (const same of [{}, { name: val.name }, { privacy: 'public', readme: null }]) {
    assert.equal((await alice.put(`/v1/vals/${val.id}`, same)).status, 204)
  }
  assert.deepEqual(await readVal(alice, val), val)
})

test("a stranger's write on a val that everyone may see is forbidden, and changes nothing", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  for (const privacy of ['public', 'unlisted'] as const) {
    const val = await createVal(alice, { privacy })
    await saveCode(alice, val, 'export default 2')
    const before = await readVal(alice, val)
    assertFault(await bob.put(`/v1/vals/${val.id}`, { readme: 'mine now' }), 'forbidden')
    assertFault(await bob.post(`/v1/vals/${val.id}/versions`, { code: 'mine' }), 'forbidden')
    assertFault(await bob.delete(`/v1/vals/${val.id}/versions/1`), 'forbidden')
    assertFault(await bob.delete(`/v1/vals/${val.id}`), 'forbidden')
    assert.deepEqual(await readVal(alice, val), before)
  }
})

test('names, codes and readmes are taken up to their bounds and refused beyond, with the field named', async () => {
  const alice = await newCaller(server, 'alice')
  const bounds = {
    name: 'n'.repeat(48),
    code: 'c'.repeat(256_000),
    readme: 'r'.repeat(65_536),
  }
  const { status, body } = await alice.post<Val>('/v1/vals', bounds)
  assert.equal(status, 201)
  assert.deepEqual(await readVal(alice, body), body)
  const beyond = [
    { ...bounds, name: 'n'.repeat(49) },
    { ...bounds, name: '9lives' },
    { ...bounds, name: 'with-hyphen' },
    { ...bounds, name: '' },
    { ...bounds, code: `${bounds.code}c` },
    { ...bounds, code: '' },
    { ...bounds, readme: `${bounds.readme}r` },
    { ...bounds, privacy: 'secret' },
    { ...bounds, type: 'cron' },
  ]
  for (const fields of beyond) {
    const changed = Object.entries(fields).find(([key, value]) => bounds[key as 'name'] !== value)?.[0]
    const { issues } = assertFault(await alice.post('/v1/vals', fields), 'invalid_request')
    assert.deepEqual(
      issues?.map(({ path }) => path),
      [`body.${changed}`],
    )
  }
})

test('the module is the code itself, of the current version or of the one asked for', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'export default "ä"' })
  await saveCode(alice, val, 'export default 2')
  const current = await anyone.get(`/v1/vals/${val.id}/module`)
  assert.equal(current.headers.get('content-type'), 'application/typescript; charset=utf-8')
  assert.equal(current.text, 'export default 2')
  assert.equal((await anyone.get(`/v1/vals/${val.id}/module?version=1`)).text, 'export default "ä"')
  assertFault(await anyone.get(`/v1/vals/${val.id}/module?version=3`), 'not_found')
  assertFault(await anyone.get(`/v1/vals/${val.id}/module?version=none`), 'invalid_request')
})

test('a val is found by owner and name without regard to the case of the name', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'myWeather' })
  const { status, body } = await anyone.get<Val>(`/v1/alias/${alice.user.username}/MYWEATHER`)
  assert.equal(status, 200)
  assert.deepEqual(body, val)
  assertFault(await anyone.get(`/v1/alias/${alice.user.username}/other`), 'not_found')
  assertFault(await anyone.get(`/v1/alias/nobody-here/myWeather`), 'not_found')
})

test('an unlisted val is readable by its id without a token, but not by its name', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { privacy: 'unlisted' })
  const byName = `/v1/alias/${alice.user.username}/${val.name}`
  assert.deepEqual(await readVal(anyone, val), val)
  assertFault(await anyone.get(byName), 'not_found')
  assert.equal((await alice.get(byName)).status, 200)
})

async function listedIds(caller: TestCaller, path: string): Promise<readonly string[]> {
  return (await readList<BasicVal>(caller, path)).data.map(({ id }) => id)
}

test("a user's vals are listed newest first: all to themselves, public ones to others", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const made: Val[] = []
  for (const privacy of ['public', 'unlisted', 'private', 'public'] as const) {
    made.push(await createVal(alice, { privacy, readme: 'long' }))
  }
  const newestFirst = made.toReversed()
  const path = `/v1/users/${alice.user.id}/vals`
  const all = newestFirst.map(({ id }) => id)
  assert.deepEqual(await listedIds(alice, '/v1/me/vals'), all)
  assert.deepEqual(await listedIds(alice, path), all)
  assert.deepEqual(await listedIds(bob, path), [all[0], all[3]])
  assert.deepEqual(await listedIds(bob, '/v1/me/vals'), [])
  const [newest] = (await readList<BasicVal>(bob, path)).data
  const {
    readme: _,
    likeCount: __,
    referenceCount: ___,
    ...basic
  } = await readVal(bob, made[3] ?? assert.fail())
  assert.deepEqual(newest, basic)
  assertFault(await bob.get(`/v1/users/${made[0]?.id}/vals`), 'not_found')
})

test('20 parallel PUTs of one new name make one val, and its versions are what they saved', async () => {
  const alice = await newCaller(server, 'alice')
  const puts = await Promise.all(
    Array.from({ length: 20 }, (_, i) => alice.put<Val>('/v1/vals', { name: 'race', code: `${i}` })),
  )
  assert.equal(new Set(puts.map(({ body }) => body.id)).size, 1)
  assert.equal(puts.filter(({ status }) => status === 201).length, 1)
  const [val] = (await readList<BasicVal>(alice, '/v1/me/vals')).data
  const { data } = await readList<Version>(alice, `/v1/vals/${val?.id}/versions?limit=100`)
  assert.deepEqual(
    data.map(({ version }) => version),
    Array.from({ length: 20 }, (_, i) => 20 - i),
  )
})

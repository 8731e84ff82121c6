import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Val } from '@valley/contract/vals.ts'
import type { Version } from '@valley/contract/versions.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { createVal, readVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

async function versionNumbers(val: Val): Promise<readonly number[]> {
  const { data } = await readList<Version>(anyone, `/v1/vals/${val.id}/versions`)
  return data.map(({ version }) => version)
}

test('new code is saved as the next version, which says where it is and becomes current', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const fields = { code: 'export default 2', name: 'other', readme: 'r', privacy: 'unlisted', type: 'http' }
  const { status, headers, body } = await alice.post<Val>(`/v1/vals/${val.id}/versions`, fields)
  assert.equal(status, 201)
  assert.equal(headers.get('location'), `${server.url}/v1/vals/${val.id}/versions/2`)
  assert.partialDeepStrictEqual(body, { ...fields, id: val.id, version: 2, createdAt: val.createdAt })
  assert.ok(body.versionCreatedAt > val.versionCreatedAt)
  assert.deepEqual(await readVal(alice, val), body)
})

test('unchanged code answers 200 and makes no version, also when other fields change', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const path = `/v1/vals/${val.id}/versions`
  const same = await alice.post<Val>(path, { code: val.code })
  assert.equal(same.status, 200)
  assert.deepEqual(same.body, val)
  const renamed = await alice.post<Val>(path, { code: val.code, name: 'renamed', readme: 'r' })
  assert.equal(renamed.status, 200)
  assert.partialDeepStrictEqual(renamed.body, { name: 'renamed', readme: 'r', version: 1 })
  assert.equal(renamed.headers.get('location'), null)
  assert.deepEqual(await versionNumbers(val), [1])
})

test('code that an older version had is a new version again', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'one' })
  await saveCode(alice, val, 'two')
  assert.equal((await saveCode(alice, val, 'one')).version, 3)
})

test('versions are listed newest first, with their val, author and time', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const second = await saveCode(alice, val, 'export default 2')
  const { data } = await readList<Version>(anyone, `/v1/vals/${val.id}/versions`)
  const { id, username } = alice.user
  const of = { val_id: val.id, author: { id, username } }
  assert.deepEqual(data, [
    { ...of, version: 2, createdAt: second.versionCreatedAt },
    { ...of, version: 1, createdAt: val.versionCreatedAt },
  ])
})

test("one version is the whole val with that version's code, number and time", async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { readme: 'r' })
  await saveCode(alice, val, 'export default 2')
  const current = await readVal(alice, val)
  const { status, body } = await anyone.get<Val>(`/v1/vals/${val.id}/versions/1`)
  assert.equal(status, 200)
  const { code, versionCreatedAt } = val
  assert.deepEqual(body, { ...current, version: 1, code, versionCreatedAt })
})

test('limit and offset on one version are ignored, whatever they are: old clients send them', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const { status, body } = await alice.get<Val>(`/v1/vals/${val.id}/versions/1?limit=0&offset=-1`)
  assert.equal(status, 200)
  assert.deepEqual(body, val)
})

test('a version keeps its code while name, readme, privacy and type change with the val', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  await saveCode(alice, val, 'export default 2')
  await alice.put(`/v1/vals/${val.id}`, { name: 'later', readme: 'later', type: 'http' })
  const { body } = await alice.get<Val>(`/v1/vals/${val.id}/versions/1`)
  assert.partialDeepStrictEqual(body, { code: val.code, name: 'later', readme: 'later', type: 'http' })
})

test('deleting the current version makes the newest remaining one current', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'one' })
  await saveCode(alice, val, 'two')
  await saveCode(alice, val, 'three')
  const { status, text } = await alice.delete(`/v1/vals/${val.id}/versions/3`)
  assert.deepEqual({ status, text }, { status: 204, text: '' })
  assert.partialDeepStrictEqual(await readVal(alice, val), { version: 2, code: 'two' })
  assert.equal((await alice.delete(`/v1/vals/${val.id}/versions/2`)).status, 204)
  const now = await readVal(alice, val)
  assert.partialDeepStrictEqual(now, { version: 1, code: 'one', versionCreatedAt: val.versionCreatedAt })
  assert.equal((await anyone.get(`/v1/vals/${val.id}/module`)).text, 'one')
  assert.deepEqual(await versionNumbers(val), [1])
})

test('deleting an older version leaves the current one as it is', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'one' })
  const current = await saveCode(alice, val, 'two')
  assert.equal((await alice.delete(`/v1/vals/${val.id}/versions/1`)).status, 204)
  assert.deepEqual(await readVal(alice, val), current)
  assertFault(await alice.get(`/v1/vals/${val.id}/versions/1`), 'not_found')
  assertFault(await alice.delete(`/v1/vals/${val.id}/versions/1`), 'not_found')
})

test('the only version cannot be deleted', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'one' })
  await saveCode(alice, val, 'two')
  await alice.delete(`/v1/vals/${val.id}/versions/1`)
  const refused = await alice.delete(`/v1/vals/${val.id}/versions/2`)
  assertFault(refused, 'last_version')
  assert.partialDeepStrictEqual(await readVal(alice, val), { version: 2, code: 'two' })
})

test('a version number is never given twice, also after the newest was deleted', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'one' })
  await saveCode(alice, val, 'two')
  await alice.delete(`/v1/vals/${val.id}/versions/2`)
  assert.equal((await saveCode(alice, val, 'two')).version, 3)
  const put = await alice.put<Val>('/v1/vals', { name: val.name, code: 'four' })
  assert.equal(put.body.version, 4)
  assert.deepEqual(await versionNumbers(val), [4, 3, 1])
})

test('parallel saves get consecutive numbers', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const saves = await Promise.all(Array.from({ length: 20 }, (_, i) => saveCode(alice, val, `parallel ${i}`)))
  assert.deepEqual(
    saves.map(({ version }) => version).toSorted((a, b) => a - b),
    Array.from({ length: 20 }, (_, i) => i + 2),
  )
})

test('of parallel deletions of every version, one is refused and one version stays', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  for (const code of ['two', 'three', 'four']) await saveCode(alice, val, code)
  const deletions = await Promise.all(
    [1, 2, 3, 4].map((n) => alice.delete(`/v1/vals/${val.id}/versions/${n}`)),
  )
  assert.deepEqual(
    deletions.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 204, 204, 409],
  )
  const [remaining] = await versionNumbers(val)
  assert.equal((await readVal(alice, val)).version, remaining)
})

test('a malformed or unknown version answers 404', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  for (const version of ['0', '-1', '2', '1.5', 'latest', '1e3', '99999999999', '%00', '01x']) {
    const path = `/v1/vals/${val.id}/versions/${version}`
    assertFault(await alice.get(path), 'not_found')
    assertFault(await alice.delete(path), 'not_found')
  }
})

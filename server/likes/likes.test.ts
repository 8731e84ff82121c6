import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BasicVal } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, readVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function likedBy(caller: TestCaller): Promise<readonly string[]> {
  return (await readList<BasicVal>(caller, '/v1/me/likes')).data.map(({ id }) => id)
}

test('a like counts once however often it is given, and is taken back once', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const path = `/v1/me/likes/${val.id}`
  const count = async () => (await readVal(alice, val)).likeCount
  for (let i = 0; i < 2; i++) {
    const { status, text } = await bob.put(path)
    assert.deepEqual({ status, text }, { status: 204, text: '' })
    assert.equal(await count(), 1)
  }
  assert.equal((await alice.put(path)).status, 204)
  assert.equal(await count(), 2)
  for (let i = 0; i < 2; i++) {
    assert.equal((await bob.delete(path)).status, 204)
    assert.equal(await count(), 1)
  }
})

test('parallel likes and their repetitions are counted right', async () => {
  const val = await createVal(await newCaller(server))
  const fans = await Promise.all(Array.from({ length: 10 }, () => newCaller(server, 'fan')))
  await Promise.all([...fans, ...fans].map((fan) => fan.put(`/v1/me/likes/${val.id}`)))
  const [fan = assert.fail()] = fans
  assert.equal((await readVal(fan, val)).likeCount, 10)
  await Promise.all([...fans, ...fans].map((each) => each.delete(`/v1/me/likes/${val.id}`)))
  assert.equal((await readVal(fan, val)).likeCount, 0)
})

test('liked vals are listed by the newest like, as basic vals', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [older, newer] = [await createVal(alice, { readme: 'r' }), await createVal(alice)]
  await bob.put(`/v1/me/likes/${newer.id}`)
  await bob.put(`/v1/me/likes/${older.id}`)
  const { data } = await readList<BasicVal>(bob, '/v1/me/likes')
  const { readme: _, likeCount: __, referenceCount: ___, ...basic } = older
  assert.deepEqual(data[0], basic)
  assert.equal(data[1]?.id, newer.id)
  assert.deepEqual(await likedBy(alice), [])
})

test('an unlisted val can be liked by whoever knows its id', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice, { privacy: 'unlisted' })
  assert.equal((await bob.put(`/v1/me/likes/${val.id}`)).status, 204)
  assert.deepEqual(await likedBy(bob), [val.id])
})

test('a val that turned private is left out of the likes of others, stays in those of its owner, and comes back', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const like = `/v1/me/likes/${val.id}`
  await alice.put(like)
  await bob.put(like)
  await alice.put(`/v1/vals/${val.id}`, { privacy: 'private' })
  assert.deepEqual(await likedBy(bob), [])
  assert.deepEqual(await likedBy(alice), [val.id])
  assertFault(await bob.put(like), 'not_found')
  await alice.put(`/v1/vals/${val.id}`, { privacy: 'public' })
  assert.deepEqual(await likedBy(bob), [val.id])
})

test('a like can be taken back from a val that turned private, once; then it is as if there were no such val', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const like = `/v1/me/likes/${val.id}`
  await bob.put(like)
  await alice.put(`/v1/vals/${val.id}`, { privacy: 'private' })
  assert.equal((await bob.delete(like)).status, 204)
  assert.equal((await readVal(alice, val)).likeCount, 0)
  assertFault(await bob.delete(like), 'not_found')
})

test('a deleted val is gone from the likes', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  await bob.put(`/v1/me/likes/${val.id}`)
  await alice.delete(`/v1/vals/${val.id}`)
  assert.deepEqual(await likedBy(bob), [])
  assertFault(await bob.delete(`/v1/me/likes/${val.id}`), 'not_found')
})

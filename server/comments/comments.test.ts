import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Comment } from '@valley/contract/comments.ts'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function comment(caller: TestCaller, { id }: Val, text: string): Promise<Comment> {
  const { status, body } = await caller.post<Comment>(`/v1/vals/${id}/comments`, { comment: text })
  assert.equal(status, 201)
  return body
}

async function textsOf(caller: TestCaller, path: string): Promise<readonly string[]> {
  return (await readList<Comment>(caller, path)).data.map((each) => each.comment)
}

test('a comment has its text, author, times and val, and whoever may see the val sees it', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await saveCode(alice, await createVal(alice, { privacy: 'unlisted' }), 'export default 2')
  const made = await comment(bob, val, '**Nice** 🎉')
  const { id, username } = bob.user
  const mention = { id: val.id, name: val.name, author: val.author, privacy: 'unlisted', version: 2 }
  assert.partialDeepStrictEqual(made, { comment: '**Nice** 🎉', author: { id, username }, val: mention })
  assert.equal(made.createdAt, made.updatedAt)
  const stranger = await newCaller(server)
  assert.deepEqual((await readList<Comment>(stranger, `/v1/vals/${val.id}/comments`)).data, [made])
})

test('comments on a val are listed newest first', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  for (const text of ['one', 'two', 'three']) await comment(alice, val, text)
  assert.deepEqual(await textsOf(alice, `/v1/vals/${val.id}/comments`), ['three', 'two', 'one'])
})

test('a comment has 1 to 4,096 characters', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const made = await comment(alice, val, 'c'.repeat(4_096))
  for (const bad of ['', 'c'.repeat(4_096 + 1), null, 7]) {
    const answers = [
      await alice.post(`/v1/vals/${val.id}/comments`, { comment: bad }),
      await alice.put(`/v1/comments/${made.id}`, { comment: bad }),
    ]
    for (const answer of answers) {
      assert.equal(assertFault(answer, 'invalid_request').issues?.[0]?.path, 'body.comment')
    }
  }
})

test('the author changes a comment; its updatedAt follows and its createdAt does not', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const made = await comment(bob, await createVal(alice), 'before')
  const { status, body } = await bob.put<Comment>(`/v1/comments/${made.id}`, { comment: 'after' })
  assert.equal(status, 200)
  assert.deepEqual({ ...body, updatedAt: '' }, { ...made, comment: 'after', updatedAt: '' })
  assert.ok(body.updatedAt >= made.updatedAt)
})

test("only the author may change a comment, also not the val's owner", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const made = await comment(bob, val, 'mine')
  assertFault(await alice.put(`/v1/comments/${made.id}`, { comment: 'yours' }), 'forbidden')
  assert.deepEqual(await textsOf(alice, `/v1/vals/${val.id}/comments`), ['mine'])
})

test("a comment is deleted by its author or by the val's owner, and by nobody else", async () => {
  const [alice, bob, carol] = await Promise.all(
    ['alice', 'bob', 'carol'].map((name) => newCaller(server, name)),
  )
  assert.ok(alice && bob && carol)
  const val = await createVal(alice)
  const [first, second] = [await comment(bob, val, 'one'), await comment(bob, val, 'two')]
  assertFault(await carol.delete(`/v1/comments/${first.id}`), 'forbidden')
  const { status, text } = await bob.delete(`/v1/comments/${first.id}`)
  assert.deepEqual({ status, text }, { status: 204, text: '' })
  assert.equal((await alice.delete(`/v1/comments/${second.id}`)).status, 204)
  assertFault(await bob.delete(`/v1/comments/${first.id}`), 'not_found')
  assert.deepEqual(await textsOf(alice, `/v1/vals/${val.id}/comments`), [])
})

test('given are the comments I wrote, received those of others on my vals, any is both, each once', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [hers, his] = [await createVal(alice), await createVal(bob)]
  await comment(alice, hers, 'alice on hers')
  await comment(bob, hers, 'bob on hers')
  await comment(alice, his, 'alice on his')
  await comment(bob, his, 'bob on his')
  const path = '/v1/me/comments'
  assert.deepEqual(await textsOf(alice, `${path}?relationship=given`), ['alice on his', 'alice on hers'])
  assert.deepEqual(await textsOf(alice, `${path}?relationship=received`), ['bob on hers'])
  const any = ['alice on his', 'bob on hers', 'alice on hers']
  assert.deepEqual(await textsOf(alice, `${path}?relationship=any`), any)
  assert.deepEqual(await textsOf(alice, path), any)
  assertFault(await alice.get(`${path}?relationship=none`), 'invalid_request')
})

test('my comments are bounded by since and until', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const made = await comment(alice, val, 'now')
  const before = new Date(Date.parse(made.createdAt) - 1).toISOString()
  for (const relationship of ['any', 'given']) {
    const path = `/v1/me/comments?relationship=${relationship}`
    assert.deepEqual(await textsOf(alice, `${path}&since=${before}&until=${made.createdAt}`), ['now'])
    assert.deepEqual(await textsOf(alice, `${path}&since=${made.createdAt}`), [])
    assert.deepEqual(await textsOf(alice, `${path}&until=${before}`), [])
  }
})

test('comments on a val that turned private are for its owner only, though their author may take them back', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const made = await comment(bob, val, 'before')
  await alice.put(`/v1/vals/${val.id}`, { privacy: 'private' })
  for (const relationship of ['any', 'given']) {
    assert.deepEqual(await textsOf(bob, `/v1/me/comments?relationship=${relationship}`), [])
  }
  assert.deepEqual(await textsOf(alice, '/v1/me/comments?relationship=received'), ['before'])
  assertFault(await bob.get(`/v1/vals/${val.id}/comments`), 'not_found')
  assertFault(await bob.post(`/v1/vals/${val.id}/comments`, { comment: 'x' }), 'not_found')
  assertFault(await bob.put(`/v1/comments/${made.id}`, { comment: 'x' }), 'not_found')
  assertFault(await (await newCaller(server)).delete(`/v1/comments/${made.id}`), 'not_found')
  assert.equal((await bob.delete(`/v1/comments/${made.id}`)).status, 204)
})

test('the comments of a deleted val are gone at once', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const made = await comment(bob, val, 'gone')
  await alice.delete(`/v1/vals/${val.id}`)
  assert.deepEqual(await textsOf(bob, '/v1/me/comments'), [])
  assert.deepEqual(await textsOf(alice, '/v1/me/comments'), [])
  assertFault(await bob.put(`/v1/comments/${made.id}`, { comment: 'x' }), 'not_found')
  assertFault(await bob.delete(`/v1/comments/${made.id}`), 'not_found')
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { NewToken } from '@valley/contract/tokens.ts'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { type Answer, callAs, newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

const withKey = (key: string) => ({ 'idempotency-key': key })

/** What a replay must give again: all but what belongs to the one request. */
function substanceOf({ status, headers, text }: Answer<unknown>) {
  const { etag, location, 'content-type': type } = Object.fromEntries(headers)
  return { status, text, etag, location, type }
}

test('the same key and request get the first answer again, byte for byte, and there is one effect', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'commented' })
  const posts = {
    '/v1/vals': { code: 'export default 1' },
    [`/v1/vals/${val.id}/versions`]: { code: 'export default 2' },
    [`/v1/vals/${val.id}/comments`]: { comment: 'Once.' },
    '/v1/me/tokens': { name: 'once' },
  }
  for (const [path, body] of Object.entries(posts)) {
    const first = await alice.post(path, body, withKey(path))
    assert.equal(first.status, 201)
    const count = (await readList(alice, path === '/v1/vals' ? '/v1/me/vals' : path)).data.length
    const again = await alice.post(path, body, withKey(path))
    assert.deepEqual(substanceOf(again), substanceOf(first))
    assert.notEqual(again.headers.get('x-request-id'), first.headers.get('x-request-id'))
    assert.equal((await readList(alice, path === '/v1/vals' ? '/v1/me/vals' : path)).data.length, count)
  }
})

test('the first answer is given again also after what it made has changed or gone', async () => {
  const alice = await newCaller(server, 'alice')
  const first = await alice.post<Val>('/v1/vals', { code: '1' }, withKey('gone'))
  assert.equal((await alice.delete(`/v1/vals/${first.body.id}`)).status, 204)
  const again = await alice.post('/v1/vals', { code: '1' }, withKey('gone'))
  assert.deepEqual(substanceOf(again), substanceOf(first))
})

test('the same key with another body, path or query is refused and has no effect', async () => {
  const alice = await newCaller(server, 'alice')
  assert.equal((await alice.post('/v1/vals', { code: '1' }, withKey('k'))).status, 201)
  const others = [
    await alice.post('/v1/vals', { code: '2' }, withKey('k')),
    await alice.post('/v1/vals?name=other', { code: '1' }, withKey('k')),
    await alice.post('/v1/me/tokens', { name: '1' }, withKey('k')),
  ]
  for (const other of others) assertFault(other, 'idempotency_key_reused')
  assert.equal((await readList(alice, '/v1/me/vals')).data.length, 1)
})

test('20 parallel requests with the same key make one val and get one answer', async () => {
  const alice = await newCaller(server, 'alice')
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => alice.post<Val>('/v1/vals', { code: '1' }, withKey('parallel'))),
  )
  assert.equal(new Set(answers.map((answer) => JSON.stringify(substanceOf(answer)))).size, 1)
  assert.equal(answers[0]?.status, 201)
  assert.equal((await readList<BasicVal>(alice, '/v1/me/vals')).data.length, 1)
})

test('a refused request leaves its key free', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { name: 'taken' })
  assertFault(await alice.post('/v1/vals', { code: '' }, withKey('k')), 'invalid_request')
  const body = { name: 'taken', code: '2' }
  assertFault(await alice.post('/v1/vals', body, withKey('k')), 'name_taken')
  assertFault(await alice.post('/v1/vals', body, withKey('k')), 'name_taken')
  assert.equal((await alice.delete(`/v1/vals/${id}`)).status, 204)
  assert.equal((await alice.post('/v1/vals', body, withKey('k'))).status, 201)
})

test("one caller's key is nothing to another caller", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const first = await alice.post<Val>('/v1/vals', { code: '1' }, withKey('shared'))
  const second = await bob.post<Val>('/v1/vals', { code: '1' }, withKey('shared'))
  assert.equal(second.status, 201)
  assert.notEqual(second.body.id, first.body.id)
  assert.equal(second.body.author.id, bob.user.id)
})

test('a key may be used anew after 24 hours', async () => {
  const alice = await newCaller(server, 'alice')
  const first = await alice.post<Val>('/v1/vals', { code: '1' }, withKey('old'))
  const age = async (hours: number) =>
    sql`UPDATE idempotency_keys SET created_at = now() - make_interval(hours => ${hours})`.execute(server.db)
  await age(23)
  assert.equal((await alice.post<Val>('/v1/vals', { code: '1' }, withKey('old'))).body.id, first.body.id)
  await age(25)
  const anew = await alice.post<Val>('/v1/vals', { code: '2' }, withKey('old'))
  assert.equal(anew.status, 201)
  assert.notEqual(anew.body.id, first.body.id)
  assert.equal((await alice.post<Val>('/v1/vals', { code: '2' }, withKey('old'))).text, anew.text)
})

test('a key has 1 to 255 characters', async () => {
  const alice = await newCaller(server, 'alice')
  assert.equal((await alice.post('/v1/vals', { code: '1' }, withKey('k'.repeat(255)))).status, 201)
  for (const key of ['', 'k'.repeat(256)]) {
    const { issues } = assertFault(
      await alice.post('/v1/vals', { code: '1' }, withKey(key)),
      'invalid_request',
    )
    assert.equal(issues?.[0]?.path, 'headers.idempotency-key')
  }
})

test('a key on GET, PUT or DELETE is ignored', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const key = withKey('ignored')
  for (const readme of ['one', 'two']) {
    assert.equal((await alice.put(`/v1/vals/${val.id}`, { readme }, key)).status, 204)
    assert.equal((await alice.get<Val>(`/v1/vals/${val.id}`, key)).body.readme, readme)
  }
  assert.equal((await alice.delete(`/v1/vals/${val.id}`, key)).status, 204)
})

test('the secret of a token that was made under a key works, and is nowhere in the database', async () => {
  const alice = await newCaller(server, 'alice')
  const secretCode = 'export default "a rare private text"'
  const made = await alice.post<NewToken>('/v1/me/tokens', { name: 'sealed' }, withKey('secret'))
  await alice.post('/v1/vals', { code: secretCode, privacy: 'private' }, withKey('code'))
  assert.equal((await callAs(server, made.body.token).get('/v1/me')).status, 200)
  const { rows } = await sql<{ bytes: Buffer }>`
    SELECT convert_to(row_to_json(k)::text, 'UTF8') || coalesce(k.sealed_answer, '') || k.key_hash AS bytes
    FROM idempotency_keys k UNION ALL
    SELECT convert_to(row_to_json(t)::text, 'UTF8') || t.hash FROM tokens t`.execute(server.db)
  const everything = Buffer.concat(rows.map(({ bytes }) => bytes)).toString('latin1')
  assert.ok(everything.includes('sealed_answer'), 'the search looks at the right bytes')
  for (const secret of [made.body.token, made.body.token.slice(4, 40), alice.user.token, 'a rare private']) {
    assert.equal(everything.includes(secret), false)
  }
})

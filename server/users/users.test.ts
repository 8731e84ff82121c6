import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { limits } from '@valley/contract/limits.ts'
import type { Me, User } from '@valley/contract/users.ts'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { createVal, readVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { createUser } from './create-user.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

test('I see myself with email and createdAt; others see me without', async () => {
  const alice = await newCaller(server, 'alice')
  const { id, username } = alice.user
  const { body: me } = await alice.get<Me>('/v1/me')
  const { email, createdAt, ...shown } = me
  assert.equal(email, `${username}@example.com`)
  assert.ok(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000)
  assert.partialDeepStrictEqual(shown, { id, username, bio: null, profileImageUrl: null, type: 'user' })
  assert.equal(shown.links.self, `${server.url}/v1/users/${id}`)
  assert.deepEqual((await anyone.get<User>(shown.links.self)).body, shown)
  assert.deepEqual((await anyone.get<User>(`/v1/alias/${username}`)).body, shown)
})

test('what is left out of a change stays, and null clears', async () => {
  const alice = await newCaller(server, 'alice')
  const profileImageUrl = 'https://example.com/a.png'
  const first = await alice.put<Me>('/v1/me', { bio: 'Hi 🎉', profileImageUrl })
  assert.equal(first.status, 200)
  assert.partialDeepStrictEqual(first.body, { bio: 'Hi 🎉', profileImageUrl, username: alice.user.username })
  const second = await alice.put<Me>('/v1/me', { bio: null })
  assert.partialDeepStrictEqual(second.body, { bio: null, profileImageUrl })
  assert.deepEqual((await alice.put<Me>('/v1/me', {})).body, second.body)
  assert.deepEqual((await alice.get<Me>('/v1/me')).body, second.body)
})

test('a new username shows everywhere at once, and the old one is free', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const old = alice.user.username
  const username = `${old}-2`
  const val = await createVal(alice)
  assert.equal((await alice.get('/v1/me')).status, 200, 'the server has the old name in mind')
  assert.equal((await alice.put<Me>('/v1/me', { username })).body.username, username)
  const renamed = await readVal(anyone, val)
  assert.equal(renamed.author.username, username)
  assert.ok(renamed.url.includes(`/${username}/`))
  assert.equal((await createVal(alice)).author.username, username)
  const put = await alice.put<Val>('/v1/vals', { name: val.name, code: val.code })
  assert.deepEqual([put.status, put.body.author.username], [200, username])
  assert.equal((await anyone.get(`/v1/alias/${username}/${val.name}`)).status, 200)
  assertFault(await anyone.get(`/v1/alias/${old}`), 'not_found')
  assertFault(await anyone.get(`/v1/alias/${old}/${val.name}`), 'not_found')
  assert.equal((await bob.put('/v1/me', { username: old })).status, 200)
})

test('a username that is taken is refused, and a client need not try again', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const refused = await bob.put('/v1/me', { username: alice.user.username, bio: 'changed' })
  assertFault(refused, 'name_taken')
  assert.equal(refused.headers.get('x-should-retry'), 'false')
  assert.equal((await bob.get<Me>('/v1/me')).body.bio, null)
  const same = await bob.put('/v1/me', { username: bob.user.username })
  assert.equal(same.status, 200, 'my own name is not taken to me')
})

test('a username has 2 to 30 of a-z, 0-9 and single hyphens, starts with a letter and ends without a hyphen', async () => {
  const alice = await newCaller(server, 'alice')
  for (const username of ['zz', `z${'9'.repeat(29)}`, 'z-9-z']) {
    assert.equal((await alice.put('/v1/me', { username })).status, 200, username)
  }
  for (const bad of [
    'z',
    `z${'9'.repeat(30)}`,
    '9z',
    '-z',
    'z-',
    'z--z',
    'Zed',
    'z_z',
    'zé',
    '',
    null,
    'z z',
  ]) {
    const { issues } = assertFault(await alice.put('/v1/me', { username: bad }), 'invalid_request')
    assert.deepEqual(
      issues?.map(({ path }) => path),
      ['body.username'],
      String(bad),
    )
  }
})

test('bio and image have their bounds, and an image is an http or https address', async () => {
  const alice = await newCaller(server, 'alice')
  assert.equal((await alice.put('/v1/me', { bio: 'b'.repeat(limits.bioCharsMax) })).status, 200)
  const bad = [
    { bio: 'b'.repeat(limits.bioCharsMax + 1) },
    { profileImageUrl: 'javascript:alert(1)' },
    { profileImageUrl: 'not an address' },
    { profileImageUrl: `https://example.com/${'a'.repeat(limits.urlCharsMax)}` },
  ]
  for (const body of bad) assertFault(await alice.put('/v1/me', body), 'invalid_request')
})

test('an unknown user answers 404', async () => {
  assertFault(await anyone.get('/v1/users/0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'), 'not_found')
  assertFault(await anyone.get('/v1/alias/nobody-of-this-name'), 'not_found')
  assertFault(await anyone.get('/v1/alias/Not_A_Name'), 'not_found')
})

test("the operator's new user has a valid and free username", async () => {
  const alice = await newCaller(server, 'alice')
  const make = (username: string) => createUser(server.db, { username, email: null })
  await assert.rejects(make('Not A Name'), { code: 'invalid_request' })
  await assert.rejects(make(alice.user.username), { code: 'name_taken' })
})

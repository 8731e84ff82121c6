import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { scopes } from '@valley/contract/scopes.ts'
import type { NewToken, Token } from '@valley/contract/tokens.ts'
import { readConfig } from '../config.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { limits } from '../limits.ts'
import { isTokenText, newTokenText } from './token-text.ts'
import { TokenUses } from './token-uses.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function createToken(caller: TestCaller, body: object = {}): Promise<NewToken> {
  const answer = await caller.post<NewToken>('/v1/me/tokens', { name: 'test', ...body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

async function tokensOf(caller: TestCaller): Promise<readonly Token[]> {
  return (await readList<Token>(caller, '/v1/me/tokens')).data
}

test('a new token works at once, and its secret is in that one answer only', async () => {
  const alice = await newCaller(server, 'alice')
  const { token, ...rest } = await createToken(alice, { name: 'laptop' })
  assert.match(token, /^vly_[0-9A-Za-z]{49}$/)
  assert.partialDeepStrictEqual(rest, { name: 'laptop', expiresAt: null, lastUsedAt: null })
  assert.deepEqual(rest.scopes, scopes)
  assert.equal((await callAs(server, token).get('/v1/me')).status, 200)
  const [listed] = await tokensOf(alice)
  assert.deepEqual({ ...listed, lastUsedAt: null }, rest)
  const { text } = await alice.get('/v1/me/tokens')
  assert.equal(text.includes(token.slice(4, 20)), false)
})

test('a token has the scopes that were asked for, and without a list those of the token that made it', async () => {
  const alice = await newCaller(server, 'alice')
  const narrow = await createToken(alice, { scopes: ['user:write', 'val:read', 'val:read'] })
  assert.deepEqual(narrow.scopes.toSorted(), ['user:write', 'val:read'])
  const heir = await createToken(callAs(server, narrow.token))
  assert.deepEqual(heir.scopes.toSorted(), ['user:write', 'val:read'])
})

test('a token does only what its scopes allow, and a refusal names the one that is missing', async () => {
  const alice = await newCaller(server, 'alice')
  const reader = callAs(server, (await createToken(alice, { scopes: ['val:read'] })).token)
  assert.equal((await reader.get('/v1/me/vals')).status, 200)
  assert.match(assertFault(await reader.get('/v1/me'), 'forbidden_scope').message, /user:read/)
  assert.match(assertFault(await reader.get('/v1/me/runs'), 'forbidden_scope').message, /run:read/)
  const write = await reader.post('/v1/vals', { code: '1' })
  assert.match(assertFault(write, 'forbidden_scope').message, /val:write/)
})

test('a token that lacks a scope lacks it also where no token is needed', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  const { token } = await createToken(alice, { scopes: ['user:read'] })
  assertFault(await callAs(server, token).get(`/v1/vals/${id}`), 'forbidden_scope')
})

test('a token cannot grant a scope that it lacks', async () => {
  const alice = await newCaller(server, 'alice')
  const narrow = callAs(server, (await createToken(alice, { scopes: ['user:write', 'val:read'] })).token)
  const refused = await narrow.post('/v1/me/tokens', { name: 'more', scopes: ['val:read', 'val:write'] })
  assert.match(assertFault(refused, 'forbidden_scope').message, /val:write/)
  assert.equal((await tokensOf(alice)).length, 2)
})

test('a token cannot make one that outlives it, and one without an end ends with it', async () => {
  const alice = await newCaller(server, 'alice')
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
  const ending = callAs(server, (await createToken(alice, { expiresAt })).token)
  const earlier = new Date(Date.now() + 60_000).toISOString()
  const later = new Date(Date.now() + 7_200_000).toISOString()
  for (const tooLong of [later, null]) {
    assertFault(await ending.post('/v1/me/tokens', { name: 'longer', expiresAt: tooLong }), 'invalid_request')
  }
  assert.equal((await createToken(ending, {})).expiresAt, expiresAt)
  assert.equal((await createToken(ending, { expiresAt: earlier })).expiresAt, earlier)
})

test('a year of five digits is no time of expiry', async () => {
  const alice = await newCaller(server, 'alice')
  const expiresAt = '9999-12-31T23:59:59-23:59'
  assertFault(await alice.post('/v1/me/tokens', { name: 'late', expiresAt }), 'invalid_request')
})

test('a token works until it expires', async () => {
  const alice = await newCaller(server, 'alice')
  const expiresAt = new Date(Date.now() + 400)
  const made = await createToken(alice, { expiresAt: expiresAt.toISOString() })
  assert.equal(made.expiresAt, expiresAt.toISOString())
  const brief = callAs(server, made.token)
  assert.equal((await brief.get('/v1/me')).status, 200)
  await waitUntil('the token expires', async () => (await brief.get('/v1/me')).status === 401)
  assert.ok(Date.now() >= expiresAt.getTime())
  assertFault(await brief.get('/v1/search/vals?query=a'), 'unauthenticated')
})

test('a time of expiry has an offset and lies in the future, and a name has 1 to 64 characters', async () => {
  const alice = await newCaller(server, 'alice')
  const later = await createToken(alice, { expiresAt: '2099-01-01T02:00:00+02:00', name: 'n'.repeat(64) })
  assert.equal(later.expiresAt, '2099-01-01T00:00:00.000Z')
  const bad = [
    { expiresAt: '2020-01-01T00:00:00Z' },
    { expiresAt: 'tomorrow' },
    { name: '' },
    { name: 'n'.repeat(65) },
    { scopes: [] },
    { scopes: ['val:admin'] },
  ]
  for (const body of bad) {
    assertFault(await alice.post('/v1/me/tokens', { name: 'x', ...body }), 'invalid_request')
  }
})

test('a revoked token is refused from the next request on, its own revocation included', async () => {
  const alice = await newCaller(server, 'alice')
  const { id, token } = await createToken(alice)
  const revoked = callAs(server, token)
  assert.equal((await revoked.get('/v1/me')).status, 200)
  const { status, text } = await revoked.delete(`/v1/me/tokens/${id}`)
  assert.deepEqual({ status, text }, { status: 204, text: '' })
  assertFault(await revoked.get('/v1/me'), 'unauthenticated')
  assertFault(await revoked.get('/v1/search/vals?query=a'), 'unauthenticated')
  assertFault(await alice.delete(`/v1/me/tokens/${id}`), 'not_found')
  assert.equal((await alice.get('/v1/me')).status, 200, 'other tokens of the user are not touched')
})

test("nobody can revoke or list another user's tokens", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const { id, token } = await createToken(alice)
  assertFault(await bob.delete(`/v1/me/tokens/${id}`), 'not_found')
  assert.equal((await callAs(server, token).get('/v1/me')).status, 200)
  assert.equal((await tokensOf(bob)).length, 1)
})

test('a revocation is known to other servers before their memory of the token has aged', async () => {
  const alice = await newCaller(server, 'alice')
  const { id, token } = await createToken(alice)
  const config = readConfig({
    DATABASE_URL: server.databaseUrl,
    NATS_URL: process.env['TEST_NATS_URL'],
    PORT: '0',
    LOG_LEVEL: 'error',
  })
  await using other = await startServer(config, createObservations('error'))
  const there = callAs({ url: other.url, fetch: server.fetch }, token)
  const isBusUp = async () => (await there.get<{ bus: string }>('/readyz')).body.bus === 'up'
  await waitUntil('the other server is on the bus', isBusUp)
  assert.equal((await there.get('/v1/me')).status, 200)
  const knownSince = Date.now()
  await alice.delete(`/v1/me/tokens/${id}`)
  await waitUntil('the other server has heard', async () => (await there.get('/v1/me')).status === 401)
  assert.ok(Date.now() - knownSince < limits.callerAgeMaxMs)
})

test('the last use of a token is kept to the minute, and written once a minute at most', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createToken(alice)
  const use = async () => {
    await using uses = new TokenUses(server.db, (error) => assert.fail(String(error)))
    uses.note(id)
  }
  const lastUse = async () => (await tokensOf(alice)).find((token) => token.id === id)?.lastUsedAt
  const versionOfRow = async () =>
    (await sql`SELECT xmin FROM tokens WHERE id = ${id}`.execute(server.db)).rows
  assert.equal(await lastUse(), null)
  const before = Date.now()
  await use()
  const at = Date.parse((await lastUse()) ?? '')
  assert.equal(at % 60_000, 0)
  assert.ok(at <= Date.now() && at > before - 60_000)
  const written = await versionOfRow()
  await use()
  if (Math.floor(Date.now() / 60_000) * 60_000 === at) assert.deepEqual(await versionOfRow(), written)
})

test('a typo in a token is found without the database, and every token fits its checksum', () => {
  for (let i = 0; i < 50; i++) {
    const token = newTokenText()
    assert.ok(isTokenText(token))
    const at = 4 + (i % 49)
    const typo = token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
    assert.equal(isTokenText(typo), false)
  }
})

test('a mistyped token is told from an unknown one', async () => {
  const mistyped = assertFault(await callAs(server, `${newTokenText()}x`).get('/v1/me'), 'unauthenticated')
  const unknown = assertFault(await callAs(server, newTokenText()).get('/v1/me'), 'unauthenticated')
  assert.match(mistyped.message, /mistyped/)
  assert.match(unknown.message, /unknown/)
})

test('of a token the database has the SHA-256 only', async () => {
  const alice = await newCaller(server, 'alice')
  const rows = await server.db
    .selectFrom('tokens')
    .selectAll()
    .where('owner_id', '=', alice.user.id)
    .execute()
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(alice.user.token)))
  assert.deepEqual(rows[0]?.hash, digest)
  assert.equal(JSON.stringify(rows).includes(alice.user.token), false)
})

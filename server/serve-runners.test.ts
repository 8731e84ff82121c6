import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test } from 'node:test'
import { type Bus, connectBus } from '@valley/bus/connect-bus.ts'
import type { ReplyBody, RequestBody, RequestName } from '@valley/bus/requests.ts'
import { openDatabase } from './database/open-database.ts'
import type { Db } from './database/statement.ts'
import { createObservations } from './observations.ts'
import { serveRunners } from './serve-runners.ts'
import { newCaller } from './testing/call-as.ts'
import { createVal } from './testing/create-val.ts'
import { openRelay } from './testing/open-relay.ts'
import { openTestServer } from './testing/open-test-server.ts'
import { waitFor } from './testing/wait-until.ts'
import { CallerCache } from './tokens/caller-cache.ts'
import { newTokenText } from './tokens/token-text.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

/** What a server would answer, without the way over the bus, which other tests' servers share. */
function openAnswers(db: Db) {
  const callers = new CallerCache()
  const used: string[] = []
  const answers = new Map<RequestName, (body: never) => Promise<unknown>>()
  const bus: Pick<Bus, 'serve'> = { serve: (name, answer) => void answers.set(name, answer) }
  const tokenUses = { note: (tokenId: string) => void used.push(tokenId) }
  const observe = createObservations('silent')
  serveRunners(bus, { db, callers, tokenUses, environmentKeys: [], runsPerDayMax: null, observe })
  const ask = async <Name extends RequestName>(name: Name, body: RequestBody<Name>) =>
    (await answers.get(name)?.(body as never)) as ReplyBody<Name>
  return { ask, callers, used }
}

const hashOf = (token: string) => ({ tokenHash: hash('sha256', token) })

test('a runner that asks over the bus learns of a val with its variables, and whose token it holds', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'hello', type: 'http' })
  await alice.put(`/v1/vals/${val.id}/env/SECRET`, { value: 'ä' })
  await using bus = connectBus({
    url: process.env['TEST_NATS_URL'] ?? '',
    name: 'runner',
    onChange: () => {},
    onBadMessage: (_, error) => assert.fail(String(error)),
  })
  // Servers of other tests, which have other databases, answer too; ours does sooner or later.
  const head = await waitFor('the head of the val', async () => {
    const label = `${alice.user.username}--hello`
    const reply = await bus.request('resolveVal', { label }, { timeoutMs: 1_000 })
    return reply?.kind === 'found' ? reply.head : null
  })
  assert.partialDeepStrictEqual(head, { valId: val.id, code: val.code, environment: { SECRET: 'ä' } })
  const known = await waitFor('the caller', async () => {
    const reply = await bus.request('identifyCaller', hashOf(alice.user.token), { timeoutMs: 1_000 })
    return reply?.kind === 'known' ? reply : null
  })
  assert.equal(known.userId, alice.user.id)
})

test('a token names its user unless it is unknown, expired, revoked or lacks the scope to run', async () => {
  const { ask, callers, used } = openAnswers(server.db)
  const { user, ...alice } = await newCaller(server, 'alice')
  const whose = async (token: string) => ask('identifyCaller', hashOf(token))
  const known = { kind: 'known', userId: user.id }
  assert.deepEqual(await whose(user.token), known)
  assert.equal(used.length, 1, 'which counts as a use of the token')
  const runs = await server.issueToken(user, { scopes: ['run:write'] })
  assert.deepEqual(await whose(runs.token), known)
  const reads = await server.issueToken(user, { scopes: ['run:read', 'val:write'] })
  const expired = await server.issueToken(user, { expiresAt: new Date(Date.now() - 1) })
  for (const token of [reads.token, expired.token, newTokenText(), '']) {
    assert.deepEqual(await whose(token), { kind: 'unknown' })
  }
  assert.equal((await alice.delete(`/v1/me/tokens/${runs.id}`)).status, 204)
  await callers.forgetUser(user.id)
  assert.deepEqual(await whose(runs.token), { kind: 'unknown' })
})

test('a token that expires while it is remembered is no longer good', async () => {
  const { ask } = openAnswers(server.db)
  const { user } = await newCaller(server, 'alice')
  const brief = await server.issueToken(user, { expiresAt: new Date(Date.now() + 300) })
  const kind = async () => (await ask('identifyCaller', hashOf(brief.token))).kind
  assert.equal(await kind(), 'known')
  await waitFor('the token expires', async () => ((await kind()) === 'unknown' ? true : null))
})

test('while the database is away, runners are told so, and never that a val or a token is missing', async () => {
  const { user, ...alice } = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { type: 'http' })
  await using relay = await openRelay(new URL(server.databaseUrl))
  const url = new URL(server.databaseUrl)
  url.port = String(relay.port)
  await using database = openDatabase({ url: url.href, connectionsMax: 2, onIdleError: () => {} })
  const { ask } = openAnswers(database.db)
  const label = id.replaceAll('-', '')
  assert.equal((await ask('resolveVal', { label })).kind, 'found')
  await relay.cut()
  assert.deepEqual(await ask('resolveVal', { label }), { kind: 'unavailable' })
  assert.deepEqual(await ask('identifyCaller', hashOf(user.token)), { kind: 'unavailable' })
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Head } from '@valley/bus/requests.ts'
import type { Val } from '@valley/contract/vals.ts'
import { sessionOptions } from '../database/open-database.ts'
import { newKeyText, parseKeysOrNull } from '../env/keys.ts'
import { rotateKeys } from '../env/rotate-keys.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal, saveCode } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { resolveById, resolveByName } from './resolve-queries.ts'
import { resolveVal } from './resolve-val.ts'

const keyText = newKeyText('test')
const keys = parseKeysOrNull(keyText) ?? assert.fail()
const server = await openTestServer({ ENVIRONMENT_KEYS: keyText })
after(() => server[Symbol.asyncDispose]())
const { db } = server

async function resolve(label: string, environmentKeys = keys) {
  const unreadable: (readonly string[])[] = []
  const observe = {
    environmentUnreadable: (_: string, names: readonly string[]) => void unreadable.push(names),
  }
  return { reply: await resolveVal({ db, environmentKeys, runsPerDayMax: null, observe }, label), unreadable }
}

async function findHead(label: string): Promise<Head> {
  const { reply } = await resolve(label)
  return reply.kind === 'found' ? reply.head : assert.fail(`${label} is ${reply.kind}`)
}

async function assertMissing(...labels: readonly string[]) {
  for (const label of labels) assert.deepEqual((await resolve(label)).reply, { kind: 'missing' }, label)
}

const digitsOf = ({ id }: Val) => id.replaceAll('-', '')

test('a val is found by its name in any case, with hyphens for underscores, and by the digits of its id', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'My_Weather__2', type: 'http', code: 'export default "ä"' })
  const label = `${alice.user.username}--my-weather--2`
  const head = await findHead(label)
  assert.deepEqual(head, {
    valId: val.id,
    ownerId: alice.user.id,
    username: alice.user.username,
    name: 'My_Weather__2',
    privacy: 'public',
    type: 'http',
    version: 1,
    code: 'export default "ä"',
    environmentRevision: head.environmentRevision,
    environment: {},
    isOverQuota: false,
  })
  assert.deepEqual(await findHead(label.toUpperCase()), head)
  assert.deepEqual(await findHead(digitsOf(val)), head)
  assert.deepEqual(await findHead(digitsOf(val).toUpperCase()), head)
  await assertMissing(`${alice.user.username}--my-weather-2`, `${alice.user.username}--my_weather__2`, val.id)
})

test('the head is the current version: after a save the new one, after its deletion the one before', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { type: 'http' })
  await saveCode(alice, val, 'export default 2')
  assert.partialDeepStrictEqual(await findHead(digitsOf(val)), { version: 2, code: 'export default 2' })
  await alice.delete(`/v1/vals/${val.id}/versions/2`)
  assert.partialDeepStrictEqual(await findHead(digitsOf(val)), { version: 1, code: val.code })
})

test('an unlisted val is found by its id only, a private one by both', async () => {
  const alice = await newCaller(server, 'alice')
  const label = (name: string) => `${alice.user.username}--${name}`
  const unlisted = await createVal(alice, { name: 'unlisted', type: 'http', privacy: 'unlisted' })
  const hidden = await createVal(alice, { name: 'hidden', type: 'http', privacy: 'private' })
  await assertMissing(label('unlisted'))
  assert.equal((await findHead(digitsOf(unlisted))).privacy, 'unlisted')
  for (const each of [label('hidden'), digitsOf(hidden)])
    assert.equal((await findHead(each)).privacy, 'private')
})

test('a script by its name, a deleted val, an unknown one and a label of nothing are missing alike', async () => {
  const alice = await newCaller(server, 'alice')
  const label = (name: string) => `${alice.user.username}--${name}`
  const script = await createVal(alice, { name: 'script' })
  const gone = await createVal(alice, { name: 'gone', type: 'http' })
  await alice.delete(`/v1/vals/${gone.id}`)
  assert.equal((await findHead(digitsOf(script))).type, 'script')
  await assertMissing(label('script'), label('gone'), digitsOf(gone), label('never'))
  await assertMissing(
    '',
    '--',
    'nobody--script',
    '0'.repeat(32),
    'f'.repeat(32),
    "x'--y",
    `${label('gone')}\0`,
  )
  await alice.put(`/v1/vals/${script.id}`, { type: 'http' })
  assert.equal((await findHead(label('script'))).valId, script.id)
})

test('after a rename of the val or of its owner the new label is found and the old one is missing', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'before', type: 'http' })
  await alice.put(`/v1/vals/${val.id}`, { name: 'after' })
  const old = alice.user.username
  await assertMissing(`${old}--before`)
  assert.equal((await findHead(`${old}--after`)).name, 'after')
  const username = `${old}-new`
  assert.equal((await alice.put('/v1/me', { username })).status, 200)
  await assertMissing(`${old}--after`)
  assert.equal((await findHead(`${username}--after`)).username, username)
})

test("a val sees its owner's variables and its own, of which its own win; nobody else's", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [val, other] = [await createVal(alice, { type: 'http' }), await createVal(alice, { type: 'http' })]
  await bob.put('/v1/me/env/HIS', { value: 'his' })
  await alice.put('/v1/me/env/SHARED', { value: 'owner' })
  await alice.put('/v1/me/env/WINS', { value: 'owner' })
  await alice.put(`/v1/vals/${val.id}/env/WINS`, { value: 'val' })
  await alice.put(`/v1/vals/${val.id}/env/constructor`, { value: 'ä\n"' })
  await alice.put(`/v1/vals/${val.id}/env/EMPTY`, { value: '' })
  const { environment } = await findHead(digitsOf(val))
  assert.deepEqual(environment, { EMPTY: '', SHARED: 'owner', WINS: 'val', constructor: 'ä\n"' })
  assert.deepEqual((await findHead(digitsOf(other))).environment, { SHARED: 'owner', WINS: 'owner' })
  await alice.delete(`/v1/vals/${val.id}/env/WINS`)
  assert.equal((await findHead(digitsOf(val))).environment['WINS'], 'owner')
})

test('the revision changes with every change of what the val sees, and with nothing else', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [val, other] = [await createVal(alice, { type: 'http' }), await createVal(alice, { type: 'http' })]
  const own = `/v1/vals/${val.id}/env`
  const revision = async () => (await findHead(digitsOf(val))).environmentRevision
  const seen = [await revision()]
  const changes = [
    async () => alice.put('/v1/me/env/A', { value: '1' }),
    async () => alice.put('/v1/me/env/A', { value: '2' }),
    async () => alice.put('/v1/me/env/B', { value: '2' }),
    async () => alice.put(`${own}/A`, { value: '2' }),
    async () => alice.put(`${own}/A`, { value: '3' }),
    async () => alice.delete(`${own}/A`),
    async () => alice.put(`${own}/A`, { value: '3' }),
    async () => alice.delete('/v1/me/env/B'),
  ]
  for (const change of changes) {
    assert.equal((await change()).status, 204)
    seen.push(await revision())
  }
  // Without the val's own variable it sees again what it saw before that was set.
  assert.equal(seen[6], seen[3])
  assert.equal(new Set(seen).size, seen.length - 1)
  const now = await revision()
  await saveCode(alice, val, 'export default 2')
  await alice.put(`/v1/vals/${val.id}`, { name: 'renamed', privacy: 'private' })
  await alice.put(`/v1/vals/${other.id}/env/A`, { value: 'x' })
  await alice.put('/v1/me/env/A', { value: "hidden behind the val's own" })
  await bob.put('/v1/me/env/A', { value: 'x' })
  await alice.delete(`${own}/NEVER`)
  assert.equal(await revision(), now)
  const [next = assert.fail()] = parseKeysOrNull(newKeyText('next')) ?? []
  const before = await findHead(digitsOf(val))
  assert.ok((await rotateKeys(db, [next, ...keys])).resealed > 0)
  const rotated = await resolve(digitsOf(val), [next])
  assert.deepEqual(rotated.reply, { kind: 'found', head: before }, 'nor with a change of keys')
  await rotateKeys(db, [...keys, next])
})

test('a val of which a variable cannot be opened does not run without it, and the operator is told its name', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { type: 'http' })
  await alice.put('/v1/me/env/LOST', { value: 'owner' })
  await alice.put(`/v1/vals/${val.id}/env/FINE`, { value: 'val' })
  const others = parseKeysOrNull(newKeyText('other')) ?? assert.fail()
  const { reply, unreadable } = await resolve(digitsOf(val), others)
  assert.deepEqual(reply, { kind: 'unavailable' })
  assert.deepEqual(unreadable, [['LOST', 'FINE']])
  await alice.put('/v1/me/env/LOST', { value: 'set anew' })
  assert.equal((await findHead(digitsOf(val))).environment['LOST'], 'set anew')
})

test('a value that was moved to another row in the database is not given to the val there', async () => {
  const [alice, mallory] = [await newCaller(server, 'alice'), await newCaller(server, 'mallory')]
  const val = await createVal(mallory, { type: 'http' })
  await alice.put('/v1/me/env/KEY', { value: 'of alice' })
  await mallory.put('/v1/me/env/KEY', { value: 'of mallory' })
  await sql`UPDATE variables SET sealed_value = (SELECT sealed_value FROM variables WHERE owner_id = ${alice.user.id})
    WHERE owner_id = ${mallory.user.id}`.execute(db)
  const { reply, unreadable } = await resolve(digitsOf(val))
  assert.deepEqual({ reply, unreadable }, { reply: { kind: 'unavailable' }, unreadable: [['KEY']] })
})

test('both look-ups walk along indexes, however many vals and variables there are', async () => {
  await sql`ANALYZE`.execute(db)
  const queries = [
    resolveById.toQuery({ id: '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40' }),
    resolveByName.toQuery({ username: 'alice', name: 'hello' }),
  ]
  for (const { text, values } of queries) {
    const plan = await db.connection().execute(async (connection) => {
      for (const setting of sessionOptions()
        .split('-c ')
        .filter((each) => each !== '')) {
        await sql`SET ${sql.raw(setting)}`.execute(connection)
      }
      await sql`SET plan_cache_mode = force_generic_plan`.execute(connection)
      const types = values.map(() => 'text').join(', ')
      await sql`PREPARE looked (${sql.raw(text.includes('v.id = $1') ? 'uuid' : types)}) AS ${sql.raw(text)}`.execute(
        connection,
      )
      const call = values.map((value) => `'${String(value)}'`).join(', ')
      const { rows } = await sql<{ 'QUERY PLAN': string }>`EXPLAIN EXECUTE looked(${sql.raw(call)})`.execute(
        connection,
      )
      await sql`DEALLOCATE looked`.execute(connection)
      await sql`RESET plan_cache_mode`.execute(connection)
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    })
    assert.doesNotMatch(plan, /Seq Scan|Filter: .*holder_id/, plan)
    assert.match(plan, /variables_pkey/, plan)
    assert.match(plan, /Index Cond: .*holder_id/, plan)
  }
})

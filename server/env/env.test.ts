import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { spawn } from 'node:child_process'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { connectBus } from '@valley/bus/connect-bus.ts'
import type { Variable } from '@valley/contract/env.ts'
import { limits } from '@valley/contract/limits.ts'
import { operations } from '@valley/contract/operations.ts'
import type { Operation } from '@valley/contract/operation.ts'
import { readConfig } from '../config.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { newKeyText } from './keys.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function namesAt(caller: TestCaller, path: string): Promise<readonly string[]> {
  return (await readList<Variable>(caller, path)).data.map(({ name }) => name)
}

async function set(caller: TestCaller, path: string, value = 'v'): Promise<void> {
  const { status, text } = await caller.put(path, { value })
  assert.deepEqual({ status, text }, { status: 204, text: '' })
}

/** Both places in which variables are kept, to hold each guarantee against. */
async function openPlaces() {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { type: 'http' })
  return { alice, val, places: ['/v1/me/env', `/v1/vals/${val.id}/env`] }
}

test('variables are listed by name with the time of their last change, and again is fine', async () => {
  const { alice, places } = await openPlaces()
  for (const place of places) {
    const before = Date.now()
    for (const name of ['b', 'A', '_c', 'b']) await set(alice, `${place}/${name}`)
    const { data, links } = await readList<Variable>(alice, place)
    assert.deepEqual(new Set(data.map(({ name }) => name)), new Set(['A', '_c', 'b']))
    assert.deepEqual(
      data.map(({ name }) => name),
      data.map(({ name }) => name).toSorted(),
    )
    for (const { updatedAt } of data) assert.ok(Date.parse(updatedAt) >= before)
    assert.deepEqual(links, { self: server.url + place })
    for (let i = 0; i < 2; i++) assert.equal((await alice.delete(`${place}/b`)).status, 204)
    assert.deepEqual(await namesAt(alice, place), ['A', '_c'])
  }
})

test("a val's variables are not its owner's, nor another val's, nor another user's", async () => {
  const { alice, places } = await openPlaces()
  const [other, bob] = [await createVal(alice), await newCaller(server, 'bob')]
  const [own = '', ofVal = ''] = places
  await set(alice, `${own}/OWN`)
  await set(alice, `${ofVal}/OF_VAL`)
  assert.deepEqual(await namesAt(alice, own), ['OWN'])
  assert.deepEqual(await namesAt(alice, ofVal), ['OF_VAL'])
  assert.deepEqual(await namesAt(alice, `/v1/vals/${other.id}/env`), [])
  assert.deepEqual(await namesAt(bob, own), [])
  assertFault(await bob.get(ofVal), 'not_found')
  assertFault(await bob.put(`${ofVal}/OF_VAL`, { value: 'his' }), 'not_found')
  assertFault(await bob.delete(`${ofVal}/OF_VAL`), 'not_found')
  assert.deepEqual(await namesAt(alice, ofVal), ['OF_VAL'])
})

test('names and values are taken up to their bounds and refused beyond, with the reason', async () => {
  const { alice, places } = await openPlaces()
  const good = ['a', '_', 'NODE_ENV', 'PATHS', 'home_page', 'n'.repeat(64)]
  const bad = ['9a', 'a-b', 'a.b', 'n'.repeat(65), '%20', 'ä', '%00', 'a%0A', '__proto__%3D']
  const reserved = ['PATH', 'path', 'Home', 'DENO_DIR', 'deno_auth_tokens', 'LD_PRELOAD', 'NODE_OPTIONS']
  reserved.push('http_proxy', 'HTTPS_PROXY', 'NO_COLOR', 'TMPDIR', 'VALLEY_RUN', 'V8_FLAGS', '__proto__')
  for (const place of places) {
    for (const name of good) await set(alice, `${place}/${name}`, '')
    for (const name of [...bad, ...reserved]) {
      const { issues } = assertFault(await alice.put(`${place}/${name}`, { value: 'v' }), 'invalid_request')
      assert.equal(issues?.[0]?.path, 'params.name', name)
    }
    const largest = 'ä'.repeat(limits.variableBytesMax / 2)
    await set(alice, `${place}/LARGE`, largest)
    for (const value of [`${largest}a`, 'a\0b', '\ud800', 1, null, undefined, {}, ['v']]) {
      const { issues } = assertFault(await alice.put(`${place}/LARGE`, { value }), 'invalid_request')
      assert.equal(issues?.[0]?.path, 'body.value', JSON.stringify(value))
    }
    assert.deepEqual(new Set(await namesAt(alice, place)), new Set([...good, 'LARGE']))
  }
})

test('of parallel PUTs those up to the bound of 100 are kept; one that exists can still be changed', async () => {
  const { alice, places } = await openPlaces()
  for (const place of places) {
    const putAtOnce = async (count: number, prefix: string) =>
      Promise.all(
        Array.from({ length: count }, async (_, i) => alice.put(`${place}/${prefix}${i}`, { value: 'v' })),
      )
    const few = await putAtOnce(limits.variablesMax - 10, 'FIRST')
    assert.ok(few.every(({ status }) => status === 204))
    const puts = await putAtOnce(40, 'THEN')
    assert.equal(puts.filter(({ status }) => status === 204).length, 10)
    for (const refused of puts.filter(({ status }) => status !== 204)) assertFault(refused, 'invalid_request')
    const names = await namesAt(alice, place)
    assert.equal(names.length, limits.variablesMax)
    await set(alice, `${place}/${names[0]}`, 'changed')
    await alice.delete(`${place}/${names[0]}`)
    await set(alice, `${place}/ONE_MORE`)
  }
})

test('all values together have a bound, which parallel PUTs do not pass either', async () => {
  const { alice, places } = await openPlaces()
  const value = 'v'.repeat(limits.variableBytesMax)
  for (const place of places) {
    const puts = await Promise.all(
      ['A', 'B', 'C', 'D'].map(async (name) => alice.put(`${place}/${name}`, { value })),
    )
    assert.equal(puts.filter(({ status }) => status === 204).length, 2)
    const [kept] = await namesAt(alice, place)
    await set(alice, `${place}/${kept}`, value.slice(1))
    await set(alice, `${place}/E`, 'e')
    assertFault(await alice.put(`${place}/F`, { value: 'f' }), 'invalid_request')
  }
})

test('PUT on a val that is deleted meanwhile leaves nothing behind', async () => {
  const alice = await newCaller(server, 'alice')
  for (let i = 0; i < 5; i++) {
    const { id } = await createVal(alice)
    await Promise.all([
      ...Array.from({ length: 5 }, async (_, n) => alice.put(`/v1/vals/${id}/env/V${n}`, { value: 'v' })),
      alice.delete(`/v1/vals/${id}`),
    ])
    assertFault(await alice.put(`/v1/vals/${id}/env/LATE`, { value: 'v' }), 'not_found')
    assertFault(await alice.get(`/v1/vals/${id}/env`), 'not_found')
    const { rows } = await sql`
      SELECT FROM variables WHERE holder_id = ${id} AND NOT EXISTS (
        SELECT FROM deleted_vals WHERE val_id = holder_id)`.execute(server.db)
    assert.equal(rows.length, 0, 'what is left is in the care of upkeep')
  }
})

/** Every row of every table, as text and with its bytes as hexadecimal digits. */
async function rowsWith(text: string): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    SELECT oid::regclass::text AS name FROM pg_class
    WHERE relkind IN ('r', 'm') AND relnamespace = 'public'::regnamespace`.execute(server.db)
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.raw(name)} t`.execute(
      server.db,
    )
    const forms = [text, Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64').slice(0, -4)]
    found.push(...rows.filter(({ row }) => forms.some((form) => row.includes(form))).map(() => name))
  }
  return found
}

test('a value is in no answer of any operation, and nowhere in the database', async () => {
  const { alice, val, places } = await openPlaces()
  const secret = `secret${randomBytes(12).toString('hex')}`
  for (const place of places) await set(alice, `${place}/SECRET`, secret)
  const params: Readonly<Record<string, string>> = {
    val_id: val.id,
    val_name: val.name,
    version: '1',
    user_id: alice.user.id,
    username: alice.user.username,
    name: 'SECRET',
  }
  const reads = Object.values<Operation>(operations).filter(({ method }) => method === 'GET')
  for (const { path } of reads) {
    const target = path.replaceAll(/\{(\w+)\}/g, (_, param: string) => params[param] ?? 'none')
    const { text, headers } = await alice.get(path.includes('search') ? `${target}?query=secret` : target)
    assert.ok(!text.includes(secret), target)
    assert.ok(![...headers.values()].some((value) => value.includes(secret)), target)
  }
  assert.deepEqual(await rowsWith(secret), [])
  assert.ok((await rowsWith(val.name)).includes('vals'), 'what is there is found')
})

test('a value is in no line of the log, whatever its level and whatever goes wrong', async () => {
  const secret = `secret${randomBytes(12).toString('hex')}`
  const main = spawn(process.execPath, [new URL('../main.ts', import.meta.url).pathname], {
    env: {
      ...process.env,
      DATABASE_URL: server.databaseUrl,
      NATS_URL: process.env['TEST_NATS_URL'],
      PORT: '0',
      LOG_LEVEL: 'debug',
      ENVIRONMENT_KEYS: newKeyText('test'),
    },
  })
  let log = ''
  main.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()))
  main.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  const ended = new Promise((resolve) => main.once('exit', resolve))
  try {
    await waitUntil('the server listens', async () => log.includes('"listening"'))
    const url = /"url":"([^"]+)"/.exec(log)?.[1] ?? assert.fail(log)
    const { user } = await newCaller(server, 'alice')
    const alice = callAs({ url, fetch: server.fetch }, user.token)
    assert.equal((await alice.put('/v1/me/env/SECRET', { value: secret })).status, 204)
    assertFault(await alice.put('/v1/me/env/PATH', { value: secret }), 'invalid_request')
    assertFault(await alice.put('/v1/me/env/SECRET', { value: [secret] }), 'invalid_request')
    await server.db.schema.alterTable('variables').renameTo('hidden').execute()
    assertFault(await alice.put('/v1/me/env/SECRET', { value: secret }), 'internal')
    await server.db.schema.alterTable('hidden').renameTo('variables').execute()
    await waitUntil('the fault is logged', async () => log.includes('"failed"'))
  } finally {
    main.kill('SIGTERM')
    await ended
  }
  assert.ok(log.includes('setMyVariable'))
  assert.ok(!log.includes(secret))
})

test('without keys nothing can be kept, and the answer says who can mend it', async () => {
  const { alice, places } = await openPlaces()
  const env = { DATABASE_URL: server.databaseUrl, NATS_URL: process.env['TEST_NATS_URL'], PORT: '0' }
  const config = readConfig({ ...env, LOG_LEVEL: 'error' })
  await using keyless = await startServer(config, createObservations(config.logLevel))
  const there = callAs({ url: keyless.url, fetch: server.fetch }, alice.user.token)
  for (const place of places) {
    await set(alice, `${place}/KEPT`)
    const refused = await there.put(`${place}/NEW`, { value: 'v' })
    assert.match(assertFault(refused, 'unavailable').message, /operator sets ENVIRONMENT_KEYS/)
    assert.equal(refused.headers.get('x-should-retry'), 'false')
    assert.deepEqual(await namesAt(there, place), ['KEPT'])
    assert.equal((await there.delete(`${place}/KEPT`)).status, 204, 'what is there can be deleted')
  }
})

test("a change is told: a val's own as a change of the val, a user's once for all of their vals", async () => {
  const { alice, val, places } = await openPlaces()
  const [own = '', ofVal = ''] = places
  const told: string[] = []
  await using bus = connectBus({
    url: process.env['TEST_NATS_URL'] ?? '',
    name: 'test',
    onChange: () => {},
    onBadMessage: (_, error) => assert.fail(String(error)),
  })
  bus.subscribe('valChanged', ({ valId }) => told.push(valId === val.id ? 'val' : valId))
  bus.subscribe('environmentChanged', ({ userId }) => userId === alice.user.id && told.push('user'))
  // Until both sides are connected, messages are lost; from the first one on they come in order.
  const other = await createVal(alice)
  await waitUntil('messages arrive', async () => {
    await set(alice, `/v1/vals/${other.id}/env/A`)
    return told.includes(other.id)
  })
  told.length = 0
  const changes = [
    async () => set(alice, `${own}/A`),
    async () => set(alice, `${ofVal}/A`),
    async () => alice.delete(`${ofVal}/A`),
    async () => alice.delete(`${ofVal}/A`),
    async () => alice.delete(`${own}/A`),
    async () => alice.delete(`${own}/A`),
    async () => alice.put(`${own}/PATH`, { value: 'v' }),
    async () => set(alice, `${ofVal}/LAST`),
  ]
  for (const change of changes) await change()
  const ofOurs = () => told.filter((each) => each === 'val' || each === 'user')
  await waitUntil('all changes are told', async () => ofOurs().length >= 5)
  assert.deepEqual(ofOurs(), ['user', 'val', 'val', 'user', 'val'])
})

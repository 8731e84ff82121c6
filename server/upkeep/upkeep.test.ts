import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Val } from '@valley/contract/vals.ts'
import { raiseAlerts } from '../alerts/raise-alerts.ts'
import { readConfig } from '../config.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal, readVal, saveCode } from '../testing/create-val.ts'
import { insertReference, insertRun } from '../testing/insert-rows.ts'
import { failedRunOf } from '../testing/failed-run-of.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitFor, waitUntil } from '../testing/wait-until.ts'
import { upkeepOnce } from './upkeep.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const retentionDays = 30
const retention = { runRetentionDays: retentionDays, logRetentionDays: retentionDays }

/** A whole round: the server's own, which it starts with, may still be under way. */
async function keepHouse() {
  return waitFor('a round of upkeep', () => upkeepOnce(server.db, retention))
}

/** How many rows of each table are about the val, in whatever column. */
async function rowsAbout({ id }: Val): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<Record<string, number>>`
    SELECT
      (SELECT count(*)::int FROM vals WHERE id = ${id}) AS vals,
      (SELECT count(*)::int FROM versions WHERE val_id = ${id}) AS versions,
      (SELECT count(*)::int FROM likes WHERE val_id = ${id}) AS likes,
      (SELECT count(*)::int FROM comments WHERE val_id = ${id}) AS comments,
      (SELECT count(*)::int FROM val_references WHERE ${id} IN (val_id, depends_on_id)) AS references,
      (SELECT count(*)::int FROM runs WHERE val_id = ${id}) AS runs,
      (SELECT count(*)::int FROM variables WHERE holder_id = ${id}) AS variables,
      (SELECT count(*)::int FROM schedules WHERE val_id = ${id}) AS schedules,
      (SELECT count(*)::int FROM firings WHERE val_id = ${id}) AS firings,
      (SELECT count(*)::int FROM alerts WHERE val_id = ${id}) AS alerts,
      (SELECT count(*)::int FROM deliveries WHERE val_id = ${id}) AS deliveries,
      (SELECT count(*)::int FROM documents WHERE val_id = ${id}) AS documents,
      (SELECT count(*)::int FROM deleted_vals WHERE val_id = ${id}) AS deleted_vals`.execute(server.db)
  return rows[0] ?? assert.fail()
}

async function codesKept(codes: readonly string[]): Promise<readonly string[]> {
  const rows = await server.db.selectFrom('codes').select('code').where('code', 'in', codes).execute()
  return rows.map(({ code }) => code).toSorted()
}

async function detailsOf(ids: readonly string[]): Promise<number> {
  const { rows } = await sql`SELECT id FROM run_details WHERE id = ANY(${ids}::uuid[])`.execute(server.db)
  return rows.length
}

test('after the deletion of a val, everything that hung on it is purged, and nothing else', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const vals: Val[] = []
  for (const name of ['doomed', 'kept']) {
    const val = await createVal(alice, { name, code: `${name} one` })
    vals.push(await saveCode(alice, val, `${name} two`))
    await alice.put(`/v1/vals/${val.id}/env/SECRET`, { value: name })
    await alice.put(`/v1/vals/${val.id}/schedule`, { cron: '@yearly' })
    await insertFiring(val, 1)
    await alice.put(`/v1/vals/${val.id}/alerts`, { url: 'https://hooks.example.com' })
    assert.equal(await raiseAlerts(server.db, [failedRunOf(val)]), 1)
    await bob.put(`/v1/me/likes/${val.id}`)
    await bob.post(`/v1/vals/${val.id}/comments`, { comment: 'Hm.' })
  }
  const [doomed = assert.fail(), kept = assert.fail()] = vals
  const runs = [await insertRun(server, doomed), await insertRun(server, kept)]
  await insertReference(server, { importer: doomed, imported: kept })
  await insertReference(server, { importer: kept, imported: doomed })
  const other = await createVal(bob)
  await insertReference(server, { importer: other, imported: kept })
  await alice.put('/v1/me/env/SECRET', { value: 'of all her vals' })
  const keptBefore = await rowsAbout(kept)

  assert.equal((await alice.delete(`/v1/vals/${doomed.id}`)).status, 204)
  assert.ok((await keepHouse()).valsPurged >= 1)

  const nothing = Object.fromEntries(Object.keys(keptBefore).map((table) => [table, 0]))
  assert.deepEqual(await rowsAbout(doomed), nothing)
  assert.equal(await detailsOf(runs), 1)
  assert.equal((await alice.get<{ data: unknown[] }>('/v1/me/env')).body.data.length, 1)
  assert.deepEqual(await rowsAbout(kept), { ...keptBefore, references: 1 })
  assert.deepEqual(await codesKept(['doomed one', 'doomed two', 'kept one', 'kept two']), [
    'kept one',
    'kept two',
  ])
  assert.equal((await readVal(alice, kept)).referenceCount, 1, 'it is imported by one less')
})

test('a server starts again on a database in which a val with likes was deleted', async () => {
  await using first = await openTestServer()
  const alice = await newCaller(first, 'alice')
  const val = await createVal(alice)
  await alice.put(`/v1/me/likes/${val.id}`)
  await alice.delete(`/v1/vals/${val.id}`)
  const env = { DATABASE_URL: first.databaseUrl, NATS_URL: process.env['TEST_NATS_URL'], PORT: '0' }
  const config = readConfig({ ...env, LOG_LEVEL: 'error' })
  await using second = await startServer(config, createObservations(config.logLevel))
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200)
})

test('a text that another val has stays when one of its vals is deleted', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [hers, his] = [await createVal(alice, { code: 'shared' }), await createVal(bob, { code: 'shared' })]
  await alice.delete(`/v1/vals/${hers.id}`)
  await keepHouse()
  assert.equal((await readVal(bob, his)).code, 'shared')
  await bob.delete(`/v1/vals/${his.id}`)
  await keepHouse()
  assert.deepEqual(await codesKept(['shared']), [])
})

test('each distinct text is stored once', async () => {
  const alice = await newCaller(server, 'alice')
  for (let i = 0; i < 3; i++) await createVal(alice, { code: 'stored once' })
  assert.deepEqual(await codesKept(['stored once']), ['stored once'])
})

test('the text of a deleted version goes unless another version has it', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'version one' })
  for (const code of ['version two', 'version one', 'version four']) await saveCode(alice, val, code)
  for (const version of [1, 2]) await alice.delete(`/v1/vals/${val.id}/versions/${version}`)
  await keepHouse()
  assert.deepEqual(await codesKept(['version one', 'version two', 'version four']), [
    'version four',
    'version one',
  ])
})

test('the text of a refused save does not stay', async () => {
  const alice = await newCaller(server, 'alice')
  await createVal(alice, { name: 'taken' })
  assert.equal((await alice.post('/v1/vals', { name: 'taken', code: 'refused' })).status, 409)
  await keepHouse()
  assert.deepEqual(await codesKept(['refused']), [])
})

async function partitionDays(parent: string): Promise<readonly string[]> {
  const { rows } = await sql<{ day: string }>`
    SELECT right(inhrelid::regclass::text, 8) AS day FROM pg_inherits
    WHERE inhparent = ${parent}::regclass ORDER BY day`.execute(server.db)
  return rows.map(({ day }) => day)
}

function dayFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')
}

test('run partitions are made for a week ahead, and days beyond retention are dropped whole', async () => {
  await keepHouse()
  const expected = Array.from({ length: 1 + 1 + 7 }, (_, i) => dayFromNow(i - 1))
  for (const parent of ['runs', 'run_details']) assert.deepEqual(await partitionDays(parent), expected)
  const [oldest, newest] = [retentionDays + 2, retentionDays]
  await sql`SELECT create_run_partitions(${dayFromNow(-oldest)}::date, ${dayFromNow(-newest)}::date)`.execute(
    server.db,
  )
  assert.equal((await keepHouse()).partitionsDropped, 4, 'two days of two tables')
  for (const parent of ['runs', 'run_details']) {
    assert.deepEqual(await partitionDays(parent), [dayFromNow(-newest), ...expected])
  }
})

test('idempotency keys go after 24 hours', async () => {
  const alice = await newCaller(server, 'alice')
  for (const key of ['old', 'young']) {
    await alice.post('/v1/vals', { code: '1' }, { 'idempotency-key': key })
  }
  const { rows } = await sql<{ token_id: string }>`
    UPDATE idempotency_keys SET created_at = now() - interval '25 hours'
    WHERE key_hash = sha256('old') RETURNING token_id`.execute(server.db)
  assert.equal(rows.length, 1)
  assert.equal((await keepHouse()).keysDeleted, 1)
  const left = await server.db
    .selectFrom('idempotency_keys')
    .select('key_hash')
    .where('token_id', '=', rows[0]?.token_id ?? '')
    .execute()
  assert.equal(left.length, 1)
})

async function insertFiring(val: Val, daysAgo: number) {
  await sql`
    INSERT INTO firings (val_id, planned_at, owner_id, outcome)
    VALUES (${val.id}, now() - make_interval(days => ${daysAgo}), ${val.author.id}, 'skipped')`.execute(
    server.db,
  )
}

test('what became of planned times is forgotten with the runs of that time', async () => {
  const val = await createVal(await newCaller(server, 'alice'))
  for (const days of [1, retentionDays - 1, retentionDays + 1, 400]) await insertFiring(val, days)
  assert.equal((await keepHouse()).firingsDeleted, 2)
  assert.equal((await rowsAbout(val))['firings'], 2)
})

test('one server at a time does the upkeep, the others leave it to it', async () => {
  const key = 7_326_002
  await server.db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${key}::bigint)`.execute(connection)
    assert.equal(await upkeepOnce(server.db, retention), null)
    await sql`SELECT pg_advisory_unlock(${key}::bigint)`.execute(connection)
  })
  await keepHouse()
})

test('a text that is released once more while upkeep looks at it goes all the same', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { code: 'stays of the race' })
  await saveCode(alice, val, 'goes in the race')
  const { id } = val
  await keepHouse()
  await sql`INSERT INTO released_codes (hash) VALUES (sha256('goes in the race'))`.execute(server.db)
  const underWay: Promise<unknown>[] = []
  await server.db.transaction().execute(async (hold) => {
    // The deletion has released the text and now waits for this row; upkeep then has to wait for the deletion.
    await sql`SELECT FROM documents WHERE val_id = ${id} FOR UPDATE`.execute(hold)
    underWay.push(alice.delete(`/v1/vals/${id}/versions/2`))
    await waitUntil('the deletion waits', async () => (await waitingForLocks()) === 1)
    underWay.push(keepHouse())
    await waitUntil('upkeep waits for the deletion', async () => (await waitingForLocks()) === 2)
  })
  const [deleted] = await Promise.all(underWay)
  assert.partialDeepStrictEqual(deleted, { status: 204 })
  assert.deepEqual(await codesKept(['stays of the race', 'goes in the race']), ['stays of the race'])
})

async function waitingForLocks(): Promise<number> {
  const { rows } = await sql`
    SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(
    server.db,
  )
  return rows.length
}

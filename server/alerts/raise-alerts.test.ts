import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { runSources } from '@valley/contract/runs.ts'
import type { Val } from '@valley/contract/vals.ts'
import { newId } from '../database/ids.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { failedRunOf } from '../testing/failed-run-of.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { raiseAlerts } from './raise-alerts.ts'

// No runner is there, so that what was raised stays where it can be counted.
const server = await openTestServer({ NATS_URL: 'nats://127.0.0.1:1' })
after(() => server[Symbol.asyncDispose]())
const { db } = server
const alice = await newCaller(server, 'alice')

async function createAlertingVal(quietSeconds = 60): Promise<Val> {
  const val = await createVal(alice)
  const { status, text } = await alice.put(`/v1/vals/${val.id}/alerts`, {
    url: 'https://hooks.example.com',
    quietSeconds,
  })
  assert.equal(status, 200, text)
  return val
}

async function deliveriesOf({ id }: Val) {
  return db.selectFrom('deliveries').selectAll().where('val_id', '=', id).orderBy('id').execute()
}

/** As if so long had passed since the last alert. */
async function age({ id }: Val, seconds: number): Promise<void> {
  await sql`UPDATE alerts SET last_raised_at = last_raised_at - ${seconds} * interval '1 second'
    WHERE val_id = ${id}`.execute(db)
}

test('a run of any source that failed or timed out raises an alert, and no other run does', async () => {
  for (const source of runSources) {
    for (const status of ['failed', 'timed_out'] as const) {
      const val = await createAlertingVal()
      assert.equal(await raiseAlerts(db, [failedRunOf(val, { source, status })]), 1)
    }
  }
  const val = await createAlertingVal()
  const fine = (['queued', 'running', 'succeeded', 'canceled'] as const).map((status) =>
    failedRunOf(val, { status }),
  )
  assert.equal(await raiseAlerts(db, fine), 0)
  assert.equal(await raiseAlerts(db, []), 0)
})

test('a val without alerts, of another owner, or that is gone raises none', async () => {
  const val = await createAlertingVal()
  assert.equal(await raiseAlerts(db, [failedRunOf(val, { valId: newId() })]), 0)
  assert.equal(await raiseAlerts(db, [failedRunOf(val, { ownerId: newId() })]), 0)
  assert.equal(await raiseAlerts(db, [failedRunOf(await createVal(alice))]), 0)
  await alice.delete(`/v1/vals/${val.id}`)
  assert.equal(await raiseAlerts(db, [failedRunOf(val)]), 0)
})

test('there is one alert in each quiet period, however many runs fail', async () => {
  const [val, other] = [await createAlertingVal(3_600), await createAlertingVal(60)]
  const fail = async () =>
    raiseAlerts(
      db,
      [...Array(20).keys()].map(() => failedRunOf(val)),
    )
  assert.equal(await fail(), 1)
  assert.equal(await fail(), 0)
  await age(val, 3_590)
  assert.equal(await fail(), 0)
  assert.equal(await raiseAlerts(db, [failedRunOf(val), failedRunOf(other)]), 1, 'another val has its own')
  await age(val, 20)
  assert.equal(await fail(), 1)
  const [first = assert.fail(), second = assert.fail()] = await deliveriesOf(val)
  assert.ok(second.silenced_until.getTime() - first.silenced_until.getTime() >= 0)
  assert.ok(Math.abs(second.silenced_until.getTime() - Date.now() - 3_600_000) < 5_000)
})

test('of two recorders that raise the same alert at once, one does', async () => {
  const val = await createAlertingVal()
  const underWay: Promise<number>[] = []
  await db.transaction().execute(async (first) => {
    assert.equal(await raiseAlerts(first, [failedRunOf(val)]), 1)
    underWay.push(raiseAlerts(db, [failedRunOf(val)]))
    await waitUntil('the second waits for the first', async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(db)
      return rows.length === 1
    })
  })
  assert.deepEqual(await Promise.all(underWay), [0])
  assert.equal((await deliveriesOf(val)).length, 1)
})

test('recorders that raise many alerts at once in any order raise each once', async () => {
  const vals = await Promise.all(Array.from({ length: 20 }, () => createAlertingVal()))
  const orders = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? vals : vals.toReversed()))
  const raised = await Promise.all(
    orders.map((order) =>
      raiseAlerts(
        db,
        order.map((val) => failedRunOf(val)),
      ),
    ),
  )
  assert.equal(
    raised.reduce((sum, count) => sum + count, 0),
    vals.length,
  )
  for (const val of vals) assert.equal((await deliveriesOf(val)).length, 1)
})

test('a report that comes again, however late, raises nothing again', async () => {
  const val = await createAlertingVal()
  const run = failedRunOf(val)
  assert.equal(await raiseAlerts(db, [run]), 1)
  const { last_raised_at } = await db
    .selectFrom('alerts')
    .select('last_raised_at')
    .where('val_id', '=', val.id)
    .executeTakeFirstOrThrow()
  // Both long ago, the run before its alert.
  await age(val, 86_400)
  const endedAtMs = (last_raised_at?.getTime() ?? 0) - 86_400_000 - 1
  assert.equal(await raiseAlerts(db, [{ ...run, endedAtMs }]), 0)
  assert.equal(await raiseAlerts(db, [{ ...run, endedAtMs }, failedRunOf(val)]), 1, 'but a new one does')
})

test('whatever a run says of itself, its alert is bounded and can be stored', async () => {
  const val = await createAlertingVal()
  const huge = failedRunOf(val, {
    error: {
      name: '\0'.repeat(100_000),
      message: `\ud83d${'ä'.repeat(100_000)}`,
      stack: 's'.repeat(100_000),
    },
    version: 2 ** 40,
    endedAtMs: Number.MAX_SAFE_INTEGER,
  })
  assert.equal(await raiseAlerts(db, [huge]), 1)
  const [{ run } = assert.fail()] = await deliveriesOf(val)
  assert.ok(JSON.stringify(run).length < 4_096)
  assert.equal('stack' in (run as { error: object }).error, false)
})

test('deleting alerts takes with it what is still to be delivered', async () => {
  const val = await createAlertingVal()
  await raiseAlerts(db, [failedRunOf(val)])
  await alice.delete(`/v1/vals/${val.id}/alerts`)
  assert.deepEqual(await deliveriesOf(val), [])
})

test('to find that nobody wants an alert takes walks along indexes only', async () => {
  const vals = await Promise.all(Array.from({ length: 5 }, () => createVal(alice)))
  await db.connection().execute(async (connection) => {
    await sql`BEGIN`.execute(connection)
    const runs = vals.map((val) => failedRunOf(val))
    assert.equal(await raiseAlerts(connection, runs), 0)
    const { rows } = await sql<{ seq: string; written: boolean }>`
      SELECT sum(seq_scan)::text AS seq, pg_current_xact_id_if_assigned() IS NOT NULL AS written
      FROM pg_stat_xact_user_tables WHERE relname IN ('alerts', 'deliveries')`.execute(connection)
    await sql`ROLLBACK`.execute(connection)
    assert.deepEqual(rows[0], { seq: '0', written: false })
  })
})

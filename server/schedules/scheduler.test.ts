import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Schedule } from '@valley/contract/schedules.ts'
import type { Val } from '@valley/contract/vals.ts'
import { readConfig } from '../config.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitFor, waitUntil } from '../testing/wait-until.ts'
import {
  countRuns,
  type FiringSeen,
  firingsOf,
  makeDue,
  putSchedule,
  scheduleVal,
} from './testing/schedule-scene.ts'

// Nobody claims anything in here: what is enqueued stays in the queue.
const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function untilDecided(val: Val, count: number): Promise<readonly FiringSeen[]> {
  return waitFor(`${count} firings`, async () => {
    const firings = await firingsOf(server, val)
    return firings.length >= count ? firings : null
  })
}

async function scheduleOf(val: Val) {
  const { rows } = await sql<{ next_at: Date | null; last_run_at: Date | null; last_missed_at: Date | null }>`
    SELECT next_at, last_run_at, last_missed_at FROM schedules WHERE val_id = ${val.id}`.execute(server.db)
  return rows[0] ?? assert.fail('it has no schedule')
}

test('with two servers, each of many schedules that are due fires exactly once', async () => {
  const env = { DATABASE_URL: server.databaseUrl, NATS_URL: process.env['TEST_NATS_URL'], PORT: '0' }
  const config = readConfig({ ...env, LOG_LEVEL: 'error' })
  await using second = await startServer(config, createObservations(config.logLevel))
  assert.ok(second.url)
  const owner = await newCaller(server, 'owner')
  const vals = await Promise.all(Array.from({ length: 60 }, async () => createVal(owner)))
  await Promise.all(vals.map(async (val) => putSchedule(owner, val, { cron: '0 0 1 1 *' })))
  for (let round = 1; round <= 5; round++) {
    await sql`DELETE FROM queue`.execute(server.db)
    await makeDue(server, vals, 20 - round)
    await Promise.all(vals.map(async (val) => untilDecided(val, round)))
    for (const val of vals) {
      assert.equal((await firingsOf(server, val)).filter(({ outcome }) => outcome === 'fired').length, round)
      assert.equal(await countRuns(server, val), round)
    }
  }
})

test('a scheduled run is told when it was planned and when the one before it was made', async () => {
  const { val, owner } = await scheduleVal(server, { cron: '0 0 1 1 *', overlap: 'queue' })
  await makeDue(server, [val], 5)
  await untilDecided(val, 1)
  const { last_run_at: firstRunAt } = await scheduleOf(val)
  await makeDue(server, [val], 1)
  const [first, second] = await untilDecided(val, 2)
  assert.deepEqual(first?.args, [{ plannedAt: first?.planned_at.toISOString(), lastRunAt: null }])
  const plannedAt = second?.planned_at.toISOString()
  assert.deepEqual(second?.args, [{ plannedAt, lastRunAt: firstRunAt?.toISOString() }])
  const { body } = await owner.get<Schedule>(`/v1/vals/${val.id}/schedule`)
  assert.ok(Date.parse(body.lastRunAt ?? '') > Number(firstRunAt))
  assert.equal(body.nextRunAt, `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`)
  assert.equal(body.lastMissedAt, null)
})

test('a schedule of seconds fires every second, at every one of them once', async () => {
  const { val } = await scheduleVal(server, { cron: '* * * * * *', overlap: 'queue' })
  const firings = await untilDecided(val, 4)
  const times = firings.map(({ planned_at }) => planned_at.getTime())
  for (const [i, time] of times.entries()) assert.equal(time, (times[0] ?? 0) + i * 1_000)
  assert.ok(firings.every(({ outcome, args }) => outcome === 'fired' && args !== null))
})

test('what is late by up to a minute fires, one planned time after the other', async () => {
  const { val } = await scheduleVal(server, { cron: '*/10 * * * * *', overlap: 'queue' })
  await makeDue(server, [val], 50)
  const firings = await untilDecided(val, 5)
  assert.ok(firings.every(({ outcome }) => outcome === 'fired'))
})

test('what nobody fired for more than a minute is missed, as one, and does not fire', async () => {
  const { val, owner } = await scheduleVal(server, { cron: '*/5 * * * *' })
  await makeDue(server, [val], 3_600)
  const [missed] = await untilDecided(val, 1)
  assert.equal(missed?.outcome, 'missed')
  assert.ok(missed.through_at && Date.now() - missed.through_at.getTime() < 5 * 60_000 + 2_000)
  assert.ok(missed.count === 12 || missed.count === 13, `${missed.count} times`)
  const { body } = await owner.get<Schedule>(`/v1/vals/${val.id}/schedule`)
  assert.equal(body.lastMissedAt, missed.through_at.toISOString())
  assert.ok(Date.parse(body.nextRunAt ?? '') > Date.now() - 2_000)
  assert.equal(body.lastRunAt, null)
  assert.equal(await countRuns(server, val), 0)
})

test('with missed: once, the latest of them fires, and only that', async () => {
  const { val } = await scheduleVal(server, { cron: '*/5 * * * *', missed: 'once' })
  await makeDue(server, [val], 3_600)
  const [missed, fired] = await untilDecided(val, 2)
  assert.deepEqual([missed?.outcome, fired?.outcome], ['missed', 'fired'])
  assert.equal(Number(fired?.planned_at) - Number(missed?.through_at), 5 * 60_000)
  assert.ok(Date.now() - Number(fired?.planned_at) < 5 * 60_000 + 2_000)
  assert.equal(await countRuns(server, val), 1)
})

test('while a scheduled run waits or runs, the next planned time is skipped; with overlap: queue it waits', async () => {
  const { val, owner } = await scheduleVal(server, { cron: '0 0 1 1 *' })
  await makeDue(server, [val], 9)
  await untilDecided(val, 1)
  await makeDue(server, [val], 7)
  assert.equal((await untilDecided(val, 2))[1]?.outcome, 'skipped')
  await sql`UPDATE queue SET runner_id = gen_random_uuid() WHERE val_id = ${val.id}`.execute(server.db)
  await makeDue(server, [val], 5)
  assert.equal((await untilDecided(val, 3))[2]?.outcome, 'skipped')
  await sql`DELETE FROM queue WHERE val_id = ${val.id}`.execute(server.db)
  await makeDue(server, [val], 3)
  assert.equal((await untilDecided(val, 4))[3]?.outcome, 'fired')
  await putSchedule(owner, val, { cron: '0 0 1 1 *', overlap: 'queue' })
  await makeDue(server, [val], 1)
  assert.equal((await untilDecided(val, 5))[4]?.outcome, 'fired')
  assert.equal(await countRuns(server, val), 3)
})

test('a run by hand does not keep a schedule from firing', async () => {
  const { val, owner } = await scheduleVal(server, { cron: '0 0 1 1 *' })
  assert.equal((await owner.post(`/v1/vals/${val.id}/runs`, {})).status, 202)
  await makeDue(server, [val], 1)
  assert.equal((await untilDecided(val, 1))[0]?.outcome, 'fired')
})

test('a disabled schedule, a deleted one and that of a deleted val do not fire', async () => {
  const scenes = await Promise.all(
    Array.from({ length: 3 }, async () => scheduleVal(server, { cron: '0 0 1 1 *' })),
  )
  const [disabled = assert.fail(), gone = assert.fail(), valGone = assert.fail()] = scenes
  await putSchedule(disabled.owner, disabled.val, { cron: '* * * * * *', enabled: false })
  await gone.owner.delete(`/v1/vals/${gone.val.id}/schedule`)
  await sql`DELETE FROM vals WHERE id = ${valGone.val.id}`.execute(server.db)
  await makeDue(server, [gone.val, valGone.val], 1)
  await waitUntil(
    'the schedule of the deleted val rests',
    async () => (await scheduleOf(valGone.val)).next_at === null,
  )
  const { val: other } = await scheduleVal(server, { cron: '* * * * * *', overlap: 'queue' })
  await untilDecided(other, 2)
  for (const { val } of scenes) assert.deepEqual(await firingsOf(server, val), [])
})

test('a planned time that has fired does not fire again, whatever moves next_at back', async () => {
  const { val } = await scheduleVal(server, { cron: '0 0 1 1 *', overlap: 'queue' })
  await makeDue(server, [val], 30)
  const [fired] = await untilDecided(val, 1)
  for (let i = 0; i < 3; i++) {
    await sql`UPDATE schedules SET next_at = ${fired?.planned_at} WHERE val_id = ${val.id}`.execute(server.db)
    await waitUntil('it is planned anew', async () => Number((await scheduleOf(val)).next_at) > Date.now())
  }
  assert.equal((await firingsOf(server, val)).length, 1)
  assert.equal(await countRuns(server, val), 1)
})

test('what was computed by a clock that ran ahead is planned anew, and nothing of the future stays missed', async () => {
  const { val } = await scheduleVal(server, { cron: '* * * * * *', overlap: 'queue' })
  const [{ planned_at: before } = assert.fail()] = await untilDecided(val, 1)
  // As if the clock had been an hour ahead for a moment, in which what it passed over was missed.
  await sql`
    WITH missed AS (
      INSERT INTO firings (val_id, planned_at, owner_id, outcome, through_at)
      SELECT val_id, date_trunc('second', now()) + interval '3 seconds', owner_id, 'missed', now() + interval '1 hour'
      FROM schedules WHERE val_id = ${val.id}
    )
    UPDATE schedules SET next_at = next_at + interval '1 hour', computed_at = now() + interval '1 hour'
    WHERE val_id = ${val.id}`.execute(server.db)
  await waitUntil('it fires again', async () => {
    const firings = await firingsOf(server, val)
    return firings.filter(({ outcome, planned_at }) => outcome === 'fired' && planned_at > before).length >= 5
  })
  assert.ok((await firingsOf(server, val)).every(({ outcome }) => outcome === 'fired'))
})

test('a val that somebody writes to keeps no other from firing, and fires afterwards', async () => {
  const [held, other] = await Promise.all([
    scheduleVal(server, { cron: '0 0 1 1 *' }),
    scheduleVal(server, { cron: '0 0 1 1 *' }),
  ])
  await server.db.transaction().execute(async (hold) => {
    await sql`SELECT FROM vals WHERE id = ${held.val.id} FOR UPDATE`.execute(hold)
    await makeDue(server, [held.val, other.val], 1)
    await untilDecided(other.val, 1)
    assert.deepEqual(await firingsOf(server, held.val), [])
  })
  assert.equal((await untilDecided(held.val, 1))[0]?.outcome, 'fired')
})

test('beyond what an owner may have in the queue, planned times are refused, and those of others fire', async () => {
  await using small = await openTestServer({ QUEUED_RUNS_PER_OWNER_MAX: '2' })
  const owner = await newCaller(small, 'owner')
  const vals = await Promise.all(Array.from({ length: 5 }, async () => createVal(owner)))
  await Promise.all(vals.map(async (val) => putSchedule(owner, val, { cron: '0 0 1 1 *' })))
  const { val: other } = await scheduleVal(small, { cron: '0 0 1 1 *' })
  await makeDue(small, [...vals, other], 1)
  const outcomes = await waitFor('all are decided', async () => {
    const firings = await Promise.all([...vals, other].map(async (val) => firingsOf(small, val)))
    return firings.every(({ length }) => length === 1) ? firings.map(([firing]) => firing?.outcome) : null
  })
  assert.deepEqual(outcomes.slice(0, -1).map(String).toSorted(), [
    'fired',
    'fired',
    'refused',
    'refused',
    'refused',
  ])
  assert.equal(outcomes.at(-1), 'fired')
})

test('a schedule that cannot be understood any more rests, and keeps no other from firing', async () => {
  const [broken, other] = await Promise.all([
    scheduleVal(server, { cron: '0 0 1 1 *' }),
    scheduleVal(server, { cron: '0 0 1 1 *' }),
  ])
  await sql`UPDATE schedules SET time_zone = 'Europe/Atlantis' WHERE val_id = ${broken.val.id}`.execute(
    server.db,
  )
  await makeDue(server, [broken.val, other.val], 1)
  await untilDecided(other.val, 1)
  await waitUntil('it rests', async () => (await scheduleOf(broken.val)).next_at === null)
  assert.deepEqual(await firingsOf(server, broken.val), [])
})

async function failedStatements(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT xact_rollback::float8 AS count FROM pg_stat_database WHERE datname = current_database()`.execute(
    server.db,
  )
  return rows[0]?.count ?? 0
}

test('the scheduler goes on after the database refused it for a while', async () => {
  const { val } = await scheduleVal(server, { cron: '* * * * * *', overlap: 'queue' })
  await untilDecided(val, 1)
  const before = await failedStatements()
  await sql`ALTER TABLE schedules RENAME TO schedules_away`.execute(server.db)
  try {
    await waitUntil('the scheduler has failed', async () => (await failedStatements()) >= before + 2)
  } finally {
    await sql`ALTER TABLE schedules_away RENAME TO schedules`.execute(server.db)
  }
  await untilDecided(val, (await firingsOf(server, val)).length + 2)
})

test('metrics tell how planned times ended and how late runs were enqueued', async () => {
  const { val } = await scheduleVal(server, { cron: '* * * * * *', overlap: 'queue' })
  await untilDecided(val, 1)
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  assert.match(metrics, /^valley_firings_total\{outcome="fired"\} \d+$/m)
  assert.match(metrics, /^valley_schedule_lag_seconds_count \d+$/m)
})

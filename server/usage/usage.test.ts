import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { RunDetails } from '@valley/contract/runs.ts'
import type { Usage } from '@valley/contract/usage.ts'
import { recordReports } from '../runs/record-reports.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { reportOf } from '../testing/report-runs.ts'
import { upkeepOnce } from '../upkeep/upkeep.ts'
import { resolveVal } from '../vals/resolve-val.ts'

const server = await openTestServer({ RUNS_PER_DAY_MAX: '5', QUEUED_RUNS_PER_OWNER_MAX: '4' })
after(() => server[Symbol.asyncDispose]())

test('every run is counted once, whatever its end and however often it is reported', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const good = reportOf(val)
  const bad = reportOf(val, {
    status: 'failed',
    endedAtMs: good.startedAtMs + 100,
    startedAtMs: good.startedAtMs,
  })
  for (let i = 0; i < 3; i++) await recordReports(server.db, [good, bad])
  const { body } = await alice.get<Usage>('/v1/me/usage')
  assert.deepEqual(body.runsToday, { used: 2, limit: 5 })
  assert.deepEqual(
    body.days.map(({ runs, failedRuns, runMs }) => ({ runs, failedRuns, runMs })),
    [{ runs: 2, failedRuns: 1, runMs: 105 }],
  )
  assert.ok(Date.parse(body.resetsAt) > Date.now() && Date.parse(body.resetsAt) <= Date.now() + 86_400_000)
})

test('counts of many owners that two servers write at once are all there', async () => {
  const vals = await Promise.all(
    ['u1', 'u2', 'u3', 'u4'].map(async (name) => createVal(await newCaller(server, name))),
  )
  const batch = () => vals.toSorted(() => Math.random() - 0.5).map((val) => reportOf(val))
  await Promise.all(Array.from({ length: 20 }, async () => recordReports(server.db, batch())))
  const { rows } = await sql<{ runs: string }>`
    SELECT runs FROM usage WHERE owner_id = ANY(${vals.map(({ author }) => author.id)})`.execute(server.db)
  assert.deepEqual(
    rows.map(({ runs }) => Number(runs)),
    [20, 20, 20, 20],
  )
})

test('once the runs of the day are used up, no more are taken, and it is said until when', async () => {
  const bob = await newCaller(server, 'bob')
  const val = await createVal(bob, { type: 'http' })
  await recordReports(
    server.db,
    Array.from({ length: 5 }, () => reportOf(val)),
  )
  const refused = await bob.post(`/v1/vals/${val.id}/runs`, {})
  assertFault(refused, 'quota_exceeded')
  const retryAfter = Number(refused.headers.get('retry-after'))
  assert.ok(retryAfter > 0 && retryAfter <= 86_400)
  const head = async (runsPerDayMax: number | null) => {
    const parts = { db: server.db, environmentKeys: [], observe: { environmentUnreadable: () => undefined } }
    const reply = await resolveVal({ ...parts, runsPerDayMax }, val.id.replaceAll('-', ''))
    return reply.kind === 'found' ? reply.head.isOverQuota : reply.kind
  }
  assert.deepEqual([await head(5), await head(6), await head(null)], [true, false, false])
})

test('what waits counts towards the day, and a full queue is told from a day that is used up', async () => {
  const carol = await newCaller(server, 'carol')
  const val = await createVal(carol)
  const run = async () => carol.post<RunDetails>(`/v1/vals/${val.id}/runs`, {})
  const answers = []
  for (let i = 0; i < 5; i++) answers.push(await run())
  assert.deepEqual(
    answers.map(({ status }) => status),
    [202, 202, 202, 202, 429],
  )
  const [last] = answers.slice(-1)
  assert.ok(last)
  assertFault(last, 'queue_full')
  const { body } = await carol.get<Usage>('/v1/me/usage')
  assert.deepEqual(
    [body.queuedRuns, body.runsAtOnce],
    [
      { used: 4, limit: 4 },
      { used: 0, limit: 200 },
    ],
  )
})

test('usage of more than a year ago is forgotten', async () => {
  const dan = await newCaller(server, 'dan')
  await sql`INSERT INTO usage (owner_id, day, runs, failed, run_ms)
    SELECT ${dan.user.id}, (now() AT TIME ZONE 'UTC')::date - days, 1, 0, 1 FROM unnest(ARRAY[399, 401]) days`.execute(
    server.db,
  )
  const retention = { runRetentionDays: 30, logRetentionDays: 30 }
  while ((await upkeepOnce(server.db, retention)) === null) continue
  assert.equal((await dan.get<Usage>('/v1/me/usage')).body.days.length, 1)
})

test('what runs printed may be dropped before the runs are', async () => {
  const daysAgo = async (days: number) => {
    await sql`SELECT create_run_partitions((now() AT TIME ZONE 'UTC')::date - ${days}::integer,
      (now() AT TIME ZONE 'UTC')::date - ${days}::integer)`.execute(server.db)
  }
  for (const days of [3, 6]) await daysAgo(days)
  const retention = { runRetentionDays: 5, logRetentionDays: 2 }
  while ((await upkeepOnce(server.db, retention)) === null) continue
  const { rows } = await sql<{ name: string }>`
    SELECT parent || ' ' || (today - right(child, 8)::date) AS name FROM (
      SELECT inhparent::regclass::text AS parent, inhrelid::regclass::text AS child,
        (now() AT TIME ZONE 'UTC')::date AS today FROM pg_inherits) p
    WHERE parent IN ('runs', 'run_details') AND right(child, 8)::date < today - 1`.execute(server.db)
  assert.deepEqual(rows, [{ name: 'runs 3' }])
})

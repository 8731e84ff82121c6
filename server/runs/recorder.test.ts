import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { RunDetails } from '@valley/contract/runs.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { v7 } from 'uuid'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { openRunnerBus, publishReports, reportOf } from '../testing/report-runs.ts'
import { waitFor, waitUntil } from '../testing/wait-until.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path }))
const server = opened.use(await openTestServer({ NATS_URL: nats.url, LOG_LEVEL: 'silent' }))
const runner = opened.use(openRunnerBus(nats.url))
const alice = await newCaller(server, 'alice')
const val = await createVal(alice)

const readRun = (id: string, caller: TestCaller = alice) => caller.get<RunDetails>(`/v1/runs/${id}`)

async function whenRecorded({ id }: RunReport): Promise<RunDetails> {
  return waitFor(`run ${id} is recorded`, async () => {
    const { status, body } = await readRun(id)
    return status === 200 ? body : null
  })
}

/** Once this one is recorded, all before it are dealt with: the recorder takes them in order. */
async function whenCaughtUp(): Promise<void> {
  const last = reportOf(val)
  await publishReports(runner, [last])
  await whenRecorded(last)
}

async function countRows(id: string): Promise<unknown> {
  const { rows } = await sql`
    SELECT (SELECT count(*)::integer FROM runs WHERE id = ${id}) AS runs,
      (SELECT count(*)::integer FROM run_details WHERE id = ${id}) AS details`.execute(server.db)
  return rows[0]
}

test('a reported run is recorded with all that the report says', async () => {
  const error = { name: 'TypeError', message: 'x is not a function', stack: 'at y' }
  const at = new Date().toISOString()
  const logs = [
    { at, level: 'info' as const, message: 'one' },
    { at, level: 'error' as const, message: 'two' },
  ]
  const report = reportOf(val, { status: 'failed', error, logs, response: null })
  await publishReports(runner, [report])
  const run = await whenRecorded(report)
  const { id, name, author, privacy } = val
  assert.deepEqual(run, {
    id: report.id,
    val: { id, name, author, privacy, version: 1 },
    source: 'http',
    status: 'failed',
    error,
    parentId: null,
    createdAt: new Date(Number.parseInt(report.id.replace('-', '').slice(0, 12), 16)).toISOString(),
    runStartAt: new Date(report.startedAtMs).toISOString(),
    runEndAt: new Date(report.endedAtMs).toISOString(),
    args: [],
    returnValue: null,
    returnValueCut: false,
    logs,
    request: report.request,
    response: null,
    timings: report.timings,
    memoryPeakBytes: 1_000_000,
  })
})

test('a batch that arrives twice, and a run that is in two batches, is recorded once', async () => {
  const reports = [reportOf(val), reportOf(val)]
  for (let times = 0; times < 2; times++) await publishReports(runner, reports)
  await publishReports(runner, [...reports, ...reports])
  await whenCaughtUp()
  for (const { id } of reports) assert.deepEqual(await countRows(id), { runs: 1, details: 1 })
  assert.doesNotMatch(await readMetrics(), /why="not_storable"\} [1-9]/, 'what is known is no fault')
})

const readMetrics = async () => (await fetch(`${server.url}/metrics`)).text()

test('what jsonb cannot hold is recorded all the same, with a mark where it was', async () => {
  const at = new Date().toISOString()
  const message = 'NUL \0, half a pair \ud83d, a whole one \u{1F600}, a backslash \\u0000'
  const error = { name: 'Error', message }
  const report = reportOf(val, { status: 'failed', error, logs: [{ at, level: 'info', message }] })
  await publishReports(runner, [report])
  const { logs, error: recorded } = await whenRecorded(report)
  const expected = 'NUL \ufffd, half a pair \ufffd, a whole one \u{1F600}, a backslash \\u0000'
  assert.deepEqual([logs[0]?.message, recorded?.message], [expected, expected])
})

test('a report that cannot be recorded does not keep the others of its batch from it', async () => {
  const good = [reportOf(val), reportOf(val), reportOf(val)]
  const bad = {
    ofADayWithoutPartition: reportOf(val, { id: v7({ msecs: Date.now() + 100 * 86_400_000 }) }),
    ofAVersionBeyondInteger: reportOf(val, { version: 2 ** 40 }),
    ofAnotherShape: { ...reportOf(val), status: 'exploded' } as unknown as RunReport,
  }
  const [first = assert.fail(), ...rest] = good
  await publishReports(runner, [first, ...Object.values(bad), ...rest])
  for (const report of good) await whenRecorded(report)
  await whenCaughtUp()
  for (const { id } of Object.values(bad)) assert.deepEqual(await countRows(id), { runs: 0, details: 0 })
})

test('a message that is no batch at all is passed over', async () => {
  await waitUntil('it is stored', async () => {
    const body = { batchId: 1, reports: 'none' } as never
    return (await runner.publishToStream('RUNS', body, { messageId: 'nonsense' })) === 'stored'
  })
  await whenCaughtUp()
})

test('a run of a val that is gone, or that is another owner’s, leaves no row behind', async () => {
  const bob = await newCaller(server, 'bob')
  const doomed = await createVal(alice)
  await alice.delete(`/v1/vals/${doomed.id}`)
  const reports = [reportOf(doomed), reportOf(val, { ownerId: bob.user.id })]
  await publishReports(runner, reports)
  await whenCaughtUp()
  for (const { id } of reports) assert.deepEqual(await countRows(id), { runs: 0, details: 0 })
})

/** Neither new connections nor those that there are: for whoever asks, the database is away. */
async function withDatabaseAway(work: () => Promise<void>): Promise<void> {
  const name = new URL(server.databaseUrl).pathname.slice(1)
  const admin = new pg.Client(process.env['TEST_POSTGRES_URL'])
  await admin.connect()
  try {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name])
    await work()
  } finally {
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await admin.end()
  }
}

test('runs that are reported while the database is away are recorded once it is back', async () => {
  const reports = Array.from({ length: 40 }, () => reportOf(val))
  await withDatabaseAway(async () => {
    for (const report of reports) await publishReports(runner, [report])
    assert.notEqual((await readRun(reports[0]?.id ?? '')).status, 200)
  })
  for (const report of reports) await whenRecorded(report)
})

test('runs survive that NATS is killed with -9 before they are recorded', async () => {
  const reports = Array.from({ length: 40 }, () => reportOf(val))
  await withDatabaseAway(async () => {
    for (const report of reports) await publishReports(runner, [report])
    await nats.kill()
    await nats.restart()
  })
  for (const report of reports) {
    await whenRecorded(report)
    assert.deepEqual(await countRows(report.id), { runs: 1, details: 1 })
  }
})

test('metrics tell what was recorded, what was not, and how much waits', async () => {
  await whenCaughtUp()
  const text = await readMetrics()
  assert.match(text, /^valley_runs_recorded_total [1-9]/m)
  for (const why of ['val_gone', 'bad_shape', 'not_storable']) {
    assert.match(text, new RegExp(`^valley_run_reports_dropped_total\\{why="${why}"\\} [1-9]`, 'm'))
  }
  assert.match(text, /^valley_run_reports_waiting \d/m)
})

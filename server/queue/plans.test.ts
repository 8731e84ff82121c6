import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import { highestId, lowestId, newId } from '../database/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import type { Db } from '../database/statement.ts'
import { selectRun, selectRuns } from '../runs/queries.ts'
import { selectSurroundings } from '../schedules/queries.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { ClaimDesk } from './claim-runs.ts'
import { enqueueRuns } from './enqueue.ts'
import {
  cancel,
  endReported,
  giveBackClaims,
  giveBackRuns,
  loseForgottenRuns,
  loseRunsOfRunner,
} from './transitions.ts'
import { forgetRunner, selectAnyDue, selectRunsOfRunner } from './queries.ts'

const backlog = 5_000
const claimedAtOnce = 10
/** For ten runs: each is looked at a few times, in a few tables. */
const rowsReadMax = 50 * claimedAtOnce

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const server = opened.use(await openTestServer())
const { db } = opened.use(openDatabase({ url: server.databaseUrl, connectionsMax: 1, onIdleError: () => {} }))

test('what a statement reads does not depend on how much waits, also if it was planned while nothing did', async () => {
  const alice = await newCaller(server)
  const { id: valId } = await createVal(alice)
  const runnerId = newId()
  const desk = new ClaimDesk({ ownerRunsMax: 10_000, valRunsMax: 10_000 })
  const claimSome = async (connection: Db) =>
    desk.claim(connection, { runnerId, claimNumber: 1, wanted: claimedAtOnce })

  await db.connection().execute(async (connection) => {
    await sql`SET plan_cache_mode = force_generic_plan`.execute(connection)
    await sql`VACUUM ANALYZE queue`.execute(connection)
    const nothing = statementsFor({ runnerId, ownerId: alice.user.id, valId, runs: [] })
    for (const execute of [claimSome, ...Object.values(nothing)]) await countRowsRead(connection, execute)

    const waiting = Array.from({ length: backlog }, () => {
      return { id: newId(), ownerId: alice.user.id, valId, source: 'api', args: [1] } as const
    })
    await enqueueRuns(connection, waiting)
    const readByClaim = await countRowsRead(connection, claimSome)
    assert.ok(readByClaim <= rowsReadMax, `claim reads ${readByClaim} rows`)
    const { runs } = (await claimSome(connection)) as { runs: readonly ClaimedRun[] }
    assert.equal(runs.length, claimedAtOnce)
    const statements = statementsFor({ runnerId, ownerId: alice.user.id, valId, runs })
    for (const [name, execute] of Object.entries(statements)) {
      const read = await countRowsRead(connection, execute)
      assert.ok(read <= rowsReadMax, `${name} reads ${read} rows`)
    }
  })
})

interface About {
  readonly runnerId: string
  readonly ownerId: string
  readonly valId: string
  readonly runs: readonly ClaimedRun[]
}

function statementsFor({
  runnerId,
  ownerId,
  valId,
  runs,
}: About): Record<string, (db: Db) => Promise<unknown>> {
  const run_ids = runs.map(({ id }) => id)
  const lost = { retry_ids: run_ids.map(() => newId()), error: '{}', limit: 100 }
  const report = { version: 1, status: 'succeeded', startedAtMs: Date.now(), endedAtMs: Date.now() }
  const reports = Object.fromEntries(run_ids.map((id) => [`${id} ${runnerId}`, report]))
  return {
    cancel: (on) => cancel(on, { run_id: run_ids[0] ?? newId(), owner_id: ownerId }),
    giveBackRuns: (on) => giveBackRuns(on, { runner_id: runnerId, claim_number: 1, run_ids }),
    giveBackClaims: (on) => giveBackClaims(on, { runner_id: runnerId, claim_numbers: [1] }),
    endReported: (on) => endReported(on, { run_ids, reports: JSON.stringify(reports) }),
    loseRunsOfRunner: (on) => loseRunsOfRunner(on, { runner_id: runnerId, ...lost }),
    loseForgottenRuns: (on) =>
      loseForgottenRuns(on, { runner_id: runnerId, claims_settled: 1, run_ids, ...lost }),
    selectRunsOfRunner: (on) => selectRunsOfRunner(on, { runner_id: runnerId }),
    selectAnyDue: (on) => selectAnyDue(on, { limit: 100 }),
    forgetRunner: (on) => forgetRunner(on, { runner_id: runnerId, beat: '1' }),
    selectRun: (on) => selectRun(on, { id: run_ids[0] ?? newId(), owner_id: ownerId }),
    selectRuns: (on) =>
      selectRuns({ ofOneVal: false, error: undefined, sources: 'any' })(
        on,
        { owner_id: ownerId, val_id: null, sources: [] },
        { above: lowestId, below: highestId, limit: 10, offset: 0, direction: 'older' },
      ),
    selectSurroundings: (on) => selectSurroundings(on, { val_ids: [valId] }),
  }
}

/** Of all tables, in a transaction that is rolled back. */
async function countRowsRead(connection: Db, execute: (db: Db) => Promise<unknown>): Promise<number> {
  await sql`BEGIN`.execute(connection)
  try {
    const before = await readCounter(connection)
    await execute(connection)
    return (await readCounter(connection)) - before
  } finally {
    await sql`ROLLBACK`.execute(connection)
  }
}

async function readCounter(connection: Db): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS read
    FROM pg_stat_xact_user_tables`.execute(connection)
  return rows[0]?.read ?? assert.fail()
}

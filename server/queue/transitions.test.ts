import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { newId } from '../database/ids.ts'
import { openDatabase } from '../database/open-database.ts'
import { recordReports } from '../runs/record-reports.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { ClaimDesk } from './claim-runs.ts'
import { enqueueRuns, type NewRun } from './enqueue.ts'
import { hearBeat } from './hear-beat.ts'
import { loseRuns } from './lose-runs.ts'
import { audit } from './testing/audit.ts'
import { claimMessage, reportMessage } from './testing/messages.ts'
import { emptyModel, type EndStatus, type ModelRun, runningOf } from './testing/model.ts'
import { forgetAll, readRuns, readStatusChanges, type Real, reportBy, watchStatuses } from './testing/real.ts'
import { type Course, runnerCount, steps } from './testing/steps.ts'
import { cancel, type EndedRow, giveBackRuns, loseRunsOfRunner } from './transitions.ts'

const bounds = { ownerRunsMax: 4, valRunsMax: 3 }

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const server = opened.use(await openTestServer())
const { db } = opened.use(
  openDatabase({ url: server.databaseUrl, connectionsMax: 12, onIdleError: () => {} }),
)
await watchStatuses(db)
const vals: { id: string; ownerId: string }[] = []
for (const name of ['alice', 'bob']) {
  const caller = await newCaller(server, name)
  for (let i = 0; i < 2; i++) vals.push({ id: (await createVal(caller)).id, ownerId: caller.user.id })
}
const [val = assert.fail()] = vals

/** A queue with nothing in it, and runners that nobody knows. */
async function openCourse(): Promise<{ course: Course; real: Real }> {
  await forgetAll(db)
  const runners = Array.from({ length: runnerCount }, newId)
  const course = { ...emptyModel(runners), sent: [], ends: new Map() }
  return { course, real: { db, desk: new ClaimDesk(bounds), bounds, vals } }
}

test('whatever runners and users say, in any order, late or twice: a run is begun once at the most and ends once', async () => {
  await fc.assert(
    fc.asyncProperty(steps(), async (given) => {
      const { course, real } = await openCourse()
      await fc.asyncModelRun(() => ({ model: course, real }), given)
      await finish(course, real)
      await assertHistory(course)
    }),
    { numRuns: 50, interruptAfterTimeLimit: 40_000 },
  )
})

/** A runner without faults takes over; then nothing may be left. */
async function finish(course: Course, real: Real): Promise<void> {
  const heir = { id: newId(), claims: 0, abandoned: new Set<number>(), held: new Map() }
  for (;;) {
    const given = await claimMessage(heir, ++heir.claims, 10).deliver(course, real)
    const left = runningOf(course)
    if (given.length === 0 && left.length === 0) return
    for (const { run } of left) {
      assert.ok(run.state.kind === 'running')
      await reportMessage(run.state.runnerId, run, 'succeeded').deliver(course, real)
    }
    await audit(course, real, course.ends)
  }
}

async function assertHistory({ runs }: Course): Promise<void> {
  const changes = await readStatusChanges(db)
  for (const { id, state } of runs.values()) {
    assert.ok(state.kind === 'over')
    assert.deepEqual(changes.get(id), [`queued → ${state.status}`], 'it was ended more than once')
  }
  for (const run of runs.values()) {
    const chain = chainOf(run)
    assert.ok(chain.length <= run.attempts, `${chain.length} attempts of ${run.attempts}`)
    for (const { state } of chain.slice(1)) {
      assert.ok(state.kind === 'over' && ['failed', 'timed_out'].includes(state.status))
    }
  }
}

/** From a run to the first attempt at it. */
function chainOf(run: ModelRun): readonly ModelRun[] {
  return run.parent === null ? [run] : [run, ...chainOf(run.parent)]
}

test('a hand back that comes late is not about a run that came back to the same runner', async () => {
  const { real } = await openCourse()
  const [id, runnerId] = [newId(), newId()]
  await enqueueOne(id)
  const claim = async (claimNumber: number) => {
    const reply = await real.desk.claim(db, { runnerId, claimNumber, wanted: 1 })
    return reply.kind === 'claimed' ? reply.runs.map((run) => run.id) : assert.fail()
  }
  const handBackOf = async (claim_number: number) =>
    giveBackRuns(db, { runner_id: runnerId, claim_number, run_ids: [id] })
  assert.deepEqual(await claim(1), [id])
  await handBackOf(1)
  assert.deepEqual(await claim(2), [id])
  await handBackOf(1)
  assert.deepEqual(await claim(3), [], 'it is under way')
  await handBackOf(2)
  assert.deepEqual(await claim(4), [id])
})

test('what others say of a run in the same batch does not hide what its own runner says', async () => {
  for (const isFirst of [true, false]) {
    const { real } = await openCourse()
    const [id, runnerId] = [newId(), newId()]
    await enqueueOne(id)
    await real.desk.claim(db, { runnerId, claimNumber: 1, wanted: 1 })
    const run = { id, owner: val.ownerId, val: val.id }
    const own = reportBy(runnerId, run, 'succeeded')
    const others = Array.from({ length: 3 }, () => reportBy(newId(), run, 'failed'))
    const { ended } = await recordReports(db, isFirst ? [own, ...others] : [...others, own])
    assert.deepEqual(
      ended.map(({ id, status }) => ({ id, status })),
      [{ id, status: 'succeeded' }],
    )
  }
})

test('a run ends also if what its runner says of it cannot be kept', async () => {
  const { real } = await openCourse()
  const ids = [newId(), newId(), newId()]
  const runnerId = newId()
  for (const id of ids) await enqueueOne(id)
  await real.desk.claim(db, { runnerId, claimNumber: 1, wanted: 3 })
  const [good = '', bad = '', strange = ''] = ids
  const { ended, faults } = await recordReports(db, [
    report(runnerId, good, 'succeeded'),
    { ...report(runnerId, bad, 'failed'), memoryPeakBytes: 2 ** 70 },
    { ...report(runnerId, strange, 'succeeded'), returnValue: { 'nul \0': ['half \ud800', '\\u0000'] } },
  ])
  assert.deepEqual(new Set(ended.map(({ id }) => id)), new Set(ids))
  assert.equal(faults.length, 1)
  const stored = new Map((await readRuns(db)).map((run) => [run.id, run]))
  assert.deepEqual([stored.get(bad)?.status, stored.get(bad)?.error?.name], ['failed', 'NotKept'])
  const { rows } = await sql<{ return_value: unknown }>`
    SELECT return_value FROM run_details WHERE id = ${strange}`.execute(db)
  assert.deepEqual(rows[0]?.return_value, { 'nul \ufffd': ['half \ufffd', '\\u0000'] })
})

async function enqueueOne(id: string, retry: NewRun['retry'] = null): Promise<void> {
  const run = { id, ownerId: val.ownerId, valId: val.id, source: 'api', args: null, retry } as const
  assert.deepEqual(await enqueueRuns(db, [run]), [id])
}

/** Of what can happen to a run at one moment, each on a connection of its own; true: this ended it. */
const happenings = {
  reported: async (id, runnerId) =>
    isEnded(id, (await recordReports(db, [report(runnerId, id, 'failed')])).ended),
  'reported as canceled': async (id, runnerId) =>
    isEnded(id, (await recordReports(db, [report(runnerId, id, 'canceled')])).ended),
  'reported by another': async (id) =>
    isEnded(id, (await recordReports(db, [report(newId(), id, 'succeeded')])).ended),
  canceled: async (id) =>
    (await cancel(db, { run_id: id, owner_id: val.ownerId })).rows[0]?.state === 'canceled',
  'handed back': async (id, runner_id) => {
    await giveBackRuns(db, { runner_id, claim_number: 1, run_ids: [id] })
    return false
  },
  abandoned: async (id, runnerId) => {
    const told = { runnerId, claimsSettled: 1, claimsAbandoned: [1], runIds: [] }
    return isEnded(id, (await hearBeat(db, told)).lost.runs)
  },
  forgotten: async (id, runnerId) => {
    const told = { runnerId, claimsSettled: 1, claimsAbandoned: [], runIds: [] }
    return isEnded(id, (await hearBeat(db, told)).lost.runs)
  },
  lost: async (id, runner_id) => isEnded(id, (await loseRuns(db, loseRunsOfRunner, { runner_id })).runs),
  claimed: async () => {
    await new ClaimDesk(bounds).claim(db, { runnerId: newId(), claimNumber: 1, wanted: 5 })
    return false
  },
} satisfies Record<string, (id: string, runnerId: string) => Promise<boolean>>

function isEnded(id: string, ended: readonly EndedRow[]): boolean {
  return ended.some((row) => row.id === id)
}

function report(runnerId: string, id: string, status: EndStatus) {
  return reportBy(runnerId, { id, owner: val.ownerId, val: val.id }, status)
}

test('of all that happens to a run at the same time, one thing ends it, and one attempt follows at the most', async () => {
  const names = Object.keys(happenings) as (keyof typeof happenings)[]
  const together = fc.array(fc.constantFrom(...names), { minLength: 4, maxLength: 12 })
  const start = fc.record({ isClaimed: fc.boolean(), isCancelRequested: fc.boolean(), together })
  await fc.assert(
    fc.asyncProperty(start, async ({ isClaimed, isCancelRequested, together }) => {
      const { real } = await openCourse()
      const [id, runnerId] = [newId(), newId()]
      await enqueueOne(id, { attempts: 2, backoffMs: 60_000 })
      if (isClaimed) await real.desk.claim(db, { runnerId, claimNumber: 1, wanted: 1 })
      if (isClaimed && isCancelRequested) await cancel(db, { run_id: id, owner_id: val.ownerId })

      const ending = await Promise.all(together.map(async (name) => happenings[name](id, runnerId)))

      const runs = await readRuns(db)
      const run = runs.find((row) => row.id === id) ?? assert.fail()
      const retries = runs.filter(({ parent_id }) => parent_id === id)
      const changes = (await readStatusChanges(db)).get(id) ?? []
      const isOver = run.status !== 'queued'
      assert.equal(run.queue_id === null, isOver)
      assert.equal(changes.length, isOver ? 1 : 0, changes.join())
      assert.ok(ending.filter(Boolean).length <= 1, 'two said that they ended it')
      const isRetried = run.status === 'failed' || run.status === 'timed_out'
      assert.ok(isRetried ? retries.length <= 1 : retries.length === 0)
      assert.equal(runs.length, 1 + retries.length)
    }),
    { numRuns: 150, interruptAfterTimeLimit: 40_000 },
  )
})

test('a run that is canceled while it is claimed is either canceled or given, and never both', async () => {
  for (let round = 0; round < 25; round++) {
    const { real } = await openCourse()
    const ids = Array.from({ length: 4 }, newId)
    for (const id of ids) await enqueueOne(id)
    const claims = Array.from({ length: 4 }, async (_, at) =>
      real.desk.claim(db, { runnerId: newId(), claimNumber: at, wanted: 1 }),
    )
    const cancels = ids.map(async (id) => {
      const { rows } = await cancel(db, { run_id: id, owner_id: val.ownerId })
      return rows[0]?.state === 'canceled' ? [id] : []
    })
    const replies = await Promise.all(claims)
    const given = replies.flatMap((reply) => (reply.kind === 'claimed' ? reply.runs.map(({ id }) => id) : []))
    const canceled = new Set((await Promise.all(cancels)).flat())
    assert.deepEqual(
      given.filter((id) => canceled.has(id)),
      [],
    )
    for (const { id, status, cancel_requested } of await readRuns(db)) {
      assert.equal(status, canceled.has(id) ? 'canceled' : 'queued')
      assert.equal(cancel_requested, canceled.has(id) ? null : true)
    }
  }
})

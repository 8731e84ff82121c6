import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import { openDatabase } from '../database/open-database.ts'
import { newId } from '../database/ids.ts'
import { limits } from '../limits.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { ClaimDesk } from './claim-runs.ts'
import { enqueueRuns } from './enqueue.ts'
import { emptyQueue, insertWaiting, newIds } from './testing/waiting-runs.ts'

/** As many owners one claim looks at. */
const walked = 64
const generous = { ownerRunsMax: 10_000, valRunsMax: 10_000 }

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const server = opened.use(await openTestServer())
const { db } = opened.use(openDatabase({ url: server.databaseUrl, connectionsMax: 8, onIdleError: () => {} }))
beforeEach(() => emptyQueue(db))

/** A runner that claims and never loses an answer. */
function openRunner(desk: ClaimDesk) {
  const runnerId = newId()
  let claimNumber = 0
  return async (wanted: number): Promise<readonly ClaimedRun[]> => {
    claimNumber += 1
    const reply = await desk.claim(db, { runnerId, claimNumber, wanted })
    assert.ok(reply.kind === 'claimed')
    return reply.runs
  }
}

function countBy<Key extends 'ownerId' | 'valId'>(runs: readonly ClaimedRun[], key: Key) {
  return new Map([...Map.groupBy(runs, (run) => run[key])].map(([id, group]) => [id, group.length] as const))
}

async function endAll(runs: readonly ClaimedRun[]): Promise<void> {
  await sql`DELETE FROM queue WHERE run_id = ANY(${runs.map(({ id }) => id)}::uuid[])`.execute(db)
}

test("everybody's first run comes before anybody's second", async () => {
  const owners = newIds(10)
  for (const [at, ownerId] of owners.entries()) {
    await insertWaiting(db, { ownerId, valId: newId(), count: at === 0 ? 500 : 3 })
  }
  const claim = openRunner(new ClaimDesk(generous))
  assert.deepEqual(countBy(await claim(10), 'ownerId'), new Map(owners.map((id) => [id, 1])))
  assert.deepEqual(countBy(await claim(20), 'ownerId'), new Map(owners.map((id) => [id, 2])))
  const rest = await claim(10)
  assert.deepEqual([...countBy(rest, 'ownerId').keys()], owners.slice(0, 1), 'who is alone gets all')
})

test('owners and vals get the same share, whatever number is asked for at once', async () => {
  for (const wanted of [1, 2, 3, 4, 5, 7]) {
    await emptyQueue(db)
    const [owners, vals] = [newIds(3), newIds(4)]
    for (const ownerId of owners) {
      for (const valId of vals) await insertWaiting(db, { ownerId, valId, count: 100 })
    }
    const claim = openRunner(new ClaimDesk(generous))
    const given: ClaimedRun[] = []
    while (given.length < 120) given.push(...(await claim(wanted)))
    for (const [owner, runs] of Map.groupBy(given, ({ ownerId }) => ownerId)) {
      assert.ok(Math.abs(runs.length - 40) <= 2, `${runs.length} of ${owner}, ${wanted} at a time`)
      for (const count of countBy(runs, 'valId').values()) {
        assert.ok(Math.abs(count - 10) <= 2, `${count} of one val, ${wanted} at a time`)
      }
    }
  }
})

test('an owner with many vals gets no more than one with a single val', async () => {
  const [many = '', single = ''] = newIds(2)
  for (const valId of newIds(70)) await insertWaiting(db, { ownerId: many, valId, count: 20 })
  await insertWaiting(db, { ownerId: single, valId: newId(), count: 200 })
  const given = await openRunner(new ClaimDesk(generous))(100)
  assert.deepEqual(
    countBy(given, 'ownerId'),
    new Map([
      [many, 50],
      [single, 50],
    ]),
  )
})

test('of one val, what has been due for longest is given first', async () => {
  const [ownerId, valId] = [newId(), newId()]
  for (const dueInMs of [-1_000, -3_000, 60_000, -2_000]) await insertWaiting(db, { ownerId, valId, dueInMs })
  const { rows } = await sql<{ run_id: string }>`
    SELECT run_id FROM queue WHERE due_at <= now() ORDER BY due_at`.execute(db)
  const claim = openRunner(new ClaimDesk(generous))
  const given = [...(await claim(1)), ...(await claim(1)), ...(await claim(5))]
  assert.deepEqual(
    given.map(({ id }) => id),
    rows.map(({ run_id }) => run_id),
  )
})

test('more owners than one claim looks at each get their turn within one lap', async () => {
  const owners = newIds(3 * walked + 5)
  for (const ownerId of owners) await insertWaiting(db, { ownerId, valId: newId(), count: 10 })
  const claim = openRunner(new ClaimDesk(generous))
  const given: ClaimedRun[] = []
  while (given.length < owners.length) given.push(...(await claim(20)))
  const counts = countBy(given, 'ownerId')
  assert.equal(counts.size, owners.length, 'somebody had two before all had one')
})

for (const [why, others] of Object.entries({
  'have runs that are not due yet': { dueInMs: 60_000 },
  'run as much as they may': { runs: true },
})) {
  test(`an owner after many who ${why} has its turn in the next claim`, async () => {
    const owners = newIds(10 * walked)
    const last = owners.at(-1) ?? ''
    for (const ownerId of owners.slice(0, -1)) {
      await insertWaiting(db, { ownerId, valId: newId(), dueInMs: 0, ...others })
    }
    if ('runs' in others) await occupy(owners)
    await insertWaiting(db, { ownerId: last, valId: newId(), count: 3 })
    const claim = openRunner(new ClaimDesk({ ownerRunsMax: 1, valRunsMax: 1 }))
    assert.deepEqual([...countBy(await claim(10), 'ownerId').keys()], [last])
  })

  test(`a val after many of its owner's that ${why} has its turn within few claims`, async () => {
    const [ownerId, vals] = [newId(), newIds(20 * walked)]
    const last = vals.at(-1) ?? ''
    for (const valId of vals.slice(0, -1)) await insertWaiting(db, { ownerId, valId, ...others })
    if ('runs' in others) await occupyVals(ownerId, vals)
    await insertWaiting(db, { ownerId, valId: last })
    const claim = openRunner(new ClaimDesk({ ownerRunsMax: 10_000, valRunsMax: 1 }))
    const given: ClaimedRun[] = []
    for (let claims = 0; claims < 5 && given.length === 0; claims++) given.push(...(await claim(10)))
    assert.deepEqual([...countBy(given, 'valId').keys()], [last])
  })
}

/** One run of each but the last is under way elsewhere. */
async function occupy(owners: readonly string[]): Promise<void> {
  for (const ownerId of owners.slice(0, -1)) await insertRunning(ownerId, newId())
}

async function occupyVals(ownerId: string, vals: readonly string[]): Promise<void> {
  for (const valId of vals.slice(0, -1)) await insertRunning(ownerId, valId)
}

async function insertRunning(ownerId: string, valId: string): Promise<void> {
  await sql`
    INSERT INTO queue (run_id, owner_id, val_id, source, due_at, args_bytes, attempt, attempts, backoff_ms,
      runner_id, claim_number, claimed_at)
    VALUES (gen_random_uuid(), ${ownerId}, ${valId}, 'api', now(), 0, 1, 1, 0, ${newId()}, 1, now())`.execute(
    db,
  )
}

test('no owner and no val has more under way than its bound, and what ends makes room', async () => {
  const [ownerId, vals] = [newId(), newIds(3)]
  for (const valId of vals) await insertWaiting(db, { ownerId, valId, count: 50 })
  const claim = openRunner(new ClaimDesk({ ownerRunsMax: 7, valRunsMax: 3 }))
  const first = await claim(100)
  assert.equal(first.length, 7)
  assert.ok([...countBy(first, 'valId').values()].every((count) => count <= 3))
  assert.deepEqual(await claim(100), [])
  await endAll(first.slice(0, 2))
  assert.equal((await claim(100)).length, 2)
})

test("a val at its bound does not keep its owner's other vals from running", async () => {
  const [ownerId, [hot = '', other = '']] = [newId(), newIds(2)]
  await insertWaiting(db, { ownerId, valId: hot, count: 1_000, dueInMs: -60_000 })
  const claim = openRunner(new ClaimDesk({ ownerRunsMax: 100, valRunsMax: 5 }))
  for (const [wanted, given] of [
    [3, 3],
    [100, 2],
    [100, 0],
  ] as const) {
    assert.equal((await claim(wanted)).length, given)
  }
  await insertWaiting(db, { ownerId, valId: other })
  assert.deepEqual(countBy(await claim(100), 'valId'), new Map([[other, 1]]))
})

test('bounds hold for runners that claim at the same time', async () => {
  const owners = newIds(4)
  for (const ownerId of owners) {
    for (const valId of newIds(3)) await insertWaiting(db, { ownerId, valId, count: 30 })
  }
  const bounds = { ownerRunsMax: 8, valRunsMax: 3 }
  const runners = Array.from({ length: 12 }, () => openRunner(new ClaimDesk(bounds)))
  const given = (await Promise.all(runners.map(async (claim) => claim(10)))).flat()
  assert.equal(new Set(given.map(({ id }) => id)).size, given.length, 'a run was given twice')
  assert.deepEqual(countBy(given, 'ownerId'), new Map(owners.map((id) => [id, 8])))
  assert.ok([...countBy(given, 'valId').values()].every((count) => count <= 3))
})

/** The median of several, each on a queue as it was before. */
async function claimMs(desk: ClaimDesk, wanted: number): Promise<number> {
  const claim = openRunner(desk)
  const times: number[] = []
  for (let i = 0; i < 15; i++) {
    const startedAtMs = performance.now()
    const runs = await claim(wanted)
    times.push(performance.now() - startedAtMs)
    assert.equal(runs.length, wanted)
    await sql`UPDATE queue SET runner_id = NULL, claim_number = NULL WHERE runner_id IS NOT NULL`.execute(db)
  }
  return times.toSorted((a, b) => a - b)[7] ?? 0
}

test("one owner's 100,000 waiting runs cost a claim about as much as 10, and delay nobody", async () => {
  const [crowd = '', other = ''] = newIds(2)
  await insertWaiting(db, { ownerId: crowd, valId: newId(), count: 10 })
  const fewMs = await claimMs(new ClaimDesk(generous), 10)
  await insertWaiting(db, { ownerId: crowd, valId: newId(), count: 100_000, dueInMs: -60_000 })
  const manyMs = await claimMs(new ClaimDesk(generous), 10)
  assert.ok(manyMs < fewMs * 5 + 10, `${fewMs} ms with 10 waiting, ${manyMs} ms with 100,000`)
  await insertWaiting(db, { ownerId: other, valId: newId() })
  const given = await openRunner(new ClaimDesk(generous))(2)
  assert.deepEqual(
    countBy(given, 'ownerId'),
    new Map([
      [crowd, 1],
      [other, 1],
    ]),
  )
})

test('many owners with many vals and many runs each do not make a claim slow', async () => {
  for (const ownerId of newIds(walked)) {
    await sql`
      INSERT INTO queue (run_id, owner_id, val_id, source, due_at, args_bytes, attempt, attempts, backoff_ms)
      SELECT gen_random_uuid(), ${ownerId}, v.id, 'api', now(), 0, 1, 1, 0
      FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, ${walked})) v, generate_series(1, 50)`.execute(
      db,
    )
  }
  const ms = await claimMs(new ClaimDesk(generous), limits.claimedAtOnceMax)
  assert.ok(ms < 500, `a claim took ${ms} ms`)
})

test('arguments of many large runs come by and by, within the bytes of one message', async () => {
  const owners = newIds(3)
  const argsBytes = limits.claimedArgsBytesMax / 4
  for (const ownerId of owners) await insertWaiting(db, { ownerId, valId: newId(), count: 4, argsBytes })
  const claim = openRunner(new ClaimDesk(generous))
  for (let left = 12; left > 0; left -= 4) {
    const given = await claim(100)
    assert.equal(given.length, 4)
    assert.equal(countBy(given, 'ownerId').size, owners.length, 'they still take turns')
  }
  assert.deepEqual(await claim(100), [])
  await insertWaiting(db, { ownerId: newId(), valId: newId(), argsBytes: limits.claimedArgsBytesMax * 2 })
  assert.equal((await claim(100)).length, 1, 'one that is too large by itself still comes')
})

test('a run that is being canceled is passed over and not waited for', async () => {
  const [ownerId, valId] = [newId(), newId()]
  await insertWaiting(db, { ownerId, valId, count: 5 })
  await db.transaction().execute(async (canceling) => {
    const { rows } = await sql<{ run_id: string }>`
      DELETE FROM queue WHERE run_id = (SELECT run_id FROM queue ORDER BY due_at, run_id LIMIT 1)
      RETURNING run_id`.execute(canceling)
    const startedAtMs = performance.now()
    const given = await openRunner(new ClaimDesk(generous))(10)
    assert.ok(performance.now() - startedAtMs < limits.lockTimeoutMs / 2, 'the claim waited')
    assert.equal(given.length, 4)
    assert.ok(!given.some(({ id }) => id === rows[0]?.run_id))
  })
})

test('a run that is committed while a claim waits for its turn is given with its arguments', async () => {
  const alice = await newCaller(server)
  const val = await createVal(alice)
  const run = {
    id: newId(),
    ownerId: alice.user.id,
    valId: val.id,
    source: 'api',
    args: ['kept', 2],
  } as const
  const claiming: Promise<readonly ClaimedRun[]>[] = []
  await db.transaction().execute(async (otherClaim) => {
    await sql`SELECT pg_advisory_xact_lock(7326005)`.execute(otherClaim)
    await db.transaction().execute(async (enqueuing) => {
      await enqueueRuns(enqueuing, [run])
      claiming.push(openRunner(new ClaimDesk(generous))(1))
      await waitUntil('the claim waits', async () => (await waitingForAdvisoryLocks()) === 1)
    })
  })
  const [given] = await Promise.all(claiming)
  assert.deepEqual(given, [
    { id: run.id, ownerId: run.ownerId, valId: val.id, source: 'api', args: run.args },
  ])
})

async function waitingForAdvisoryLocks(): Promise<number> {
  const { rows } = await sql`
    SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()`.execute(db)
  return rows.length
}

test('whoever asks for runs is told whether others are due', async () => {
  const [single = '', many = ''] = newIds(2)
  await insertWaiting(db, { ownerId: single, valId: newId() })
  await insertWaiting(db, { ownerId: many, valId: newId(), count: 150 })
  const desk = new ClaimDesk({ ownerRunsMax: 140, valRunsMax: 140 })
  const runnerId = newId()
  const claim = async (claimNumber: number, wanted: number) => {
    const reply = await desk.claim(db, { runnerId, claimNumber, wanted })
    assert.ok(reply.kind === 'claimed')
    return { given: reply.runs.length, othersWait: reply.othersWait }
  }
  assert.deepEqual(await claim(1, 200), { given: 101, othersWait: true })
  assert.deepEqual(await claim(2, 10), { given: 10, othersWait: true })
  assert.deepEqual(await claim(3, 200), { given: 30, othersWait: true })
  assert.deepEqual(await claim(3, 200), { given: 0, othersWait: true }, 'its owner is at the bound')
  await sql`DELETE FROM queue WHERE runner_id IS NOT NULL`.execute(db)
  assert.deepEqual(await claim(4, 200), { given: 10, othersWait: false })
})

test('a runner is given no more of a val than it asks for, none of those it has enough of, and all else', async () => {
  const [ownerId, [hot = '', full = '', other = '']] = [newId(), newIds(3)]
  for (const valId of [hot, full]) await insertWaiting(db, { ownerId, valId, count: 50 })
  await insertWaiting(db, { ownerId, valId: other, count: 2 })
  const desk = new ClaimDesk(generous)
  const runnerId = newId()
  const claim = async (claimNumber: number, fullVals: string[]) => {
    const asked = { runnerId, claimNumber, wanted: 100, wantedPerVal: 5, fullVals }
    const reply = await desk.claim(db, asked)
    return reply.kind === 'claimed' ? countBy(reply.runs, 'valId') : assert.fail()
  }
  const first = [
    [hot, 5],
    [other, 2],
  ] as const
  assert.deepEqual(await claim(1, [full]), new Map(first))
  assert.deepEqual(await claim(2, [full, hot]), new Map())
  assert.deepEqual(await claim(3, [hot]), new Map([[full, 5]]))
})

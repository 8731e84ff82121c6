import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import { limits as contractLimits } from '@valley/contract/limits.ts'
import type { Run, RunDetails } from '@valley/contract/runs.ts'
import type { Val } from '@valley/contract/vals.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { readConfig } from '../config.ts'
import { newId } from '../database/ids.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { openRunnerBus, publishReports, reportOf } from '../testing/report-runs.ts'
import { waitFor, waitUntil } from '../testing/wait-until.ts'
import { upkeepOnce } from '../upkeep/upkeep.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path }))
const server = opened.use(await openTestServer({ NATS_URL: nats.url }))
const bus = opened.use(openRunnerBus(nats.url))

/** The test itself, as servers see a runner. */
function openRunner() {
  const runnerId = newId()
  let claims = 0
  const held = new Set<string>()
  return {
    runnerId,
    /** Until there is something, within a bound. */
    async claimOne(runId: string): Promise<ClaimedRun & { claimNumber: number }> {
      return waitFor(`${runId} can be claimed`, async () => {
        const reply = await bus.request('claimRuns', { runnerId, claimNumber: ++claims, wanted: 100 }, bound)
        if (reply?.kind !== 'claimed') return null
        for (const { id } of reply.runs) held.add(id)
        const found = reply.runs.find(({ id }) => id === runId)
        return found ? { ...found, claimNumber: claims } : null
      })
    },
    async claimNothingOf({ id }: Val): Promise<void> {
      const reply = await bus.request('claimRuns', { runnerId, claimNumber: ++claims, wanted: 100 }, bound)
      assert.ok(reply?.kind === 'claimed')
      assert.deepEqual(
        reply.runs.filter(({ valId }) => valId === id),
        [],
      )
    },
    async beat() {
      const told = { runnerId, claimsSettled: claims, claimsAbandoned: [], runIds: [...held] }
      const reply = await bus.request('beat', told, bound)
      return reply?.kind === 'heard' ? reply : assert.fail('nobody heard the beat')
    },
    async report(val: Val, id: string, fields: Partial<RunReport> = {}): Promise<void> {
      held.delete(id)
      const own = { id, runnerId, source: 'api', request: null, response: null } as const
      await publishReports(bus, [reportOf(val, { ...own, ...fields })])
    },
  }
}

const bound = { timeoutMs: 5_000 }

async function openPlace() {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { privacy: 'public' })
  const runs = `/v1/vals/${val.id}/runs`
  return { alice, val, runs, runner: openRunner() }
}

const readRun = async (caller: TestCaller, id: string) =>
  (await caller.get<RunDetails>(`/v1/runs/${id}`)).body

async function enqueue(caller: TestCaller, path: string, body: object = {}): Promise<RunDetails> {
  const answer = await caller.post<RunDetails>(path, body)
  assert.equal(answer.status, 202, answer.text)
  return answer.body
}

async function untilEnded(caller: TestCaller, id: string): Promise<RunDetails> {
  return waitFor(`run ${id} is over`, async () => {
    const run = await readRun(caller, id)
    return run.status === 'queued' || run.status === 'running' ? null : run
  })
}

test('a run waits, runs and ends, and every answer on the way says so', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const answer = await alice.post<RunDetails>(runs, { args: ['a', { b: [null] }] })
  const { id } = answer.body
  assert.equal(answer.status, 202)
  assert.equal(answer.headers.get('location'), `${server.url}/v1/runs/${id}`)
  const waiting = {
    status: 'queued',
    source: 'api',
    error: null,
    runStartAt: null,
    runEndAt: null,
    parentId: null,
  }
  assert.partialDeepStrictEqual(answer.body, { ...waiting, args: ['a', { b: [null] }], returnValue: null })
  assert.deepEqual(await readRun(alice, id), answer.body)

  const { args, valId, ownerId, source } = await runner.claimOne(id)
  assert.deepEqual([args, valId, ownerId, source], [['a', { b: [null] }], val.id, alice.user.id, 'api'])
  const running = await readRun(alice, id)
  assert.equal(running.status, 'running')
  assert.ok(Date.parse(running.runStartAt ?? '') >= Date.parse(running.createdAt) - 1_000)
  for (const list of [runs, '/v1/me/runs']) {
    const { data } = await readList<Run>(alice, list)
    assert.deepEqual(
      data.map((run) => [run.id, run.status]),
      [[id, 'running']],
    )
  }

  const logs = [{ at: new Date().toISOString(), level: 'info' as const, message: 'hello' }]
  await runner.report(val, id, { returnValue: { deep: [1, 'two'] }, returnValueCut: false, logs, version: 7 })
  const ended = await untilEnded(alice, id)
  assert.partialDeepStrictEqual(ended, { status: 'succeeded', returnValue: { deep: [1, 'two'] }, logs, args })
  assert.equal(ended.val.version, 7, 'the version that ran, not the one that was current')
  assert.ok(ended.runEndAt !== null && ended.runStartAt !== null)
  await runner.claimNothingOf(val)
})

test('runs that are not over are in the list of all, and in neither of failed and succeeded ones', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const [ended, running, queued] = [
    await enqueue(alice, runs),
    await enqueue(alice, runs),
    await enqueue(alice, runs),
  ]
  await sql`UPDATE queue SET attempt = 2, due_at = now() + interval '1 hour' WHERE run_id = ${queued.id}`.execute(
    server.db,
  )
  await runner.claimOne(running.id)
  await runner.report(val, ended.id, { status: 'failed', error: { name: 'Error', message: 'no' } })
  await untilEnded(alice, ended.id)
  const statusesAt = async (path: string) =>
    (await readList<Run>(alice, path)).data.map(({ status }) => status)
  assert.deepEqual(await statusesAt(runs), ['queued', 'running', 'failed'])
  assert.deepEqual(await statusesAt(`${runs}?error=true`), ['failed'])
  assert.deepEqual(await statusesAt(`${runs}?error=false`), [])
  assert.deepEqual(await statusesAt(`${runs}?source=api`), ['queued', 'running', 'failed'])
  assert.deepEqual(await statusesAt(`${runs}?source=http,schedule`), [])
})

test('whoever waits for a run is answered 200 as soon as it is recorded', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const asking = alice.post<RunDetails>(`${runs}?wait=60`, { args: [1] })
  const [run = assert.fail()] = await waitFor('the run is in the list', async () => {
    const { data } = await readList<Run>(alice, runs)
    return data.length > 0 ? data : null
  })
  await runner.claimOne(run.id)
  const startedAtMs = performance.now()
  await runner.report(val, run.id, { returnValue: 'done', returnValueCut: false })
  const answer = await asking
  assert.ok(performance.now() - startedAtMs < 8_000, 'long before the minute is over')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('location'), `${server.url}/v1/runs/${run.id}`)
  assert.partialDeepStrictEqual(answer.body, {
    id: run.id,
    status: 'succeeded',
    returnValue: 'done',
    args: [1],
  })
})

test('whoever waits for a run that does not end is answered 202 when the time is up', async () => {
  const { alice, runs } = await openPlace()
  const startedAtMs = performance.now()
  const answer = await alice.post<RunDetails>(`${runs}?wait=1`, {})
  assert.equal(answer.status, 202)
  assert.equal(answer.body.status, 'queued')
  assert.ok(performance.now() - startedAtMs >= 950)
  for (const wait of ['0', '61', '-1', '1.5', 'x', '']) {
    assertFault(await alice.post(`${runs}?wait=${wait}`, {}), 'invalid_request')
  }
})

test('whoever waits for a run that another request cancels is answered with that', async () => {
  const { alice, runs } = await openPlace()
  const asking = alice.post<RunDetails>(`${runs}?wait=60`, {})
  const [run = assert.fail()] = await waitFor('the run is in the list', async () => {
    const { data } = await readList<Run>(alice, runs)
    return data.length > 0 ? data : null
  })
  assert.equal((await alice.post(`/v1/runs/${run.id}/cancel`, undefined)).status, 200)
  const { status, body } = await asking
  assert.deepEqual([status, body.status, body.error?.name], [200, 'canceled', 'Canceled'])
})

test('the same Idempotency-Key is the same run, and waits for it like the first request', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const key = { 'idempotency-key': newId() }
  const first = alice.post<RunDetails>(`${runs}?wait=60`, {}, key)
  const { id } = await waitFor(
    'the run is in the list',
    async () => (await readList<Run>(alice, runs)).data[0] ?? null,
  )
  const again = alice.post<RunDetails>(`${runs}?wait=60`, {}, key)
  await runner.claimOne(id)
  await runner.report(val, id, { returnValue: 'done', returnValueCut: false })
  const last = alice.post<RunDetails>(`${runs}?wait=60`, {}, key)
  for (const { status, body, headers } of [await first, await again, await last]) {
    assert.deepEqual([status, body.id, body.returnValue], [200, id, 'done'])
    assert.equal(headers.get('location'), `${server.url}/v1/runs/${id}`)
  }
  assertFault(await alice.post(runs, { args: [1] }, key), 'idempotency_key_reused')
  assert.equal((await readList<Run>(alice, runs)).data.length, 1)
  await alice.delete(`/v1/vals/${val.id}`)
  const startedAtMs = performance.now()
  const gone = await alice.post<RunDetails>(`${runs}?wait=60`, {}, key)
  assert.deepEqual(
    [gone.status, gone.body.id],
    [202, id],
    'the first answer, without a wait for what is gone',
  )
  assert.ok(performance.now() - startedAtMs < 8_000)
})

test('whoever leaves gives up the wait and its place, and the run stays', async () => {
  await using narrow = await openTestServer({ NATS_URL: nats.url, REQUESTS_AT_ONCE_MAX: '2' })
  const alice = await newCaller(narrow, 'alice')
  const { id } = await createVal(alice)
  const url = `${narrow.url}/v1/vals/${id}/runs`
  const leaving = new AbortController()
  const headers = { authorization: `Bearer ${alice.user.token}`, 'content-type': 'application/json' }
  const request = { method: 'POST', headers, body: '{}' }
  const waits = [1, 2].map(async () => fetch(`${url}?wait=60`, { ...request, signal: leaving.signal }))
  await waitUntil('both are accepted', async () => {
    const { rows } = await sql`SELECT FROM queue`.execute(narrow.db)
    return rows.length === waits.length
  })
  const placesFree = async () => {
    const answers = await Promise.all([alice.get(url), alice.get(url)])
    return answers.filter(({ status }) => status === 200).length
  }
  assert.equal(await placesFree(), 0)
  leaving.abort()
  for (const wait of waits) await assert.rejects(wait, { name: 'AbortError' })
  await waitUntil('both places are free', async () => (await placesFree()) === 2)
  assert.deepEqual(
    (await readList<Run>(alice, `/v1/vals/${id}/runs`)).data.map(({ status }) => status),
    ['queued', 'queued'],
  )
})

test('parallel requests with one Idempotency-Key make one run', async () => {
  const { alice, runs } = await openPlace()
  const key = { 'idempotency-key': newId() }
  const answers = await Promise.all(
    Array.from({ length: 10 }, async () => alice.post<RunDetails>(runs, {}, key)),
  )
  const ids = new Set(answers.map(({ body }) => body.id))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  assert.equal(ids.size, 1)
  assert.equal((await readList<Run>(alice, runs)).data.length, 1)
})

test('only the owner runs a val: another is told so of a public one, and nothing of a private one', async () => {
  const { alice, val, runs } = await openPlace()
  const bob = await newCaller(server, 'bob')
  assertFault(await bob.post(runs, {}), 'forbidden')
  const hidden = await createVal(alice, { privacy: 'private' })
  assertFault(await bob.post(`/v1/vals/${hidden.id}/runs`, {}), 'not_found')
  assertFault(await bob.post(`/v1/vals/${newId()}/runs`, {}), 'not_found')
  assertFault(await callAs(server, null).post(runs, {}), 'unauthenticated')
  const reader = callAs(server, (await server.issueToken(alice.user, { scopes: ['run:read'] })).token)
  assertFault(await reader.post(runs, {}), 'forbidden_scope')
  const { id } = await enqueue(alice, runs)
  assertFault(await bob.get(`/v1/runs/${id}`), 'not_found')
  assertFault(await bob.post(`/v1/runs/${id}/cancel`, undefined), 'not_found')
  assert.equal((await readRun(alice, id)).status, 'queued')
  assertFault(await bob.get(`/v1/vals/${val.id}/retry`), 'not_found')
  assertFault(await bob.put(`/v1/vals/${val.id}/retry`, { attempts: 2 }), 'not_found')
})

test('arguments are taken up to their bounds and refused beyond, and a body may be missing', async () => {
  const { alice, runs } = await openPlace()
  const { argsMax, argsBytesMax } = contractLimits
  const largest = ['ä'.repeat((argsBytesMax - 4) / 2)]
  assert.equal(Buffer.byteLength(JSON.stringify(largest)), argsBytesMax)
  for (const args of [[], Array(argsMax).fill(0), largest, [null, true, -1.5e300, '\u{1f600}']]) {
    assert.deepEqual((await enqueue(alice, runs, { args })).args, args)
  }
  const over = ['x'.repeat(argsBytesMax - 3)]
  for (const args of [
    Array(argsMax + 1).fill(0),
    over,
    ['x'.repeat(argsBytesMax + 1_024)],
    'text',
    {},
    null,
    1,
  ]) {
    const { issues } = assertFault(await alice.post(runs, { args }), 'invalid_request')
    assert.equal(issues?.[0]?.path, 'body.args')
  }
  assert.equal((await alice.send('POST', runs)).status, 202)
  for (const retry of [{}, { attempts: 0 }, { attempts: 11 }, { attempts: 2, backoffSeconds: -1 }, 3]) {
    assertFault(await alice.post(runs, { retry }), 'invalid_request')
  }
})

test('arguments that jsonb cannot hold arrive with a mark where it was', async () => {
  const { alice, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs, { args: ['nul \0 half \ud83d', { 'of a name \0': '\\u0000' }] })
  const kept = ['nul \ufffd half \ufffd', { 'of a name \ufffd': '\\u0000' }]
  assert.deepEqual((await runner.claimOne(id)).args, kept)
  assert.deepEqual((await readRun(alice, id)).args, kept)
})

test('arguments are nested as deeply as they may, and no deeper', async () => {
  const { alice, runs } = await openPlace()
  const send = async (depth: number) => {
    const body = `{"args":${'['.repeat(depth)}${']'.repeat(depth)}}`
    return alice.send('POST', runs, { body, headers: { 'content-type': 'application/json' } })
  }
  assert.equal((await send(contractLimits.jsonLevelsMax)).status, 202)
  for (const depth of [contractLimits.jsonLevelsMax + 1, 5_000, 30_000, 1_000_000]) {
    const { issues } = assertFault(await send(depth), 'invalid_request')
    assert.match(issues?.[0]?.message ?? '', /nested 100 levels deep/)
  }
})

test('a run that waits is canceled at once, and is never given to anybody', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs, { retry: { attempts: 3, backoffSeconds: 0 } })
  const canceled = await alice.post<RunDetails>(`/v1/runs/${id}/cancel`, undefined)
  assert.equal(canceled.status, 200)
  assert.deepEqual([canceled.body.status, canceled.body.error?.name], ['canceled', 'Canceled'])
  assert.ok(canceled.body.runEndAt !== null)
  await runner.claimNothingOf(val)
  const again = await alice.post<RunDetails>(`/v1/runs/${id}/cancel`, undefined)
  assert.deepEqual([again.status, again.body], [200, canceled.body])
  assert.equal((await readList<Run>(alice, runs)).data.length, 1, 'nothing is tried again')
})

test('a run under way is canceled by its runner, which hears of it twice over', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const told: string[] = []
  bus.subscribe('runCanceled', ({ runId }) => told.push(runId))
  const { id } = await enqueue(alice, runs, { retry: { attempts: 3, backoffSeconds: 0 } })
  await runner.claimOne(id)
  assert.deepEqual(await runner.beat(), { kind: 'heard', canceled: [], gone: [] })
  await waitUntil('the hint comes', async () => {
    const asked = await alice.post<RunDetails>(`/v1/runs/${id}/cancel`, undefined)
    assert.deepEqual([asked.status, asked.body.status], [202, 'running'])
    return told.includes(id)
  })
  assert.deepEqual(await runner.beat(), { kind: 'heard', canceled: [id], gone: [] })
  await runner.report(val, id, { status: 'canceled', error: { name: 'Canceled', message: 'It was.' } })
  assert.equal((await untilEnded(alice, id)).status, 'canceled')
  assert.equal((await alice.post(`/v1/runs/${id}/cancel`, undefined)).status, 200)
  assert.equal((await readList<Run>(alice, runs)).data.length, 1, 'nothing is tried again')
})

test('a run that is over by itself cannot be canceled, and is not changed', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs)
  await runner.claimOne(id)
  await runner.report(val, id)
  const ended = await untilEnded(alice, id)
  assert.match(
    assertFault(await alice.post(`/v1/runs/${id}/cancel`, undefined), 'run_ended').message,
    /succeeded/,
  )
  assert.deepEqual(await readRun(alice, id), ended)
  assertFault(await alice.post(`/v1/runs/${newId()}/cancel`, undefined), 'not_found')
})

test('a run that its runner hands back waits again and is given to another', async () => {
  const { alice, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs)
  const { claimNumber } = await runner.claimOne(id)
  const { runnerId } = runner
  assert.deepEqual(await bus.request('handBackRuns', { runnerId, claimNumber, runIds: [id] }, bound), {
    kind: 'taken',
  })
  const waiting = await readRun(alice, id)
  assert.deepEqual([waiting.status, waiting.runStartAt], ['queued', null])
  await openRunner().claimOne(id)
  assert.deepEqual((await runner.beat()).gone, [id])
})

test('a run of which its runner knows nothing any more is lost, says so, and is tried again if asked for', async () => {
  const { alice, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs, { args: ['kept'], retry: { attempts: 2, backoffSeconds: 0 } })
  const { claimNumber } = await runner.claimOne(id)
  const { runnerId } = runner
  await bus.request('beat', { runnerId, claimsSettled: claimNumber, claimsAbandoned: [], runIds: [] }, bound)
  const lost = await untilEnded(alice, id)
  assert.deepEqual([lost.status, lost.error?.name], ['failed', 'RunnerLost'])
  const { data } = await readList<Run>(alice, runs)
  assert.deepEqual(
    data.map(({ parentId }) => parentId),
    [id, null],
  )
  assert.deepEqual((await openRunner().claimOne(data[0]?.id ?? '')).args, ['kept'])
})

test('failed runs are tried as often as was set for the val or for the run, each as a run of its own', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const retry = `/v1/vals/${val.id}/retry`
  assert.deepEqual((await alice.get(retry)).body, { attempts: 1, backoffSeconds: 0 })
  assert.deepEqual((await alice.put(retry, { attempts: 3 })).body, { attempts: 3, backoffSeconds: 10 })
  assert.deepEqual((await alice.put(retry, { attempts: 3, backoffSeconds: 0 })).status, 200)
  assert.deepEqual((await alice.get(retry)).body, { attempts: 3, backoffSeconds: 0 })
  for (const [body, attempts] of [
    [{ args: [1] }, 3],
    [{ args: [1], retry: { attempts: 1, backoffSeconds: 0 } }, 1],
    [{ args: [1], retry: { attempts: 2, backoffSeconds: 0 } }, 2],
  ] as const) {
    let { id } = await enqueue(alice, runs, body)
    const chain = [id]
    for (;;) {
      assert.deepEqual((await runner.claimOne(id)).args, [1])
      const status = chain.length % 2 === 1 ? 'failed' : 'timed_out'
      await runner.report(val, id, { status, error: { name: 'Error', message: 'again' } })
      await untilEnded(alice, id)
      const { data } = await readList<Run>(alice, runs)
      const child = data.find(({ parentId }) => parentId === id)
      if (child === undefined) break
      chain.push((id = child.id))
    }
    assert.equal(chain.length, attempts)
  }
})

test('each pause before another attempt is twice the one before', async () => {
  const { alice, val, runs, runner } = await openPlace()
  let { id } = await enqueue(alice, runs, { retry: { attempts: 4, backoffSeconds: 100 } })
  const pausesSeconds: number[] = []
  for (;;) {
    await runner.claimOne(id)
    await runner.report(val, id, { status: 'failed', error: { name: 'Error', message: 'again' } })
    await untilEnded(alice, id)
    const { rows } = await sql<{ run_id: string; seconds: number }>`
      UPDATE queue SET due_at = now() FROM (SELECT run_id AS id, due_at AS due FROM queue) before
      WHERE run_id = before.id AND val_id = ${val.id}
      RETURNING run_id, extract(epoch FROM before.due - now())::float8 AS seconds`.execute(server.db)
    const [next] = rows
    if (next === undefined) break
    pausesSeconds.push(Math.round(next.seconds / 20) * 20)
    id = next.run_id
  }
  assert.deepEqual(pausesSeconds, [100, 200, 400])
})

test('deleting a val ends what is queued of it: nothing of it runs, and nothing is left', async () => {
  const { alice, val, runs, runner } = await openPlace()
  await alice.put(`/v1/vals/${val.id}/retry`, { attempts: 5, backoffSeconds: 0 })
  const [running, waiting] = [await enqueue(alice, runs), await enqueue(alice, runs)]
  await sql`UPDATE queue SET attempt = 2, due_at = now() + interval '1 hour' WHERE run_id = ${waiting.id}`.execute(
    server.db,
  )
  await runner.claimOne(running.id)
  assert.equal((await alice.delete(`/v1/vals/${val.id}`)).status, 204)
  for (const { id } of [running, waiting]) assertFault(await alice.get(`/v1/runs/${id}`), 'not_found')
  assertFault(await alice.post(runs, {}), 'not_found')
  await waitFor('a round of upkeep', () =>
    upkeepOnce(server.db, { runRetentionDays: 30, logRetentionDays: 30 }),
  )
  const { rows } = await sql`
    SELECT run_id FROM queue WHERE val_id = ${val.id} UNION ALL
    SELECT val_id FROM retry_policies WHERE val_id = ${val.id}`.execute(server.db)
  assert.deepEqual(rows, [])
  assert.deepEqual((await runner.beat()).gone, [running.id])
  await runner.report(val, running.id, { status: 'failed', error: { name: 'Error', message: 'late' } })
  await runner.claimNothingOf(val)
})

test('a run whose val is deleted while it waits to be tried again is not tried again', async () => {
  const { alice, val, runs, runner } = await openPlace()
  const { id } = await enqueue(alice, runs, { retry: { attempts: 5, backoffSeconds: 0 } })
  await runner.claimOne(id)
  await alice.delete(`/v1/vals/${val.id}`)
  await runner.report(val, id, { status: 'failed', error: { name: 'Error', message: 'no' } })
  await waitUntil('the run is over', async () => (await countQueued(val)) === 0)
  await runner.claimNothingOf(val)
})

async function countQueued({ id }: Val): Promise<number> {
  return (await sql`SELECT FROM queue WHERE val_id = ${id}`.execute(server.db)).rows.length
}

test('a server that stops answers those who wait, with what is known by then', async () => {
  const { alice, val } = await openPlace()
  const env = { DATABASE_URL: server.databaseUrl, NATS_URL: nats.url, PORT: '0', LOG_LEVEL: 'error' }
  const config = readConfig(env)
  const second = await startServer(config, createObservations(config.logLevel))
  const there = callAs({ url: second.url, fetch: server.fetch }, alice.user.token)
  const asking = there.post<RunDetails>(`/v1/vals/${val.id}/runs?wait=60`, {})
  await waitUntil('the run is there', async () => (await countQueued(val)) === 1)
  const startedAtMs = performance.now()
  await second[Symbol.asyncDispose]()
  const { status, body } = await asking
  assert.deepEqual([status, body.status], [202, 'queued'])
  assert.ok(performance.now() - startedAtMs < 9_000, 'it was not cut off after its time to drain')
})

test('an owner may have so many runs in the queue; more are told when to come back, and others are not', async () => {
  await using small = await openTestServer({ NATS_URL: nats.url, QUEUED_RUNS_PER_OWNER_MAX: '3' })
  const [alice, bob] = [await newCaller(small, 'alice'), await newCaller(small, 'bob')]
  const runsOf = async (caller: TestCaller) => `/v1/vals/${(await createVal(caller)).id}/runs`
  const [hers, his] = [await runsOf(alice), await runsOf(bob)]
  const answers = await Promise.all(Array.from({ length: 20 }, async () => alice.post<RunDetails>(hers, {})))
  const taken = answers.filter(({ status }) => status === 202)
  // Counted once a second: on a slow machine what is on its way may not be counted yet.
  assert.ok(taken.length >= 3 && taken.length <= 6, `${taken.length} were taken`)
  for (const refused of answers.filter(({ status }) => status !== 202)) {
    assert.match(assertFault(refused, 'queue_full').message, /^3 of your runs/)
    assert.equal(refused.headers.get('retry-after'), '5')
  }
  await enqueue(bob, his)
  for (const { body } of taken.slice(2)) await alice.post(`/v1/runs/${body.id}/cancel`, undefined)
  await waitUntil('there is room again', async () => (await alice.post(hers, {})).status === 202)
  assertFault(await alice.post(hers, {}), 'queue_full')
})

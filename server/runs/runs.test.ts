import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Run, RunDetails, RunStatus } from '@valley/contract/runs.ts'
import type { Val } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { insertRun } from '../testing/insert-rows.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function runIds(caller: TestCaller, path: string): Promise<readonly string[]> {
  return (await readList<Run>(caller, path)).data.map(({ id }) => id)
}

/** Both lists take the same filters. */
const listsOf = ({ id }: Val) => ['/v1/me/runs', `/v1/vals/${id}/runs`]

test('a run in a list is narrow: its val, source, status, error and times', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { privacy: 'private' })
  const createdAt = new Date()
  const parentId = await insertRun(server, val, { status: 'queued', source: 'schedule', createdAt })
  const error = { name: 'TypeError', message: 'x is not a function', stack: 'at y' }
  const id = await insertRun(server, val, { status: 'failed', source: 'api', error, parentId, createdAt })
  await saveCode(alice, val, 'export default 2')
  const { name, author } = val
  const mention = { id: val.id, name, author, privacy: 'private', version: 1 }
  const at = createdAt.toISOString()
  const failed = { status: 'failed', source: 'api', error, parentId, runStartAt: at, runEndAt: at }
  const queued = { status: 'queued', source: 'schedule', error: null, parentId: null, runStartAt: null }
  for (const path of listsOf(val)) {
    assert.deepEqual((await readList(alice, path)).data, [
      { id, val: mention, createdAt: at, ...failed },
      { id: parentId, val: mention, createdAt: at, runEndAt: null, ...queued },
    ])
  }
})

test('error=true shows runs that ended badly, error=false succeeded ones, none of both all of them', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const byStatus = new Map<RunStatus, string>()
  for (const status of ['queued', 'running', 'succeeded', 'failed', 'timed_out', 'canceled'] as const) {
    byStatus.set(status, await insertRun(server, val, { status }))
  }
  const ids = (...statuses: RunStatus[]) => statuses.map((status) => byStatus.get(status))
  for (const path of listsOf(val)) {
    assert.deepEqual(await runIds(alice, `${path}?error=true`), ids('canceled', 'timed_out', 'failed'))
    assert.deepEqual(await runIds(alice, `${path}?error=false`), ids('succeeded'))
    assert.deepEqual(await runIds(alice, path), [...byStatus.values()].toReversed())
    assertFault(await alice.get(`${path}?error=maybe`), 'invalid_request')
  }
})

test('source takes one or several, and goes together with error', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const http = await insertRun(server, val, { source: 'http' })
  const schedule = await insertRun(server, val, { source: 'schedule', status: 'failed' })
  const api = await insertRun(server, val, { source: 'api' })
  for (const path of listsOf(val)) {
    assert.deepEqual(await runIds(alice, `${path}?source=http`), [http])
    assert.deepEqual(await runIds(alice, `${path}?source=api,schedule`), [api, schedule])
    assert.deepEqual(await runIds(alice, `${path}?source=http,api,http`), [api, http])
    assert.deepEqual(await runIds(alice, `${path}?source=api,schedule&error=true`), [schedule])
    assert.deepEqual(await runIds(alice, `${path}?source=http&error=true`), [])
    for (const bad of ['', 'cron', 'http,', 'HTTP']) {
      const { issues } = assertFault(await alice.get(`${path}?source=${bad}`), 'invalid_request')
      assert.equal(issues?.[0]?.path, 'query.source')
    }
  }
})

test('since and until bound the time of creation, together with the other filters', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const start = Date.now() - 10_000
  const ids: string[] = []
  for (let i = 0; i < 4; i++) {
    const source = i % 2 === 0 ? ('api' as const) : ('http' as const)
    ids.push(await insertRun(server, val, { createdAt: new Date(start + i * 100), source }))
  }
  const at = (i: number) => new Date(start + i * 100).toISOString()
  for (const path of listsOf(val)) {
    assert.deepEqual(await runIds(alice, `${path}?since=${at(0)}&until=${at(2)}`), [ids[2], ids[1]])
    assert.deepEqual(await runIds(alice, `${path}?since=${at(0)}&source=api`), [ids[2]])
    assert.deepEqual(await runIds(alice, `${path}?until=${at(0)}&error=false`), [ids[0]])
  }
})

test("a val's runs are for its owner only: to others there is no such val, whatever its privacy", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  for (const privacy of ['public', 'unlisted', 'private'] as const) {
    const val = await createVal(alice, { privacy })
    await insertRun(server, val)
    assert.equal((await runIds(alice, `/v1/vals/${val.id}/runs`)).length, 1)
    assertFault(await bob.get(`/v1/vals/${val.id}/runs`), 'not_found')
  }
  assert.deepEqual(await runIds(bob, '/v1/me/runs'), [])
  assert.equal((await runIds(alice, '/v1/me/runs')).length, 3)
})

test("one val's runs are not among another's, and go with their val", async () => {
  const alice = await newCaller(server, 'alice')
  const [one, two] = [await createVal(alice), await createVal(alice)]
  const [first, second] = [await insertRun(server, one), await insertRun(server, two)]
  assert.deepEqual(await runIds(alice, `/v1/vals/${one.id}/runs`), [first])
  await alice.delete(`/v1/vals/${one.id}`)
  assert.deepEqual(await runIds(alice, '/v1/me/runs'), [second])
})

test('runs of other days are in the same list, newest first', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice)
  const dayMs = 86_400_000
  const ids: string[] = []
  for (const days of [-1, 0, 1]) {
    ids.unshift(await insertRun(server, val, { createdAt: new Date(Date.now() + days * dayMs) }))
  }
  assert.deepEqual(await runIds(alice, '/v1/me/runs'), ids)
})

test('a run that waits has nothing to show yet, and is its owner’s only', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const val = await createVal(alice)
  const id = await insertRun(server, val, { status: 'queued', source: 'api' })
  await sql`DELETE FROM run_details WHERE id = ${id}`.execute(server.db)
  const { body } = await alice.get<RunDetails>(`/v1/runs/${id}`)
  const [listed] = (await readList<Run>(alice, `/v1/vals/${val.id}/runs`)).data
  assert.deepEqual(body, {
    ...listed,
    args: [],
    returnValue: null,
    returnValueCut: false,
    logs: [],
    request: null,
    response: null,
    timings: { queuedMs: 0, bootMs: 0, runMs: 0, cpuMs: null },
    memoryPeakBytes: null,
  })
  assertFault(await bob.get(`/v1/runs/${id}`), 'not_found')
  for (const unknown of ['x', '0', val.id]) assertFault(await alice.get(`/v1/runs/${unknown}`), 'not_found')
})

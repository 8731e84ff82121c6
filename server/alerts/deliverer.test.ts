import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { ReplyBody, RequestBody } from '@valley/bus/requests.ts'
import type { Alerts, SetAlerts } from '@valley/contract/alerts.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { readConfig } from '../config.ts'
import { newId } from '../database/ids.ts'
import { newKeyText, parseKeysOrNull } from '../env/keys.ts'
import { rotateKeys } from '../env/rotate-keys.ts'
import { limits } from '../limits.ts'
import { loseRuns } from '../queue/lose-runs.ts'
import { loseRunsOfRunner } from '../queue/transitions.ts'
import { createObservations } from '../observations.ts'
import { startServer } from '../start-server.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { failedRunOf } from '../testing/failed-run-of.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { openRunnerBus, publishReports, reportOf } from '../testing/report-runs.ts'
import { waitFor, waitUntil } from '../testing/wait-until.ts'
import { raiseAlerts } from './raise-alerts.ts'
import { signatureOf } from './webhook.ts'

type Asked = RequestBody<'deliverAlert'>

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path }))
const keyTexts = { first: newKeyText('first'), anew: newKeyText('anew') }
const server = opened.use(
  await openTestServer({
    NATS_URL: nats.url,
    LOG_LEVEL: 'silent',
    ENVIRONMENT_KEYS: `${keyTexts.first},${keyTexts.anew}`,
  }),
)
const { db } = server
const runner = opened.use(openRunnerBus(nats.url))
const alice = await newCaller(server, 'alice')

/** What the servers asked the runner to post, and what it says to that. */
const asked: Asked[] = []
let answer: () => Promise<ReplyBody<'deliverAlert'>> | ReplyBody<'deliverAlert'>
runner.serve('deliverAlert', async (alert) => {
  asked.push(alert)
  return answer()
})
beforeEach(async () => {
  await db.deleteFrom('deliveries').execute()
  asked.length = 0
  answer = () => ({ kind: 'answered', status: 204 })
})

async function openAlertingVal(caller: TestCaller = alice) {
  const val = await createVal(caller)
  const path = `/v1/vals/${val.id}/alerts`
  const { body } = await caller.put<SetAlerts>(path, { url: `https://hooks.example.com/${val.id}` })
  const { secret = assert.fail() } = body
  const get = async () => (await caller.get<Alerts>(path)).body
  const whenTried = async (isMeant: (delivery: NonNullable<Alerts['lastDelivery']>) => boolean) =>
    waitFor('an attempt', async () => {
      const { lastDelivery } = await get()
      return lastDelivery && isMeant(lastDelivery) ? lastDelivery : null
    })
  return { val, path, secret, get, whenTried, raise: async () => raiseAlerts(db, [failedRunOf(val)]) }
}

async function deliveries() {
  const { rows } = await sql<{ pause_s: number; attempts_left: number }>`
    SELECT extract(epoch FROM due_at - now())::integer AS pause_s, attempts_left FROM deliveries`.execute(db)
  return rows
}

async function makeDue(): Promise<void> {
  await sql`UPDATE deliveries SET due_at = now()`.execute(db)
}

test('a failing run that was reported is told to the webhook, signed, with what it was', async () => {
  const { val, secret, get, whenTried } = await openAlertingVal()
  const error = { name: 'TypeError', message: 'x is not a function', stack: 'at y' }
  const endedAtMs = Date.now() - 1_000
  const report = reportOf(val, { status: 'failed', error, endedAtMs })
  await publishReports(runner, [reportOf(val), report])
  const { ok, status, message } = await whenTried(() => true)
  assert.deepEqual({ ok, status, message }, { ok: true, status: 204, message: null })
  const [{ url, headers, body } = assert.fail(), ...more] = asked
  assert.deepEqual(more, [])
  assert.equal(url, `https://hooks.example.com/${val.id}`)
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  assert.equal(signature, signatureOf(secret, `${id}.${timestamp}.${body}`))
  assert.ok(Math.abs(Number(timestamp) - Date.now() / 1_000) < 10)
  const { lastAlertAt } = await get()
  const {
    timestamp: raisedAt,
    data,
    type,
  } = JSON.parse(body) as {
    timestamp: string
    type: string
    data: { silencedUntil: string }
  }
  assert.equal(type, 'run.failed')
  assert.ok(Math.abs(Date.parse(raisedAt) - Date.parse(lastAlertAt ?? '')) < 5_000)
  assert.deepEqual(data, {
    run: {
      id: report.id,
      status: 'failed',
      source: 'http',
      version: 1,
      error: { name: 'TypeError', message: 'x is not a function' },
      createdAt: new Date(Number.parseInt(report.id.replace('-', '').slice(0, 12), 16)).toISOString(),
      endedAt: new Date(endedAtMs).toISOString(),
    },
    val: { id: val.id, name: val.name, author: val.author },
    links: { run: `${server.url}/v1/runs/${report.id}` },
    silencedUntil: new Date(Date.parse(lastAlertAt ?? '') + 3_600_000).toISOString(),
  })
  assert.deepEqual(await deliveries(), [])
})

test('a run that was lost with its runner is told as well', async () => {
  const { val } = await openAlertingVal()
  const { status, body: run } = await alice.post<{ id: string }>(`/v1/vals/${val.id}/runs`, {})
  assert.equal(status, 202)
  const runnerId = newId()
  const timeoutMs = 2_000
  await waitUntil('it is claimed', async () => {
    const claim = { runnerId, claimNumber: 1, wanted: 1 }
    const reply = await runner.request('claimRuns', claim, { timeoutMs })
    return reply?.kind === 'claimed' && reply.runs.length === 1
  })
  // It says that it lives, and has no such run.
  const beat = { runnerId, claimsSettled: 1, claimsAbandoned: [], runIds: [] }
  await runner.request('beat', beat, { timeoutMs })
  await waitUntil('its alert is delivered', async () => asked.length === 1)
  const told = JSON.parse(asked[0]?.body ?? '') as { data: { run: object } }
  assert.partialDeepStrictEqual(told.data.run, { id: run.id, status: 'failed', source: 'api' })
})

test('a run that is tried again is not told, its last attempt is', async () => {
  const { val } = await openAlertingVal()
  const runnerId = newId()
  const timeoutMs = 2_000
  const retry = { attempts: 2, backoffSeconds: 0 }
  assert.equal((await alice.post(`/v1/vals/${val.id}/runs`, { retry })).status, 202)
  const failed: string[] = []
  for (const claimNumber of [1, 2]) {
    const [run = assert.fail()] = await waitFor('it is claimed', async () => {
      const reply = await runner.request('claimRuns', { runnerId, claimNumber, wanted: 1 }, { timeoutMs })
      return reply?.kind === 'claimed' && reply.runs.length === 1 ? reply.runs : null
    })
    assert.deepEqual(asked, [])
    failed.push(run.id)
    const error = { name: 'Error', message: 'once more' }
    const { id } = run
    const report = reportOf(val, { id, runnerId, source: 'api', status: 'failed', error })
    // Twice, as after a lost confirmation: then it is not known any more that it will be tried again.
    for (const _ of ['once', 'again']) await publishReports(runner, [report])
  }
  await waitUntil('its alert is delivered', async () => asked.length > 0)
  const told = asked.map(({ body }) => (JSON.parse(body) as { data: { run: { id: string } } }).data.run.id)
  assert.deepEqual(told, failed.slice(1))
})

test('a lost run and its alert are written together, or not at all', async () => {
  const { val } = await openAlertingVal()
  const { body: run } = await alice.post<{ id: string }>(`/v1/vals/${val.id}/runs`, {})
  const runnerId = newId()
  await waitUntil('it is claimed', async () => {
    const claim = { runnerId, claimNumber: 1, wanted: 1 }
    const reply = await runner.request('claimRuns', claim, { timeoutMs: 2_000 })
    return reply?.kind === 'claimed' && reply.runs.length === 1
  })
  await sql`ALTER TABLE deliveries ADD CONSTRAINT no_more CHECK (false) NOT VALID`.execute(db)
  try {
    await assert.rejects(loseRuns(db, loseRunsOfRunner, { runner_id: runnerId }), /no_more/)
  } finally {
    await sql`ALTER TABLE deliveries DROP CONSTRAINT no_more`.execute(db)
  }
  assert.equal((await alice.get<{ status: string }>(`/v1/runs/${run.id}`)).body.status, 'running')
  const lost = await loseRuns(db, loseRunsOfRunner, { runner_id: runnerId })
  assert.deepEqual([lost.runs.length, lost.alertsRaised], [1, 1])
  await waitUntil('its alert is delivered', async () => asked.length === 1)
})

test('the secret is in nothing that leaves the server', async () => {
  const { secret, raise, whenTried } = await openAlertingVal()
  await raise()
  await whenTried(() => true)
  const text = JSON.stringify(asked)
  assert.equal(text.includes(secret.slice(6, 30)), false)
})

test('a delivery that fails is tried five times with growing pauses, each told to the owner', async () => {
  const { raise, whenTried } = await openAlertingVal()
  answer = () => ({ kind: 'answered', status: 500 })
  await raise()
  const pauses: number[] = []
  let last = ''
  for (const _ of limits.deliveryPausesMs) {
    const { at, ok, status, message } = await whenTried((attempt) => attempt.at > last)
    assert.deepEqual([ok, status, message], [false, 500, 'It did not take the alert: status 500.'])
    last = at
    pauses.push((await deliveries())[0]?.pause_s ?? 0)
    await makeDue()
  }
  await waitUntil('it is given up', async () => (await deliveries()).length === 0)
  assert.equal(asked.length, 5)
  assert.equal(new Set(asked.map(({ headers }) => headers['webhook-id'])).size, 1, 'always the same id')
  for (const [at, pauseMs] of limits.deliveryPausesMs.entries()) {
    assert.ok(Math.abs((pauses[at] ?? 0) - pauseMs / 1_000) <= 2, `${pauses[at]} s`)
  }
  assert.match(await readMetrics(), /valley_alert_deliveries_total\{outcome="failed"\} 5/)
})

const readMetrics = async () => (await fetch(`${server.url}/metrics`)).text()

test('what became of an attempt is told in words', async () => {
  const said: readonly (readonly [ReplyBody<'deliverAlert'>, object])[] = [
    [
      { kind: 'answered', status: 302 },
      { ok: false, status: 302, message: 'It redirected, which is not followed: status 302.' },
    ],
    [
      { kind: 'failed', message: 'It timed out.' },
      { ok: false, status: null, message: 'It timed out.' },
    ],
    [
      { kind: 'answered', status: 201 },
      { ok: true, status: 201, message: null },
    ],
  ]
  for (const [reply, expected] of said) {
    const { raise, whenTried } = await openAlertingVal()
    answer = () => reply
    await raise()
    assert.partialDeepStrictEqual(await whenTried(() => true), expected)
    await db.deleteFrom('deliveries').execute()
  }
})

test('while no runner has room, it waits and no attempt is used up; after a day it is given up', async () => {
  const { raise, get, whenTried } = await openAlertingVal()
  answer = () => ({ kind: 'unavailable' })
  await raise()
  await waitUntil('it was postponed', async () => {
    const [row] = await deliveries()
    return asked.length === 1 && row?.attempts_left === 5
  })
  const [{ pause_s } = assert.fail()] = await deliveries()
  assert.ok(pause_s > 0 && pause_s <= 6, `${pause_s} s`)
  assert.equal((await get()).lastDelivery, null)
  const old = '01800000-0000-7000-8000-000000000000'
  await sql`UPDATE deliveries SET id = ${old}, due_at = now()`.execute(db)
  const { message } = await whenTried(() => true)
  assert.equal(message, 'For a day there was nobody to deliver it.')
  assert.deepEqual(await deliveries(), [])
})

test('of several servers one delivers, and what a server that died had is delivered later', async () => {
  await using second = await openSecondServer()
  assert.ok(second.url)
  const vals = await Promise.all(Array.from({ length: 12 }, () => openAlertingVal()))
  for (const { raise } of vals) await raise()
  await waitUntil('all are delivered', async () => (await deliveries()).length === 0)
  assert.equal(asked.length, vals.length)
  // Taken by somebody who never came back: it was the first attempt, and its time is over.
  const [{ val, whenTried } = assert.fail()] = vals
  const { at: before } = await whenTried(() => true)
  await sql`UPDATE alerts SET last_raised_at = NULL WHERE val_id = ${val.id}`.execute(db)
  await db.transaction().execute(async (hold) => {
    await raiseAlerts(hold, [failedRunOf(val)])
    await sql`UPDATE deliveries SET attempts_left = 4`.execute(hold)
  })
  const { ok } = await whenTried(({ at }) => at > before)
  assert.equal(ok, true)
})

async function openSecondServer() {
  const env = { DATABASE_URL: server.databaseUrl, NATS_URL: nats.url, ENVIRONMENT_KEYS: keyTexts.first }
  const config = readConfig({ ...env, PORT: '0', LOG_LEVEL: 'silent' })
  return startServer(config, createObservations(config.logLevel))
}

test('one owner with many alerts does not keep those of others waiting', async () => {
  const release = Promise.withResolvers<ReplyBody<'deliverAlert'>>()
  answer = async () => release.promise
  const many = await Promise.all(Array.from({ length: 20 }, () => openAlertingVal()))
  await db.transaction().execute(async (together) => {
    await raiseAlerts(
      together,
      many.map(({ val }) => failedRunOf(val)),
    )
  })
  await waitUntil('the first few are under way', async () => asked.length > 0)
  const bob = await newCaller(server, 'bob')
  const his = await openAlertingVal(bob)
  await his.raise()
  const isHis = ({ ownerId }: Asked) => ownerId === bob.user.id
  await waitUntil('his turn has come', async () => asked.some(isHis))
  assert.equal(asked.filter((each) => !isHis(each)).length, limits.deliveriesOfOwnerMax)
  release.resolve({ kind: 'answered', status: 200 })
  await waitUntil('all have been delivered', async () => (await deliveries()).length === 0)
})

test('a val that is deleted, or whose alerts are, is told of no more', async () => {
  const [deleted, silenced, other] = [
    await openAlertingVal(),
    await openAlertingVal(),
    await openAlertingVal(),
  ]
  answer = () => ({ kind: 'answered', status: 500 })
  for (const { raise, whenTried } of [deleted, silenced]) {
    await raise()
    await whenTried(() => true)
  }
  await alice.delete(`/v1/vals/${deleted.val.id}`)
  await alice.delete(silenced.path)
  answer = () => ({ kind: 'answered', status: 200 })
  asked.length = 0
  await makeDue()
  await other.raise()
  await other.whenTried(() => true)
  assert.deepEqual(
    asked.map(({ url }) => url),
    [`https://hooks.example.com/${other.val.id}`],
  )
})

test('an attempt that comes back after its lease changes nothing', async () => {
  const { raise, get } = await openAlertingVal()
  const late = Promise.withResolvers<ReplyBody<'deliverAlert'>>()
  answer = async () => late.promise
  await raise()
  await waitUntil('it is under way', async () => asked.length === 1)
  // Somebody else took it meanwhile.
  await sql`UPDATE deliveries SET attempts_left = attempts_left - 1`.execute(db)
  late.resolve({ kind: 'answered', status: 200 })
  const other = await openAlertingVal()
  answer = () => ({ kind: 'answered', status: 200 })
  await waitUntil('the late one is over', async () => {
    await other.raise()
    return (await other.get()).lastDelivery !== null
  })
  assert.equal((await get()).lastDelivery, null)
  assert.deepEqual(
    (await deliveries()).map(({ attempts_left }) => attempts_left),
    [3],
  )
})

test('after a change of keys alerts are signed with the same secret, by the new key alone', async () => {
  const { secret, raise, whenTried } = await openAlertingVal()
  const rotation = await rotateKeys(db, parseKeysOrNull(`${keyTexts.anew},${keyTexts.first}`) ?? [])
  assert.ok(rotation.resealed > 0)
  assert.deepEqual(rotation.keysInUse, ['anew'])
  await raise()
  await whenTried(({ ok }) => ok)
  const [{ headers, body } = assert.fail()] = asked
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
  assert.equal(headers['webhook-signature'], signatureOf(secret, `${id}.${timestamp}.${body}`))
})

test('without the key of its secret an alert is not sent, and its owner is told why', async () => {
  const { val, raise, whenTried } = await openAlertingVal()
  await sql`UPDATE alerts SET key_id = 'lost' WHERE val_id = ${val.id}`.execute(db)
  await raise()
  const { ok, message } = await whenTried(() => true)
  assert.equal(ok, false)
  assert.match(message ?? '', /signing secret cannot be read/)
  assert.equal(asked.length, 0)
})

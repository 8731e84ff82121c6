import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { networkInterfaces } from 'node:os'
import { after, before, describe, test } from 'node:test'
import { setInterval } from 'node:timers/promises'
import { type Client, createClient, isValleyError, type Val } from '@valley/sdk/client.ts'
import { waitFor } from '@valley/server/testing/wait-until.ts'
import { runSql } from '../services/run-sql.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { callVal } from './attacks/call-val.ts'
import { type Canaries, openCanaries } from './attacks/canaries.ts'
import { openStandIn, type Posted, type StandIn } from './attacks/stand-in.ts'

/** A val that throws, and what its owner set for it. */
interface Failing {
  readonly val: Val
  readonly secret: string
  readonly fail: () => Promise<void>
  /** The first attempt, once it is over. */
  readonly whenTried: () => Promise<{
    readonly ok: boolean
    readonly status: number | null
    readonly message: string | null
  }>
}

/** An attempt may take ten seconds and has to wait for its turn. */
const patienceMs = 45_000
const opened = new AsyncDisposableStack()
let world: World
let standIn: StandIn
let canaries: Canaries
let alice: Client

before(async () => {
  standIn = opened.use(await openStandIn())
  canaries = opened.use(await openCanaries(opened.use(await openTemporaryFolder()).path))
  world = opened.use(
    await openWorld({
      durable: false,
      runnerEnv: { SANDBOX: process.env['SANDBOX'] ?? 'runc', EGRESS_RESOLVERS: standIn.publicAddress },
    }),
  )
  alice = createClient({ baseUrl: world.url, token: world.tokens.alice })
})
after(() => opened.disposeAsync())

const publicUrl = (path = '/') => `http://${standIn.publicAddress}:${standIn.port}${path}`
const postedTo = (path: string): readonly Posted[] => standIn.posted().filter(({ url }) => url === path)

/** Also with a url that the API refuses: it is then put where the API would have put it. */
async function openFailing(name: string, url: string): Promise<Failing> {
  const code = 'export default () => { throw new RangeError("on purpose") }'
  const val = await alice.vals.put({ name, code, type: 'http' })
  const { secret = assert.fail() } = await alice.vals.alerts.put(val.id, { url: publicUrl() })
  try {
    await alice.vals.alerts.put(val.id, { url })
  } catch (error) {
    if (!isValleyError(error, 'invalid_request')) throw error
    await runSql(world.services.databaseUrl, `UPDATE alerts SET url = '${url}' WHERE val_id = '${val.id}'`)
  }
  const address = {
    port: Number(new URL(world.valsUrl).port),
    host: `alice--${name.replaceAll('_', '-')}.localhost`,
  }
  return {
    val,
    secret,
    fail: async () => assert.equal((await callVal(address)).kind, 500),
    async whenTried() {
      const signal = AbortSignal.timeout(patienceMs)
      for await (const _ of setInterval(100, null, { signal })) {
        const { lastDelivery } = await alice.vals.alerts.get(val.id)
        if (lastDelivery) return lastDelivery
      }
      return assert.fail()
    },
  }
}

test('a val that throws is told to its webhook, signed, once in the quiet period', async () => {
  const { val, secret, fail, whenTried } = await openFailing('throws', publicUrl('/hook'))
  for (let times = 0; times < 3; times++) await fail()
  const { ok, status, message } = await whenTried()
  assert.deepEqual({ ok, status, message }, { ok: true, status: 200, message: null })
  await fail()
  await waitFor('all four runs', async () =>
    (await alice.vals.runs.list(val.id)).data.length === 4 ? true : null,
  )
  const [{ headers, body } = assert.fail(), ...more] = postedTo('/hook')
  assert.deepEqual(more, [])
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  assert.equal(signature, `v1,${expected}`)
  const { data } = JSON.parse(body) as { data: { run: { id: string; error: object }; val: object } }
  assert.deepEqual(data.run.error, { name: 'RangeError', message: 'on purpose' })
  assert.equal((await alice.runs.get(data.run.id)).status, 'failed')
})

test('a delivery is nobody’s run, and its sandbox goes with it', async () => {
  const { val, fail, whenTried } = await openFailing('no_run', publicUrl('/no-run'))
  await fail()
  await whenTried()
  const { data } = await alice.me.runs.list()
  assert.deepEqual([...new Set(data.map(({ val: { name } }) => name))].includes('courier'), false)
  assert.equal((await alice.vals.runs.list(val.id)).data.length, 1)
  const metrics = async () => (await fetch(`${world.runnerStatusUrl}/metrics`)).text()
  await waitFor('only vals are warm', async () =>
    /valley_workers\{state="warm"\} [0-2]\n/.test(await metrics()) ? true : null,
  )
})

describe('what the server could reach but a val could not is not reached', { concurrency: true }, () => {
  const own = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)
  const literal: Readonly<Record<string, () => string>> = {
    loopback: () => `http://127.0.0.1:${canaries.port}/`,
    host: () => `http://${own?.address ?? '127.0.0.1'}:${canaries.port}/`,
    server: () => `http://127.0.0.1:${new URL(world.url).port}/v1/me`,
    metadata: () => 'http://169.254.169.254/latest/meta-data/',
    link_local: () => `http://${standIn.linkLocalAddress}:${standIn.port}/`,
    private: () => `http://${standIn.privateAddress}:${standIn.port}/`,
  }
  const named = (address: string) => `http://${address.replaceAll('.', '-')}.names.test`
  const byName: Readonly<Record<string, () => string>> = {
    named_loopback: () => `${named('127.0.0.1')}:${canaries.port}/`,
    named_host: () => `${named(own?.address ?? '127.0.0.1')}:${canaries.port}/`,
    named_private: () => `${named(standIn.privateAddress)}:${standIn.port}/`,
    rebound: () => `http://rebind.test:${standIn.port}/rebound`,
  }
  const redirect: Readonly<Record<string, () => string>> = {
    redirect_loopback: () => publicUrl(`/to?${encodeURIComponent(`http://127.0.0.1:${canaries.port}/`)}`),
    redirect_private: () =>
      publicUrl(`/to?${encodeURIComponent(`http://${standIn.privateAddress}:${standIn.port}/`)}`),
  }

  for (const [name, urlOf] of Object.entries(literal)) {
    test(`${name}: the network refuses, though the API would have, too`, async () => {
      const { fail, whenTried } = await openFailing(name, urlOf())
      await fail()
      assert.partialDeepStrictEqual(await whenTried(), { ok: false, status: null })
    })
  }

  for (const [name, urlOf] of Object.entries(byName)) {
    test(`${name}: a name may say so, and the network refuses`, async () => {
      const { fail, whenTried } = await openFailing(name, urlOf())
      await fail()
      const { ok, message } = await whenTried()
      // The resolver says the public address every other time.
      if (name !== 'rebound') assert.match(message ?? '', /refused/)
      if (name !== 'rebound') assert.equal(ok, false)
    })
  }

  for (const [name, urlOf] of Object.entries(redirect)) {
    test(`${name}: not followed`, async () => {
      const { fail, whenTried } = await openFailing(name, urlOf())
      await fail()
      assert.partialDeepStrictEqual(await whenTried(), { ok: false, status: 302 })
    })
  }
})

test('of all these attempts none arrived, where the server itself would have', async () => {
  await fetch(`http://${standIn.privateAddress}:${standIn.port}/`)
  const arrivals = async () => standIn.countAt(standIn.privateAddress)
  await waitFor('our own arrival', async () => ((await arrivals()) > 0 ? true : null))
  assert.equal(await arrivals(), 1, 'ours only')
  assert.equal(standIn.countAt(standIn.linkLocalAddress), 0)
  assert.deepEqual(canaries.findHarm(), [])
})

describe('a webhook that does not take it', { concurrency: true }, () => {
  test('by its status: told so, and tried again', async () => {
    const { fail, whenTried } = await openFailing('unwilling', publicUrl('/status?503'))
    await fail()
    assert.partialDeepStrictEqual(await whenTried(), { ok: false, status: 503 })
  })

  test('by never answering: given up after ten seconds', async () => {
    const { fail, whenTried } = await openFailing('silent', publicUrl('/never'))
    await fail()
    const { ok, message } = await whenTried()
    assert.deepEqual({ ok, message }, { ok: false, message: 'It timed out.' })
  })

  test('because there is no such name', async () => {
    const { fail, whenTried } = await openFailing('nameless', 'http://nobody.test/')
    await fail()
    assert.partialDeepStrictEqual(await whenTried(), {
      ok: false,
      message: 'There is no address for that name.',
    })
  })
})

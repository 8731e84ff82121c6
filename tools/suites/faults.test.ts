import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { runSql } from '../services/run-sql.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { audit } from './faults/audit.ts'
import { isKind, Load, type LoadTarget, since, writesPerSecond } from './faults/load.ts'
import { signalTree } from '../processes/signal-tree.ts'
import type { Write } from './faults/write.ts'

const writesPerSecondMin = 200
const recoveryMsMax = 2_000
/** At the pace of the load, three seconds. */
const severalWrites = 3 * writesPerSecond
/** A tenth of a second each. */
const busTriesMax = 200

const acknowledged = isKind('acknowledged')
const failed = isKind('unavailable', 'refused', 'reset', 'wrong')
const settled = (write: Write) => acknowledged(write) || failed(write)

interface Fault {
  readonly label: string
  /** Breaks something and mends it; returns the moment from which all should be well again. */
  readonly strike: (world: World, load: Load) => Promise<number>
  readonly allowed: readonly ('unavailable' | 'refused' | 'reset')[]
}

describe('under 200 writes a second', { concurrency: false }, () => {
  let world: World
  let target: LoadTarget
  const rows: object[] = []

  before(async () => {
    const serverEnv = { RATE_LIMIT_PER_MINUTE: '10000000', REQUESTS_AT_ONCE_MAX: '100000' }
    world = await openWorld({ serverEnv })
    target = { url: world.url, token: world.tokens.alice, valIds: await createVals(world) }
  })
  after(async () => {
    console.table(rows)
    await world[Symbol.asyncDispose]()
  })

  test('PostgreSQL killed with -9 and started again costs 503s only, and no write', async () => {
    await endure({ label: 'killed', strike: killPostgres, allowed: ['unavailable'] })
  })
  test('cutting every connection to PostgreSQL costs 503s only, and no write', async () => {
    await endure({ label: 'cut', strike: cutConnections, allowed: ['unavailable'] })
  })
  test('PostgreSQL standing still for seconds costs 503s only, and no write', async () => {
    await endure({ label: 'stopped', strike: stopPostgres, allowed: ['unavailable'] })
  })
  test('no request notices that NATS is away for a while', async () => {
    await endure({ label: 'no_nats', strike: stopNats, allowed: [] })
  })
  test('SIGTERM loses nothing that is under way, and a server started again goes on', async () => {
    await endure({ label: 'terminated', strike: terminateServer, allowed: ['refused', 'reset'] })
  })

  /** Calm, fault, calm again; then every write is accounted for. */
  async function endure({ label, strike, allowed }: Fault): Promise<void> {
    await using load = new Load(target, label)
    await load.untilSeen(severalWrites, acknowledged)
    const failedBefore = load.count(failed)
    const backAt = await strike(world, load)
    await load.untilSeen(severalWrites, both(acknowledged, since(backAt + recoveryMsMax)))
    const perSecond = load.writes.length / ((performance.now() - load.startedAt) / 1_000)
    await load.finish()

    const place = { url: world.url, token: world.tokens.alice, databaseUrl: world.services.databaseUrl }
    const account = await audit(place, load, label)
    rows.push({
      fault: label,
      attempted: load.writes.length,
      'per second': Math.round(perSecond),
      acknowledged: load.count(acknowledged),
      'answered 503': load.count(isKind('unavailable')),
      refused: load.count(isKind('refused')),
      reset: load.count(isKind('reset')),
      'recovery ms': Math.round(findRecoveryMs(load, backAt)),
      ...account,
    })
    const wrong = load.writes.flatMap(({ outcome }) => (outcome.kind === 'wrong' ? [outcome.what] : []))
    assert.deepEqual(wrong, [])
    assert.equal(failedBefore, 0, 'writes failed before anything was broken')
    assert.equal(
      load.count((write) => failed(write) && !isKind(...allowed)(write)),
      0,
    )
    assert.equal(
      load.count(both(failed, since(backAt + recoveryMsMax))),
      0,
      'the service was not back in time',
    )
    assert.deepEqual(account, { missing: 0, doubled: 0, unanswered: 0 })
    assert.ok(perSecond >= writesPerSecondMin, `only ${perSecond} writes a second`)
  }
})

/** From the mending to the first write that succeeds and the last that fails. */
function findRecoveryMs({ writes }: Load, backAt: number): number {
  const saved = writes.flatMap(({ outcome }) =>
    outcome.kind === 'acknowledged' && outcome.at >= backAt ? [outcome.at] : [],
  )
  const lastFailure = Math.max(backAt, ...writes.filter(failed).map(({ startedAt }) => startedAt))
  return Math.max(Math.min(...saved), lastFailure) - backAt
}

async function killPostgres({ services: { postgres } }: World, load: Load): Promise<number> {
  await postgres.kill()
  await load.untilSeen(severalWrites, both(failed, since(performance.now())))
  await postgres.restart()
  return performance.now()
}

/** Again and again, so that the connections that were opened anew are cut, too. */
async function cutConnections({ services }: World, load: Load): Promise<number> {
  const cut =
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'valley'"
  for (let cuts = 0; cuts < 5; cuts++) {
    await load.untilSeen(100, both(acknowledged, since(performance.now())))
    assert.ok(Number(await runSql(services.databaseUrl, cut)) > 0)
  }
  return performance.now()
}

async function stopPostgres({ services: { postgres } }: World, load: Load): Promise<number> {
  const { pid } = postgres
  signalTree(pid, 'SIGSTOP')
  const stoppedAt = performance.now()
  try {
    await load.untilSeen(writesPerSecond, both(failed, since(stoppedAt)))
  } finally {
    signalTree(pid, 'SIGCONT')
  }
  return performance.now()
}

async function stopNats({ url, services: { nats } }: World, load: Load): Promise<number> {
  await nats.stop()
  const stoppedAt = performance.now()
  await load.untilSeen(severalWrites, both(settled, since(stoppedAt)))
  assert.equal(await readBusState(url), 'down')
  await nats.restart()
  const backAt = performance.now()
  for (let tries = 0; (await readBusState(url)) !== 'up'; tries++) {
    assert.ok(tries < busTriesMax, 'the bus did not come back')
    await load.untilSeen(writesPerSecond / 10, both(settled, since(performance.now())))
  }
  return backAt
}

/** What it had begun with before the signal is finished after it, when it takes no new connections any more. */
async function terminateServer({ server }: World, load: Load): Promise<number> {
  const held = await load.hold(20)
  const ended = server.terminate()
  await load.untilSeen(1, both(isKind('refused'), since(performance.now())))
  held.release()
  assert.deepEqual(await ended, { code: 0, signal: null })
  await load.untilSeen(held.writes.length, (write) => held.writes.includes(write) && settled(write))
  assert.deepEqual(
    held.writes.filter((write) => !acknowledged(write)),
    [],
  )
  await load.untilSeen(writesPerSecond, both(isKind('refused'), since(performance.now())))
  await server.restart()
  return performance.now()
}

async function readBusState(url: string): Promise<string> {
  const { bus } = (await (await fetch(`${url}/readyz`)).json()) as { bus: string }
  return bus
}

async function createVals({ url, tokens }: World): Promise<readonly string[]> {
  const create = async (name: string) => {
    const response = await fetch(`${url}/v1/vals`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokens.alice}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, code: 'export default 0' }),
    })
    assert.equal(response.status, 201)
    return ((await response.json()) as { id: string }).id
  }
  return Promise.all(Array.from({ length: 20 }, async (_, index) => create(`base_${index}`)))
}

function both(one: (write: Write) => boolean, other: (write: Write) => boolean): (write: Write) => boolean {
  return (write) => one(write) && other(write)
}

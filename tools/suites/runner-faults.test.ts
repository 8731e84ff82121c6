import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, test } from 'node:test'
import { callVal } from '../vals/call-val.ts'
import { saveVal } from '../vals/save-val.ts'
import type { RunnerNames } from '@valley/runner/sandbox/runner-names.ts'
import { findRunner } from '@valley/runner/sandbox/testing/find-traces.ts'
import { openClient } from '../bench/open-client.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { CallLoad, callsPerSecond } from './runner-faults/call-load.ts'
import { findRemains } from '../vals/runner-remains.ts'

const valCount = 5
const databaseAwayMs = 60_000
const processAwayMs = 10_000
const newHeadMsMax = 2_000
const recordMsMax = 60_000
const settleMsMax = 20_000
const stopMsMax = 20_000
const socketCode = 'export default (request: Request) => Deno.upgradeWebSocket(request).response'
const code = 'export default () => { console.log("called"); return new Response("here") }'

describe(`while warm vals are called ${callsPerSecond} times a second`, { concurrency: false }, () => {
  let world: World
  let names: RunnerNames
  const rows: object[] = []
  const labels = Array.from({ length: valCount }, (_, n) => `alice--steady${n}`)

  before(async () => {
    world = await openWorld()
    names = await findRunner(world.runnerStateFolder)
    for (let n = 0; n < valCount; n++) await saveVal(world, `steady${n}`, code)
    for (const label of labels) assert.equal((await callVal(world.valsUrl, label)).text, 'here')
  })
  after(async () => {
    console.table(rows)
    await world[Symbol.asyncDispose]()
  })

  test('nobody notices that PostgreSQL is away for a minute, and every run is recorded', async () => {
    await endure('PostgreSQL away', async () => {
      await world.services.postgres.kill()
      await sleep(databaseAwayMs)
      await world.services.postgres.restart()
    })
  })

  test('nobody notices that the server is killed, and every run is recorded', async () => {
    await endure('server killed', async () => {
      await world.server.kill()
      await sleep(processAwayMs)
      await world.server.restart()
    })
  })

  test('nobody notices that NATS is killed, and every run is recorded', async () => {
    await endure('NATS killed', async () => {
      await world.services.nats.kill()
      await sleep(processAwayMs)
      await world.services.nats.restart()
    })
  })

  test('a runner that is killed leaves nothing behind once it is started again, and answers', async () => {
    const { runner } = world
    assert.ok(runner !== null)
    const load = new CallLoad({ valsUrl: world.valsUrl, labels })
    await load.untilSeen(2 * callsPerSecond)
    const before = findRemains(names)
    assert.ok(before.sandboxes.length >= valCount && before.processes.length >= valCount)
    await runner.kill()
    await load.finish()
    await runner.restart()
    const answered = await callVal(world.valsUrl, labels[0] ?? '')
    assert.equal(answered.text, 'here')

    const after = findRemains(names)
    const survivors = (kind: 'sandboxes' | 'processes') =>
      after[kind].filter((name) => before[kind].includes(name))
    assert.deepEqual([...survivors('sandboxes'), ...survivors('processes')], [])
    for (const kind of ['namespaces', 'interfaces', 'mounts'] as const) {
      assert.ok(
        after[kind].length <= before[kind].length,
        `more ${kind} than before: ${after[kind].join('\n')}`,
      )
    }
    assert.equal(after.tables.length, before.tables.length)
  })

  test('a runner that is stopped leaves nothing at all, and waits for no WebSocket', async () => {
    await saveVal(world, 'socket', socketCode)
    const { port, hostname } = new URL(world.valsUrl)
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
    socket.write(
      `GET / HTTP/1.1\r\nhost: alice--socket.${hostname}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    )
    const [heard] = (await once(socket, 'data')) as [Buffer]
    assert.match(heard.toString('latin1'), /^HTTP\/1\.1 101 /)
    const before = findRemains(names)
    assert.ok(before.tables.length > 0)
    const stoppedAtMs = performance.now()
    const end = await world.runner?.terminate()
    assert.equal(end?.code, 0)
    assert.ok(performance.now() - stoppedAtMs < stopMsMax, 'it took too long to stop')
    const left = findRemains(names)
    assert.deepEqual(left, {
      sandboxes: [],
      processes: [],
      namespaces: [],
      interfaces: [],
      tables: [],
      mounts: [],
    })
  })

  /** Calm, fault, calm again: no call fails, a new val answers soon after, and every answer has its one record. */
  async function endure(fault: string, strike: () => Promise<void>): Promise<void> {
    await using load = new CallLoad({ valsUrl: world.valsUrl, labels })
    await load.untilSeen(2 * callsPerSecond)
    await strike()
    const headMs = await timeNewHead(fault.replaceAll(/\W/g, '_'))
    await load.untilSeen(2 * callsPerSecond)
    const { perSecond } = load
    await load.finish()
    const account = await waitForRecords(load.runIds)
    rows.push({
      fault,
      answered: load.runIds.length,
      failed: load.failures.length,
      'per second': Math.round(perSecond),
      'new val ms': Math.round(headMs),
      ...account,
    })
    assert.deepEqual([...new Set(load.failures)], [])
    assert.deepEqual(account, { missing: 0, doubled: 0 })
    assert.ok(headMs <= newHeadMsMax, `a new val answered ${headMs} ms after the return`)
  }

  /** From the return of what was away until a val answers that nobody knew before. */
  async function timeNewHead(name: string): Promise<number> {
    const backAtMs = performance.now()
    const until = backAtMs + settleMsMax
    for (;;) {
      const isThere = await saveVal(world, name, code).then(
        async () =>
          (await callVal(world.valsUrl, `alice--${name.toLowerCase().replaceAll('_', '-')}`)).text === 'here',
        () => false,
      )
      if (isThere) return performance.now() - backAtMs
      assert.ok(performance.now() < until, 'a new val does not answer')
      await sleep(20)
    }
  }

  /** The reports take their way through the stream; in the end each run is there once. */
  async function waitForRecords(runIds: readonly string[]) {
    await using client = await openClient(world.services.databaseUrl)
    const until = performance.now() + recordMsMax
    for (;;) {
      const { rows: found } = await client.query<{ runs: string; details: string }>(
        `SELECT (SELECT count(*) FROM runs WHERE id = ANY($1::uuid[])) AS runs,
           (SELECT count(*) FROM run_details WHERE id = ANY($1::uuid[])) AS details`,
        [runIds],
      )
      const recorded = Number(found[0]?.runs)
      const doubled = recorded - new Set(runIds).size
      const missing = runIds.length - Math.min(recorded, Number(found[0]?.details))
      if (missing === 0 || performance.now() > until) return { missing, doubled: Math.max(0, doubled) }
      await sleep(200)
    }
  }
})

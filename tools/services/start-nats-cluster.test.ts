import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connectBus } from '@valley/bus/connect-bus.ts'
import { openTemporaryFolder } from './open-temporary-folder.ts'
import { startNatsCluster } from './start-nats-cluster.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const cluster = opened.use(await startNatsCluster({ folder: folder.path }))

test('a partitioned node hears nothing from the others and from new clients until it is healed', async () => {
  const [first, second] = cluster.nodes
  assert.ok(first && second)
  const talking = opened.use(openBus(second.url))
  const listening = opened.use(openBus(first.url))
  const heard: string[] = []
  listening.subscribe('valChanged', ({ valId }) => heard.push(valId))
  const sayUntilHeard = async () => {
    const valId = randomUUID()
    const deadline = Date.now() + 20_000
    for (; !heard.includes(valId); await pause(20)) {
      talking.publish('valChanged', { valId })
      assert.ok(Date.now() < deadline, 'nothing was heard')
    }
  }
  await sayUntilHeard()
  await first.partition()
  const meanwhile = randomUUID()
  talking.publish('valChanged', { valId: meanwhile })
  await assert.rejects(greet(first.url), { name: 'AbortError' })
  assert.ok(!heard.includes(meanwhile))
  await first.heal()
  await greet(first.url)
  await sayUntilHeard()
})

function openBus(url: string) {
  return connectBus({ url, name: 'test', onChange: () => {}, onBadMessage: () => {} })
}

/** NATS speaks first to whoever connects. */
async function greet(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket = createConnection(Number(port), hostname)
  try {
    await once(socket, 'data', { signal: AbortSignal.timeout(500) })
  } finally {
    socket.destroy()
  }
}

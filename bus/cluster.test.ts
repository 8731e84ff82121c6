import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { type NatsNode, startNatsCluster } from '@valley/tools/services/start-nats-cluster.ts'
import { type Bus, connectBus } from './connect-bus.ts'
import { takeBatches } from './testing/take-batches.ts'
import { openManager } from './ensure-streams.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const cluster = opened.use(await startNatsCluster({ folder: folder.path }))

const seen: string[] = []

function openBus(url = cluster.url): Bus {
  return connectBus({
    url,
    name: 'test',
    replicas: 3,
    onChange: (state) => seen.push(state),
    onBadMessage: (subject, error) => seen.push(`${subject}: ${String(error)}`),
    onTrouble: (doing, error) => seen.push(`${doing}: ${String(error)}`),
  })
}

/** NATS itself takes up to half a minute until others lead in place of a server that is gone. */
async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await isTrue())) {
    assert.ok(Date.now() < deadline, `waited in vain: ${what}\n${seen.slice(-20).join('\n')}`)
    await pause(10)
  }
}

/** Publishes batches all the time, and takes them on another bus. */
function openTraffic(from: Bus, to: Bus) {
  const stored: string[] = []
  const taken: string[] = []
  const stop = new AbortController()
  const publishing = (async () => {
    while (!stop.signal.aborted) {
      const batch = { batchId: randomUUID(), reports: [] }
      const publish = () => from.publishToStream('RUNS', batch, { messageId: batch.batchId })
      if ((await publish()) === 'stored') stored.push(batch.batchId)
      await pause(20)
    }
  })()
  const consuming = takeBatches(to, ({ batchId }) => taken.push(batchId))
  const finish = async () => {
    stop.abort()
    await publishing
  }
  return {
    stored,
    taken,
    finish,
    async [Symbol.asyncDispose]() {
      await finish()
      await consuming[Symbol.asyncDispose]()
    },
  }
}

test('the streams of a cluster that has just started are made on all three servers', async () => {
  await using bus = openBus()
  const batch = { batchId: randomUUID(), reports: [] }
  await until('the stream is there', async () => {
    return (await bus.publishToStream('RUNS', batch, { messageId: batch.batchId })) === 'stored'
  })
  await until('both streams have three replicas', async () => {
    const found = await Promise.all([readStream('RUNS'), readStream('TAIL')])
    return found.every((info) => info?.config.num_replicas === 3)
  })
})

for (const [how, strike, mend] of [
  ['killed', (node: NatsNode) => node.kill(), (node: NatsNode) => node.restart()],
  ['cut off', (node: NatsNode) => node.partition(), (node: NatsNode) => node.heal()],
] as const) {
  test(`while the leader of a stream is ${how}, storing goes on without it, and what was stored is taken`, async () => {
    await using from = openBus()
    await using to = openBus()
    await using traffic = openTraffic(from, to)
    await until('it flows', () => traffic.taken.length > 20)
    const leader = await findLeader()
    const { length } = traffic.taken
    await strike(leader)
    try {
      await until(`it flows without ${leader.url}`, () => traffic.taken.length > length + 50)
    } finally {
      await mend(leader)
    }
    await traffic.finish()
    await until('everything was taken', () => new Set(traffic.stored).isSubsetOf(new Set(traffic.taken)))
  })
}

async function readStream(name: 'RUNS' | 'TAIL') {
  const connection = await connect({ servers: cluster.url.split(',') })
  try {
    return await (await openManager(connection)).streams.info(name)
  } catch {
    return null
  } finally {
    await connection.close()
  }
}

async function findLeader(): Promise<NatsNode> {
  let leader: NatsNode | undefined
  await until('RUNS has a leader', async () => {
    const name = (await readStream('RUNS'))?.cluster?.leader
    leader = cluster.nodes.find((_, index) => name === `nats-${index + 1}`)
    return leader !== undefined
  })
  return leader ?? assert.fail()
}

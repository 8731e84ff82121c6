import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openSmallDisk } from '@valley/tools/services/open-small-disk.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { connectBus } from './connect-bus.ts'
import { takeBatches } from './testing/take-batches.ts'

const diskBytes = 32 * 1024 * 1024
const waitMsMax = 20_000
const fullMs = 2_000

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const store = path.join(folder.path, 'nats')
await mkdir(store)
const disk = opened.use(await openSmallDisk(store, diskBytes))
const nats = opened.use(await startNats({ folder: folder.path, storeBytesMax: 4 * 1024 ** 3 }))

function openBus(name: string) {
  const quietly = () => undefined
  return opened.use(connectBus({ url: nats.url, name, onChange: quietly, onBadMessage: quietly }))
}

/** NATS comes back counting from the start, while its consumer remembers how far it was. */
test('after a full disk every message that NATS has stored is taken', async () => {
  const [runner, server] = [openBus('runner'), openBus('server')]
  const stored: string[] = []
  const taken = new Set<string>()
  opened.use(takeBatches(server, ({ batchId }) => void taken.add(batchId)))
  const publish = async () => {
    const batchId = randomUUID()
    const outcome = await runner.publishToStream('RUNS', { batchId, reports: [] }, { messageId: batchId })
    if (outcome === 'stored') stored.push(batchId)
    else await sleep(20)
  }
  const publishSome = async (count: number) => {
    const untilMs = performance.now() + waitMsMax
    for (const many = stored.length + count; stored.length < many;) {
      assert.ok(performance.now() < untilMs, 'NATS takes nothing')
      await publish()
    }
  }
  await publishSome(100)
  await disk.fill()
  const back = new AbortController()
  const trying = (async () => {
    while (!back.signal.aborted) await publish()
  })()
  await sleep(fullMs)
  await disk.free()
  await nats.kill()
  const before = stored.length
  await nats.restart()
  back.abort()
  await trying
  await publishSome(150)
  const afterwards = stored.slice(before)
  const untilMs = performance.now() + waitMsMax
  while (!afterwards.every((id) => taken.has(id)) && performance.now() < untilMs) await sleep(50)
  assert.deepEqual(
    afterwards.filter((id) => !taken.has(id)),
    [],
  )
})

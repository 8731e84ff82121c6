import assert from 'node:assert/strict'
import { createConnection } from 'node:net'
import { once } from 'node:events'
import { test } from 'node:test'
import { openTemporaryFolder } from './open-temporary-folder.ts'
import { startNats } from './start-nats.ts'

test('NATS killed with -9 comes back on the same port, with JetStream', async () => {
  await using folder = await openTemporaryFolder()
  await using nats = await startNats({ folder: folder.path })
  const { pid, port } = nats
  assert.equal((await readGreeting(port)).jetstream, true)
  await nats.kill()
  await assert.rejects(readGreeting(port), { code: 'ECONNREFUSED' })
  await nats.restart()
  assert.notEqual(nats.pid, pid)
  assert.equal((await readGreeting(port)).jetstream, true)
})

test('a later start in the same folder takes the same port', async () => {
  await using folder = await openTemporaryFolder()
  const first = await startNats({ folder: folder.path })
  await first.stop()
  await using second = await startNats({ folder: folder.path })
  assert.equal(second.url, first.url)
})

/** The line with which NATS greets every connection: INFO and a JSON object. */
async function readGreeting(port: number): Promise<{ jetstream?: boolean }> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    const [bytes] = (await once(socket, 'data', { signal: AbortSignal.timeout(5_000) })) as [Buffer]
    return JSON.parse(bytes.toString('utf8').replace(/^INFO /, '')) as { jetstream?: boolean }
  } finally {
    socket.destroy()
  }
}

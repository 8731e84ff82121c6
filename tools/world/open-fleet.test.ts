import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openFleet } from './open-fleet.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const fleet = opened.use(await openFleet({ servers: 2, runners: 2, natsNodes: 1 }))

/** ready: a server that has its database and NATS. */
async function readState(index: number): Promise<string> {
  const response = await fetch(`${fleet.servers[index]?.process.url}/readyz`)
  const { bus } = (await response.json()) as { bus?: string }
  return response.ok && bus === 'up' ? 'ready' : `${response.status} ${bus}`
}

async function until(index: number, isWanted: (state: string) => boolean): Promise<void> {
  const deadline = Date.now() + 20_000
  for (let state = await readState(index); !isWanted(state); state = await readState(index)) {
    assert.ok(Date.now() < deadline, `server ${index + 1} is ${state}`)
    await pause(20)
  }
}

const isReady = (state: string) => state === 'ready'

test('the ways of one server are cut and mended without the other one', async () => {
  await until(0, isReady)
  await until(1, isReady)
  const { ways } = fleet.servers[0] ?? assert.fail()
  for (const way of ways) {
    await way.cut()
    await until(0, (state) => !isReady(state))
    assert.ok(isReady(await readState(1)))
    await way.mend()
    await until(0, isReady)
  }
})

test('the disk of NATS is small enough to be filled, and that of the others is another one', async () => {
  const { disk } = fleet.nats
  assert.ok(disk)
  const file = path.join(fleet.folder, 'nats', 'more')
  await disk.fill()
  await assert.rejects(writeFile(file, Buffer.alloc(100_000)), { code: 'ENOSPC' })
  await writeFile(path.join(fleet.folder, 'more'), 'fits')
  await disk.free()
  await writeFile(file, 'fits')
})

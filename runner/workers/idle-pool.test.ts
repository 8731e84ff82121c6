import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { limits } from '../limits.ts'
import { createIdleWorker } from '../testing/create-idle-worker.ts'
import type { EndCause } from './end-cause.ts'
import { IdlePool } from './idle-pool.ts'
import { Worker } from './worker.ts'

test('it boots as many as it shall hold, a few at once', async () => {
  const { pool, boots, finish } = open({ size: 4 })
  pool.fill()
  assert.equal(pool.booting, limits.bootsAtOnceMax)
  while (pool.size < 4) await finish()
  assert.deepEqual([pool.size, pool.booting, boots.length], [4, 0, 4])
})

test('whoever takes one gets the one that waits longest, and another is booted in its place a moment later', async () => {
  const { pool, workers, finish } = open({ size: 1 })
  pool.fill()
  await finish()
  assert.equal(await pool.take(), workers[0])
  assert.deepEqual([pool.size, pool.booting], [0, 0])
  await pause(2 * limits.refillDelayMs)
  assert.deepEqual([pool.size, pool.booting], [0, 1])
})

test('whoever finds none waits for the next, in the order of coming', async () => {
  const { pool, workers, finish } = open({ size: 1 })
  const taken = [pool.take(), pool.take(), pool.take()]
  assert.equal(pool.booting, limits.bootsAtOnceMax)
  for (let i = 0; i < 4; i++) await finish()
  assert.deepEqual(await Promise.all(taken), workers.slice(0, 3))
  assert.equal(pool.size, 1)
})

test('without room nothing is booted, until there is some', async () => {
  const room = { isThere: false }
  const { pool, finish } = open({ size: 1, makeRoom: () => room.isThere })
  const taken = pool.take()
  assert.equal(pool.booting, 0)
  room.isThere = true
  pool.fill()
  await finish()
  assert.ok((await taken) instanceof Worker)
})

test('making room may fill the pool again without end', () => {
  const { pool } = open({
    size: 2,
    makeRoom: () => {
      pool.fill()
      return true
    },
  })
  pool.fill()
  assert.equal(pool.booting, 2)
})

test('a boot that failed is told of and tried again, after a while', async () => {
  const { pool, boots, failures, finish, fail } = open({ size: 1 })
  const taken = pool.take()
  await fail(new Error('no sandbox'))
  await fail(new Error('no sandbox'))
  assert.deepEqual([failures.length, boots.length], [2, 2])
  const deadline = Date.now() + 10 * limits.bootRetryWaitMs
  while (boots.length < 4 && Date.now() < deadline) await turn()
  assert.equal(boots.length, 4)
  await finish()
  assert.ok((await taken) instanceof Worker)
})

test('a worker that ended while it was idle is not given to anybody', async () => {
  const { pool, workers, finish } = open({ size: 2 })
  pool.fill()
  await finish()
  await finish()
  const [first, second] = workers
  first?.end('exited')
  assert.equal(pool.size, 1)
  assert.equal(await pool.take(), second)
})

test('closed, it ends those it has and those that come, and nobody waits any longer', async () => {
  const { pool, ends, finish } = open({ size: 2 })
  pool.fill()
  await finish()
  pool.close()
  assert.deepEqual(ends, ['stopping'])
  assert.equal(await pool.take(), null)
  await finish()
  assert.deepEqual(ends, ['stopping', 'stopping'])
  assert.deepEqual([pool.size, pool.booting], [0, 0])

  const other = open({ size: 1 })
  const waiting = other.pool.take()
  other.pool.close()
  assert.equal(await waiting, null)
})

interface Plan {
  readonly size: number
  readonly makeRoom?: () => boolean
}

/** A pool whose boots end when the test says so. */
function open({ size, makeRoom = () => true }: Plan) {
  const boots: PromiseWithResolvers<Worker>[] = []
  const workers: Worker[] = []
  const failures: unknown[] = []
  const ends: EndCause[] = []
  let next = 0
  const pool = new IdlePool({
    size,
    makeRoom,
    boot: async () => {
      const boot = Promise.withResolvers<Worker>()
      boots.push(boot)
      return boot.promise
    },
    onBootFailed: (cause) => failures.push(cause),
  })
  return {
    pool,
    boots,
    workers,
    failures,
    ends,
    finish: async () => {
      const worker = createIdleWorker((ended, cause) => {
        ends.push(cause)
        pool.forget(ended)
      })
      workers.push(worker)
      boots[next++]?.resolve(worker)
      await turn()
    },
    fail: async (cause: Error) => {
      boots[next++]?.reject(cause)
      await turn()
    },
  }
}

/** Lets everything happen that only waits for its turn. */
async function turn(): Promise<void> {
  await new Promise((done) => setImmediate(done))
}

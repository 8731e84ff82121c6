import assert from 'node:assert/strict'
import { mock, test, type TestContext } from 'node:test'
import { newId } from '../database/ids.ts'
import { limits } from '../limits.ts'
import { RunWaits } from './run-waits.ts'

/** Waits whose hints come from the test, while no time passes but what it lets pass. */
function open(t: TestContext) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let hear: (told: { senderId: string; runIds: string[] }) => void = () => assert.fail('nobody listens')
  const waits = new RunWaits({ subscribe: (_, listener) => void (hear = listener as never) })
  return { waits, hint: (...runIds: string[]) => hear({ senderId: newId(), runIds }) }
}

/** A run that is over once the test says so; counts how often it was looked at. */
function openRun() {
  const run = { isOver: false, looks: 0 }
  const look = async () => {
    run.looks += 1
    return run.isOver ? 'over' : null
  }
  return { run, look }
}

/** Lets everything happen that waits for no timer. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a hint about the run makes it be looked at, and one about another does not', async (t) => {
  const { waits, hint } = open(t)
  const { run, look } = openRun()
  const found = waits.until('a', { waitMs: 60_000 }, look)
  await turn()
  hint('b')
  await turn()
  assert.equal(run.looks, 1)
  run.isOver = true
  hint('b', 'a')
  assert.equal(await found, 'over')
  assert.equal(run.looks, 2)
})

test('a hint that comes while it is being looked at is not overheard', async (t) => {
  const { waits, hint } = open(t)
  let looks = 0
  const found = waits.until('a', { waitMs: 60_000 }, async () => {
    looks += 1
    if (looks > 1) return 'over'
    hint('a')
    await turn()
    return null
  })
  assert.equal(await found, 'over')
})

test('without any hint it is looked at now and then', async (t) => {
  const { waits } = open(t)
  const { run, look } = openRun()
  const found = waits.until('a', { waitMs: 60_000 }, look)
  await turn()
  run.isOver = true
  mock.timers.tick(limits.waitLookMs)
  assert.equal(await found, 'over')
})

test('several who wait for one run all hear of it', async (t) => {
  const { waits, hint } = open(t)
  const { run, look } = openRun()
  const all = [1, 2, 3].map(async () => waits.until('a', { waitMs: 60_000 }, look))
  await turn()
  run.isOver = true
  hint('a')
  assert.deepEqual(await Promise.all(all), ['over', 'over', 'over'])
})

test('when the time is up there is nothing, after one last look', async (t) => {
  const { waits } = open(t)
  const { run, look } = openRun()
  const found = waits.until('a', { waitMs: 0 }, look)
  await turn()
  mock.timers.tick(1)
  assert.equal(await found, null)
  assert.ok(run.looks >= 1)
})

test('once it is closed everybody is told what there is, also those who come later', async (t) => {
  const { waits } = open(t)
  const { look } = openRun()
  const found = waits.until('a', { waitMs: 60_000 }, look)
  await turn()
  waits[Symbol.dispose]()
  assert.equal(await found, null)
  assert.equal(await waits.until('b', { waitMs: 60_000 }, look), null)
})

test('what goes wrong with a look is told to who waits', async (t) => {
  const { waits } = open(t)
  await assert.rejects(
    waits.until('a', { waitMs: 60_000 }, async () => {
      throw new Error('no database')
    }),
    /no database/,
  )
})

test('whoever leaves is not waited for any more, also while it is being looked', async (t) => {
  const { waits } = open(t)
  const { run, look } = openRun()
  const leaving = new AbortController()
  const found = waits.until('a', { waitMs: 60_000, signal: leaving.signal }, look)
  await turn()
  leaving.abort()
  assert.equal(await found, null)
  assert.equal(run.looks, 2, 'once more, in case it is over')
  const early = new AbortController()
  const second = waits.until('a', { waitMs: 60_000, signal: early.signal }, async () => {
    early.abort()
    return null
  })
  assert.equal(await second, null)
})

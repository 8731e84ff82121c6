import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../database/ids.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { RunAllowance } from './run-allowance.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

test('of many who ask at once, as many are let in as there is room for', async () => {
  const allowance = new RunAllowance({ queuedRunsPerOwnerMax: 3, runsPerDayMax: null })
  const [first, second] = [newId(), newId()]
  const wanted = new Map([
    [first, 1],
    [second, 2],
  ])
  const taken = await Promise.all(Array.from({ length: 20 }, async () => allowance.take(server.db, wanted)))
  for (const owner of [first, second]) {
    assert.equal(
      taken.reduce((sum, each) => sum + (each.get(owner) ?? 0), 0),
      3,
    )
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from './limits.ts'
import { retryWaitMs } from './retries.ts'
import { ValleyError } from './valley-error.ts'

const lost = new ValleyError('network', 'cut')
const samples = Array.from({ length: 300 })

function longestWaitMs(failures: number) {
  const situation = { failures, retriesMax: 100, repeatable: true }
  return Math.max(...samples.map(() => retryWaitMs(lost, situation) ?? Number.NaN))
}

test('waits are drawn from nothing up to a bound that doubles and then stays', () => {
  for (const [failures, boundMs] of [
    [1, 500],
    [2, 1000],
    [3, 2000],
    [5, 8000],
    [50, 8000],
  ] as const) {
    const longestMs = longestWaitMs(failures)
    assert.ok(longestMs <= boundMs && longestMs > 0.9 * boundMs, `${longestMs} of ${boundMs}`)
  }
})

test('the pause that the server asks for is never cut short, and spread a little', () => {
  const busy = new ValleyError('unavailable', 'busy', { status: 503, retryAfterMs: 2000 })
  const waits = samples.map(() => retryWaitMs(busy, { failures: 1, retriesMax: 2, repeatable: true }) ?? 0)
  assert.ok(waits.every((ms) => ms >= 2000 && ms <= 2000 + limits.retryAfterJitterMs))
  assert.ok(new Set(waits).size > 1)
})

test("a proxy's 502 and 504 are retried where that is safe", () => {
  for (const status of [502, 504]) {
    const error = new ValleyError('unexpected_answer', 'page', { status })
    assert.notEqual(retryWaitMs(error, { failures: 1, retriesMax: 2, repeatable: true }), null)
    assert.equal(retryWaitMs(error, { failures: 1, retriesMax: 2, repeatable: false }), null)
  }
})

test('no retries means none', () => {
  assert.equal(retryWaitMs(lost, { failures: 1, retriesMax: 0, repeatable: true }), null)
})

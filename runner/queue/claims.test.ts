import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { Claims } from './claims.ts'

test('numbers grow, and none is given twice', () => {
  const claims = new Claims()
  const numbers = Array.from({ length: 5 }, (_, at) => {
    const number = claims.begin()
    if (at % 2 === 0) claims.settle(number)
    else claims.abandon(number)
    return number
  })
  assert.deepEqual(numbers, [1, 2, 3, 4, 5])
})

test('what is under way is not settled, and all before it is', () => {
  const claims = new Claims()
  assert.equal(claims.settled, 0)
  claims.settle(claims.begin())
  assert.equal(claims.settled, 1)
  const second = claims.begin()
  assert.equal(claims.settled, 1, 'its answer may be on its way')
  claims.settle(second)
  assert.equal(claims.settled, 2)
})

test('an abandoned claim counts as settled and is told, from then on', () => {
  const claims = new Claims()
  claims.settle(claims.begin())
  claims.abandon(claims.begin())
  assert.equal(claims.settled, 2)
  assert.deepEqual(claims.abandoned(performance.now()), [2])
  claims.settle(claims.begin())
  assert.deepEqual(claims.abandoned(performance.now()), [2])
  claims.abandon(claims.begin())
  assert.deepEqual(claims.abandoned(performance.now()), [2, 4])
})

test('it is told for as long as a server might still carry it out, and then no more', () => {
  const claims = new Claims()
  claims.abandon(claims.begin())
  const nowMs = performance.now()
  assert.deepEqual(claims.abandoned(nowMs + limits.abandonedToldMs - 1_000), [1])
  assert.deepEqual(claims.abandoned(nowMs + limits.abandonedToldMs + 1_000), [])
  assert.deepEqual(claims.abandoned(nowMs), [], 'once forgotten it stays so')
  assert.equal(claims.settled, 1)
})

test('settling an earlier claim does not settle the one under way', () => {
  const claims = new Claims()
  const first = claims.begin()
  claims.abandon(first)
  claims.begin()
  claims.settle(first)
  assert.equal(claims.settled, 1)
})

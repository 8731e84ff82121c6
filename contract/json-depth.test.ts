import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeeperThan } from './json-depth.ts'

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

test('levels are counted through arrays and objects, and what is in none has none', () => {
  for (const flat of [null, 1, 'text', true, undefined]) assert.equal(isDeeperThan(flat, 0), false)
  const value = { a: [{ b: 1 }] }
  assert.deepEqual([isDeeperThan(value, 3), isDeeperThan(value, 2)], [false, true])
})

test('an empty array or object is a level like any other', () => {
  for (const depth of [1, 2, 100]) {
    assert.deepEqual(
      [isDeeperThan(nested(depth), depth), isDeeperThan(nested(depth), depth - 1)],
      [false, true],
    )
  }
  assert.deepEqual([isDeeperThan({ a: {} }, 2), isDeeperThan({ a: {} }, 1)], [false, true])
})

test('a value that nothing else could walk through is told to be too deep', () => {
  assert.equal(isDeeperThan(nested(1_000_000), 100), true)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@valley/contract/limits.ts'
import { keepReturned } from './returned.ts'

const keep = (text: string) => keepReturned({ text, isCut: false })

test('JSON is kept as the value that it is', () => {
  for (const value of [null, 1, 'text', [1, { a: null }], {}]) {
    assert.deepEqual(keep(JSON.stringify(value)), { value, isCut: false })
  }
})

test('what is no JSON, or was cut, or is too long, is kept as text', () => {
  for (const text of ['', '{', 'undefined', 'Map(1) {}'])
    assert.deepEqual(keep(text), { value: text, isCut: true })
  assert.deepEqual(keepReturned({ text: '[1]', isCut: true }), { value: '[1]', isCut: true })
  const long = JSON.stringify('x'.repeat(limits.returnValueCharsMax))
  assert.deepEqual(keep(long), { value: `${long.slice(0, limits.returnValueCharsMax)}…`, isCut: true })
})

test('what is nested so deeply that it cannot be written down again is kept as text', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  assert.equal(keep(nested(limits.jsonLevelsMax)).isCut, false)
  for (const depth of [limits.jsonLevelsMax + 1, 30_000]) {
    const { value, isCut } = keep(nested(depth))
    assert.deepEqual([value, isCut], [nested(depth), true])
    assert.doesNotThrow(() => JSON.stringify(value))
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startAfter } from './position.ts'

const stream = { epoch: 7, firstSequence: 10, lastSequence: 20 }

test('a watch without a position begins at the live end', () => {
  assert.deepEqual(startAfter(undefined, stream), { position: { epoch: 7, sequence: 20 }, isGap: false })
})

test('a position whose successor is still kept goes on without a gap', () => {
  for (const sequence of [9, 10, 15, 20]) {
    const position = { epoch: 7, sequence }
    assert.deepEqual(startAfter(position, stream), { position, isGap: false })
  }
})

test('a position whose successor is forgotten, or of another stream, goes on with the oldest that is kept', () => {
  for (const asked of [
    { epoch: 7, sequence: 8 },
    { epoch: 6, sequence: 15 },
  ]) {
    assert.deepEqual(startAfter(asked, stream), { position: { epoch: 7, sequence: 9 }, isGap: true })
  }
})

test('a position that the stream has not reached begins at the live end, and says so', () => {
  const asked = { epoch: 7, sequence: 21 }
  assert.deepEqual(startAfter(asked, stream), { position: { epoch: 7, sequence: 20 }, isGap: true })
})

test('a stream that has just been made has nothing before it', () => {
  const fresh = { epoch: 8, firstSequence: 0, lastSequence: 0 }
  assert.deepEqual(startAfter({ epoch: 7, sequence: 15 }, fresh), {
    position: { epoch: 8, sequence: 0 },
    isGap: true,
  })
})

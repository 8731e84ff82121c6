import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readFromIsolate } from './from-isolate.ts'

const error = { name: 'Error', message: 'no' }
const meant = [
  { kind: 'ready' },
  { kind: 'log', level: 'warn', message: 'line' },
  { kind: 'returned', text: '1', isCut: false, hasDefault: true },
  { kind: 'threw', error },
  { kind: 'threw', error: { ...error, stack: 'at' } },
]

test('what an isolate says of its run is heard as it is', () => {
  for (const said of meant) assert.deepEqual(readFromIsolate(said), said)
})

test('what is said besides, such as about another run, is not heard', () => {
  for (const said of meant.slice(0, 3)) {
    assert.deepEqual(readFromIsolate({ ...said, runId: 'of another', number: 1 }), said)
  }
})

test('what has no meaning is nothing', () => {
  const nonsense: unknown[] = [
    null,
    undefined,
    1,
    'text',
    [],
    {},
    { kind: 'pong', number: 1 },
    { kind: 'loaded' },
  ]
  nonsense.push({ kind: 'log', level: 'loud', message: 'line' }, { kind: 'log', level: 'info', message: 1 })
  nonsense.push(
    { kind: 'returned', text: 1, isCut: false, hasDefault: true },
    { kind: 'returned', text: '1' },
  )
  nonsense.push(
    { kind: 'threw' },
    { kind: 'threw', error: null },
    { kind: 'threw', error: { name: 'a', message: 1 } },
  )
  nonsense.push({ kind: 'threw', error: { ...error, stack: 1 } }, { kind: ['ready'] })
  for (const said of nonsense) assert.equal(readFromIsolate(said), null, JSON.stringify(said))
})

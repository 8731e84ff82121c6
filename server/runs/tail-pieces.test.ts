import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Watched } from '@valley/bus/watch-stream.ts'
import { limits } from '../limits.ts'
import { piecesOf } from './tail-pieces.ts'
import { readTailPositionOrNull, writeTailPosition } from './tail-position.ts'

const position = { epoch: 1_794_712_067_959, sequence: 41 }
const runId = '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'

const never: AsyncIterable<Watched> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }),
}

test('a position comes back as it was written, and nothing else is taken for one', () => {
  for (const index of [null, 0, 35, 1_000]) {
    const written = { ...position, index }
    assert.deepEqual(readTailPositionOrNull(writeTailPosition(written)), written)
  }
  for (const text of ['', '1', '1-', 'a-b-c-d', '-1-2', '1-2-', '../x', 'z'.repeat(100)]) {
    assert.equal(readTailPositionOrNull(text), null, text)
  }
})

test('while nothing happens, a heartbeat goes out and the caller’s right is checked again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  let checks = 0
  const mayGoOn = async () => ++checks < 3
  const pieces = piecesOf({ position, events: never }, { seen: null, isLost: false, mayGoOn })
  assert.equal((await pieces.next()).value?.kind, 'start')
  for (let beats = 0; beats < 2; beats++) {
    const next = pieces.next()
    t.mock.timers.tick(limits.tailHeartbeatMs)
    assert.deepEqual(await next, { done: false, value: { kind: 'heartbeat' } })
  }
  const last = pieces.next()
  t.mock.timers.tick(limits.tailHeartbeatMs)
  assert.equal((await last).done, true)
})

test('a message that was seen in part goes on with the events that were not', async () => {
  const events = ['a', 'b', 'c'].map((message) => {
    return { kind: 'log', runId, at: '2026-11-14T09:30:00.000Z', level: 'info', message } as const
  })
  async function* watched(): AsyncGenerator<Watched> {
    yield { kind: 'message', position, body: { valId: runId, events } }
  }
  const seen = { ...position, index: 1 }
  const mayGoOn = async () => true
  const pieces = await Array.fromAsync(
    piecesOf({ position, events: watched() }, { seen, isLost: false, mayGoOn }),
  )
  const sent = pieces.flatMap((piece) => (piece.kind === 'event' ? [piece.event] : []))
  const { kind: _, ...data } = events[2] ?? assert.fail()
  assert.deepEqual(sent, [{ event: 'log', id: writeTailPosition({ ...position, index: null }), data }])
})

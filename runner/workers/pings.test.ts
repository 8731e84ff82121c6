import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pings } from './pings.ts'

test('what waits is called back by the answer to its own ping, in order, and not before', () => {
  const { pings, sent } = open()
  const done: string[] = []
  pings.barrier(() => done.push('first'))
  pings.barrier(() => done.push('second'))
  assert.deepEqual(sent, [1, 2])
  pings.heard(1)
  assert.deepEqual(done, ['first'])
  pings.heard(2)
  assert.deepEqual(done, ['first', 'second'])
})

test('an answer to a later ping answers those before it', () => {
  const { pings } = open()
  const done: string[] = []
  for (const name of ['first', 'second', 'third']) pings.barrier(() => done.push(name))
  pings.heard(3)
  assert.deepEqual(done, ['first', 'second', 'third'])
})

test('answers to pings that were never sent, or were answered already, change nothing', () => {
  const { pings } = open()
  let called = 0
  pings.barrier(() => called++)
  for (const forged of [0, -1, 2, 1e9, NaN, Infinity, 0.5]) pings.heard(forged)
  assert.equal(called, 0)
  pings.heard(1)
  pings.heard(1)
  assert.equal(called, 1)
})

test('silence is counted from the oldest ping without an answer, and ends with the last answer', () => {
  const { pings } = open()
  assert.equal(pings.silentMs(1_000), 0)
  pings.keepGoing(1_000)
  pings.keepGoing(2_000)
  assert.equal(pings.silentMs(6_000), 5_000)
  pings.heard(1)
  assert.equal(pings.silentMs(9_000), 0)
})

test('one ping at a time is enough to keep going', () => {
  const { pings, sent } = open()
  for (const nowMs of [1, 2, 3]) pings.keepGoing(nowMs)
  assert.deepEqual(sent, [1])
  pings.heard(1)
  pings.keepGoing(4)
  assert.deepEqual(sent, [1, 2])
})

function open() {
  const sent: number[] = []
  return { pings: new Pings((number) => sent.push(number)), sent }
}

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { Allowance } from './allowance.ts'

test('a stream that brings more than it may in a second is left alone until the next', async () => {
  const stream = new PassThrough()
  const allowance = new Allowance(stream, 1_000)
  const resumed = () => new Promise((resolve) => stream.once('resume', resolve))
  const flowing = resumed()
  stream.resume()
  await flowing
  allowance.spend(1_000)
  assert.equal(stream.isPaused(), false)
  const overAtMs = performance.now()
  allowance.spend(1)
  assert.equal(stream.isPaused(), true)
  // The allowance keeps no process alive, so this timer does.
  const awake = setTimeout(() => assert.fail('it was never read again'), 5_000)
  await resumed()
  clearTimeout(awake)
  const waitedMs = performance.now() - overAtMs
  assert.ok(waitedMs > 500 && waitedMs < 3_000, `it waited ${waitedMs} ms`)
  allowance.spend(1_000)
  assert.equal(stream.isPaused(), false)
})

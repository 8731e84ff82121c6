import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { exampleHead } from '../testing/example-head.ts'
import { KnownKinds } from './known-kinds.ts'

const script = { ...exampleHead, type: 'script' } as const

test('until a run has said whether there is something to call, each run has an isolate of its own', () => {
  const kinds = new KnownKinds()
  assert.equal(kinds.modeFor(script), 'fresh')
  kinds.note(script, null)
  assert.equal(kinds.modeFor(script), 'fresh')
})

test('what has something to call is called in a warm worker, and what has not never is', () => {
  const kinds = new KnownKinds()
  kinds.note(script, true)
  assert.equal(kinds.modeFor(script), 'warm')
  kinds.note(script, false)
  assert.equal(kinds.modeFor(script), 'fresh')
})

test('another version and another val are not known by it', () => {
  const kinds = new KnownKinds()
  kinds.note(script, true)
  assert.equal(kinds.modeFor({ ...script, version: script.version + 1 }), 'fresh')
  assert.equal(kinds.modeFor({ ...script, valId: '01a1ddf6-0000-7000-8000-000000000000' }), 'fresh')
})

test('a val that answers requests is warm for them, whatever its runs said', () => {
  const kinds = new KnownKinds()
  const http = { ...script, type: 'http' } as const
  assert.equal(kinds.modeFor(http), 'warm')
  kinds.note(http, false)
  assert.equal(kinds.modeFor(http), 'warm')
})

test('no more vals are remembered than the bound, the least lately used go first', () => {
  const kinds = new KnownKinds()
  for (let version = 1; version <= limits.knownKindsMax + 1; version++) {
    kinds.note({ ...script, version }, true)
  }
  assert.equal(kinds.modeFor({ ...script, version: 1 }), 'fresh')
  assert.equal(kinds.modeFor({ ...script, version: 2 }), 'warm')
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runErrorOf } from './run-error.ts'

test('an error is kept in its own lines', () => {
  const thrown = {
    name: 'RangeError',
    message: 'far',
    stack: 'RangeError: far\n    at file:///val/a.tsx:1:2',
  }
  assert.deepEqual(runErrorOf(thrown), {
    name: 'RangeError',
    message: 'far',
    stack: 'RangeError: far\n    at a.tsx:1:2',
  })
})

test('what was no error has no stack', () => {
  assert.deepEqual(runErrorOf({ name: 'Thrown', message: '7' }), { name: 'Thrown', message: '7' })
})

test('a module that does not parse is a SyntaxError, with its place', () => {
  const message = 'The module could not be parsed: Expression expected at file:///val/a.tsx:2:11'
  const thrown = {
    name: 'TypeError',
    message: `SyntaxError: ${message}`,
    stack: `TypeError: SyntaxError: ${message}\n    at async file:///app/load-val.js:1:1`,
  }
  const { name, message: said, stack } = runErrorOf(thrown)
  assert.equal(name, 'SyntaxError')
  assert.equal(said, 'The module could not be parsed: Expression expected at a.tsx:2:11')
  assert.equal(stack, `SyntaxError: ${said}`)
})

test('a TypeError that only speaks of a SyntaxError stays one', () => {
  assert.equal(runErrorOf({ name: 'TypeError', message: 'not a SyntaxError: at all' }).name, 'TypeError')
})

test('it is cut to what may be kept, and has no character that cannot be', () => {
  const { name, message, stack } = runErrorOf({
    name: 'N'.repeat(500),
    message: `nul \0 half \ud83d ${'m'.repeat(10_000)}`,
    stack: 's'.repeat(10_000),
  })
  assert.equal(name.length, 201)
  assert.equal(message.length, 8_193)
  assert.equal(stack?.length, 8_193)
  assert.ok(message.startsWith('nul \ufffd half \ufffd m') && message.endsWith('…'))
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownLines } from './own-lines.ts'

test("a stack keeps the val's frames, as names and lines, and loses ours and Deno's", () => {
  const stack = [
    'Error: outer',
    '    at inner (file:///val/my_val.tsx:5:15)',
    '    at async file:///val/my_val.tsx:10:9',
    '    at file:///app/handler.js:40:16',
    '    at AsyncLocalStorage.run (node:async_hooks:1:2)',
    '    at mapped (ext:deno_http/00_serve.ts:407:24)',
    '    at https://esm.sh/other@1.0.0/mod.ts:3:4',
  ].join('\n')
  assert.equal(
    ownLines(stack),
    [
      'Error: outer',
      '    at inner (my_val.tsx:5:15)',
      '    at async my_val.tsx:10:9',
      '    at https://esm.sh/other@1.0.0/mod.ts:3:4',
    ].join('\n'),
  )
})

test('the program of an isolate, which has no files, is not shown either', () => {
  const stack = [
    'RangeError: no',
    '    at run (file:///val/hello.tsx:2:9)',
    '    at runCall (blob:null/517e53f4-5b1c-4f0e-9d0e-2d1f6c0a7b11:11:66)',
    '    at async runOnce (blob:null/6d82a7d0-0000-4f0e-9d0e-2d1f6c0a7b11:53:25)',
  ].join('\n')
  assert.equal(ownLines(stack), 'RangeError: no\n    at run (hello.tsx:2:9)')
  const only = 'Error: x\n    at async blob:null/6d82a7d0-0000-4f0e-9d0e-2d1f6c0a7b11:53:25'
  assert.equal(ownLines(only), 'Error: x')
})

test('wherever the sandbox has its files, nothing is said of it', () => {
  const stack =
    'E: x\n    at f (file:///tmp/run/w1/val/hello.ts:1:2)\n    at g (file:///srv/valley/app/main.js:3:4)'
  assert.equal(ownLines(stack), 'E: x\n    at f (hello.ts:1:2)')
})

test('a message that speaks of node: or of a file elsewhere keeps its words', () => {
  const message = 'Cannot find "node:nothing" from file:///val/hello.tsx:1:1 near file:///etc/passwd'
  assert.equal(ownLines(message), 'Cannot find "node:nothing" from hello.tsx:1:1 near file:///etc/passwd')
})

test('a stack that was made to be slow to read is read in no time', () => {
  const startedAtMs = performance.now()
  ownLines(`    at ${'file:///val/'.repeat(700)}\n${' at file:///'.repeat(700)}`)
  assert.ok(performance.now() - startedAtMs < 200)
})

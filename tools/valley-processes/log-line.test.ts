import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatWarningOrNull, readListeningUrlOrNull } from './log-line.ts'

test('the line that says where the server listens is told from others that contain the word', () => {
  const listening = { level: 30, event: 'listening', url: 'http://localhost:1' }
  assert.equal(readListeningUrlOrNull(JSON.stringify(listening)), 'http://localhost:1')
  assert.equal(
    readListeningUrlOrNull(JSON.stringify({ ...listening, event: 'answered', word: 'listening' })),
    null,
  )
  assert.equal(readListeningUrlOrNull('"listening"'), null)
})

test('warnings, errors and plain text are shown on one line each; the rest of the log is not', () => {
  const line = { level: 40, time: '12:00', message: 'Could not answer', err: { message: 'no connection' } }
  assert.equal(formatWarningOrNull(JSON.stringify(line)), '12:00 warning: Could not answer: no connection')
  assert.equal(formatWarningOrNull(JSON.stringify({ ...line, level: 30 })), null)
  assert.equal(formatWarningOrNull('SyntaxError: x'), 'SyntaxError: x')
})

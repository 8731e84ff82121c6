import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@valley/contract/limits.ts'
import { RunReport } from '@valley/bus/run-report.ts'
import { exampleHead } from '../testing/example-head.ts'
import { OpenRun } from './open-run.ts'

const { logLinesMax, logBytesMax, logLineCharsMax } = limits

test('lines are kept in their order with their level, and told as they come', () => {
  const { run, told } = openRun()
  run.print('info', 'one')
  run.print('error', 'two')
  assert.deepEqual(
    run.logs.map(({ level, message }) => [level, message]),
    [
      ['info', 'one'],
      ['error', 'two'],
    ],
  )
  assert.deepEqual(told, ['one', 'two'])
})

test('after the most lines comes one that says so, and nothing more', () => {
  const { run, told } = openRun()
  for (let i = 0; i < logLinesMax; i++) run.print('info', `line ${i}`)
  assert.equal(run.logs.at(-1)?.message, `line ${logLinesMax - 1}`)
  for (let i = 0; i < 5; i++) run.print('info', 'too much')
  assert.equal(run.logs.length, logLinesMax + 1)
  assert.match(run.logs.at(-1)?.message ?? '', /^Cut here/)
  assert.equal(told.length, logLinesMax + 1)
})

test('bytes are counted as they are kept, not characters', () => {
  const { run } = openRun()
  const line = '€'.repeat(10_000)
  for (let i = 0; i < 100; i++) run.print('info', line)
  const kept = run.logs.filter(({ message }) => message === line).length
  assert.equal(kept, Math.floor(logBytesMax / Buffer.byteLength(line)))
  assert.match(run.logs.at(-1)?.message ?? '', /^Cut here/)
})

test('a line is cut to its most characters, and has none that cannot be kept', () => {
  const { run } = openRun()
  run.print('info', 'x'.repeat(logLineCharsMax + 1))
  run.print('info', '\0\ud83d')
  assert.equal(run.logs[0]?.message, `${'x'.repeat(logLineCharsMax)}…`)
  assert.equal(run.logs[1]?.message, '\ufffd\ufffd')
})

test('the first end counts', () => {
  const { run } = openRun()
  assert.ok(run.end({ kind: 'answered' }))
  assert.ok(!run.end({ kind: 'client_left' }))
  assert.equal(run.outcome?.kind, 'answered')
  assert.equal(run.toReport().status, 'succeeded')
})

test('what the val threw is its error, unless the run ended by something else', () => {
  const thrown = { name: 'RangeError', message: 'far' }
  const failed = openRun().run
  failed.thrown = thrown
  failed.end({ kind: 'threw', error: { name: 'Error', message: 'The val threw.' } })
  assert.deepEqual(failed.toReport().error, thrown)
  const left = openRun().run
  left.thrown = thrown
  left.end({ kind: 'client_left' })
  assert.equal(left.toReport().error?.name, 'ClientLeft')
})

test('its times add up, and never run backwards', () => {
  const { run } = openRun()
  run.bootMs = 30
  run.placedAtMs = run.arrivedAtMs + 40
  run.calledAtMs = run.arrivedAtMs + 41
  run.end({ kind: 'answered' })
  const report = run.toReport()
  assert.equal(report.timings.queuedMs, 10)
  assert.equal(report.timings.bootMs, 30)
  assert.equal(report.startedAtMs, run.createdAtMs + 41)
  const refused = openRun().run
  refused.end({ kind: 'overloaded', why: 'queue_full' })
  assert.equal(refused.toReport().timings.runMs, 0)
})

test('a report of a run that never got anywhere is still one that can be recorded', () => {
  const report = openRun().run.toReport()
  assert.equal(report.status, 'failed')
  assert.deepEqual(RunReport.parse(report), report)
})

function openRun() {
  const told: string[] = []
  const run = new OpenRun(exampleHead, { request: { method: 'GET', path: '/' } }, (_, { message }) =>
    told.push(message),
  )
  return { run, told }
}

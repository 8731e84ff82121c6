import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { limits as contractLimits } from '@valley/contract/limits.ts'
import { limits } from '../limits.ts'
import { OpenRun } from '../reports/open-run.ts'
import { exampleHead } from '../testing/example-head.ts'
import { Pings } from './pings.ts'
import { RunsOfWorker } from './runs-of-worker.ts'

test('a line belongs to the run that it names', () => {
  const { runs } = open()
  const [first, second] = [startRun(runs), startRun(runs)]
  runs.print(second.id, 'info', 'of the second')
  runs.print(first.id, 'info', 'of the first')
  assert.deepEqual([messagesOf(first), messagesOf(second)], [['of the first'], ['of the second']])
})

test('a line that names none belongs to the run that has been at it the longest', () => {
  const { runs } = open()
  const [first, second] = [startRun(runs), startRun(runs)]
  runs.print(null, 'info', 'from nowhere')
  assert.deepEqual([messagesOf(first), messagesOf(second)], [['from nowhere'], []])
})

test('what was printed before any run is given to the first, and only once', () => {
  const { runs } = open()
  runs.print(null, 'info', 'at import')
  const [first, second] = [startRun(runs), startRun(runs)]
  assert.deepEqual([messagesOf(first), messagesOf(second)], [['at import'], []])
})

test('what waits for a first run is bounded in lines and in characters', () => {
  for (const line of ['short', 'long '.repeat(3_000)]) {
    const { runs } = open()
    for (let i = 0; i < 5_000; i++) runs.print(null, 'info', line)
    const first = startRun(runs)
    assert.ok(first.logs.length <= contractLimits.logLinesMax + 1)
    assert.match(first.logs.at(-1)?.message ?? '', /^Cut here/)
  }
})

test('a run that was answered is settled by one ping more, with what was printed until then', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { runs, pings, sent } = open()
  const run = startRun(runs)
  const settled: string[][] = []
  runs.release(run, (over) => settled.push(messagesOf(over)))
  assert.equal(runs.size, 0)
  assert.ok(!runs.isSettled)
  runs.print(run.id, 'info', 'after the answer')
  mock.timers.tick(limits.settleTickMs)
  assert.deepEqual([sent, settled], [[1], []])
  pings.heard(1)
  assert.deepEqual(settled, [['after the answer']])
  assert.ok(runs.isSettled)
  mock.timers.tick(limits.settleMsMax)
  assert.equal(settled.length, 1)
  mock.timers.reset()
})

test('a line of a run that is settled is in nobody’s record', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { runs, pings } = open()
  const [first, second] = [startRun(runs), startRun(runs)]
  runs.release(first, () => undefined)
  mock.timers.tick(limits.settleTickMs)
  pings.heard(1)
  runs.print(first.id, 'info', 'too late')
  const third = startRun(runs)
  assert.deepEqual([first, second, third].map(messagesOf), [[], [], []])
  mock.timers.reset()
})

test('a worker that answers no ping holds its runs back for a while only', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const { runs } = open()
  let settled = 0
  const run = startRun(runs)
  run.end({ kind: 'answered' })
  runs.release(run, () => settled++)
  mock.timers.tick(limits.settleTickMs)
  mock.timers.tick(limits.settleMsMax - 1)
  assert.equal(settled, 0)
  mock.timers.tick(1)
  assert.equal(settled, 1)
  mock.timers.reset()
})

test('when a worker is gone all its runs are settled, each once', () => {
  const { runs } = open()
  const [over, underWay] = [startRun(runs), startRun(runs)]
  const settled: string[] = []
  runs.release(over, ({ id }) => settled.push(id))
  runs.settleAll('exited')
  runs.release(underWay, ({ id }) => settled.push(id))
  assert.deepEqual(settled, [over.id, underWay.id])
})

test('the first error of a run is its error', () => {
  const { runs } = open()
  const run = startRun(runs)
  runs.threw(run.id, { name: 'First', message: '' })
  runs.threw(run.id, { name: 'Second', message: '' })
  runs.threw('unknown', { name: 'Third', message: '' })
  assert.equal(run.thrown?.name, 'First')
})

test('a run whose time is up is told so, and no other', () => {
  const { runs } = open()
  const expired: string[] = []
  for (const [name, atMs] of Object.entries({ soon: 10, later: 20 })) {
    startRun(runs).deadline = { atMs, expire: () => expired.push(name) }
  }
  startRun(runs)
  runs.expire(15)
  assert.deepEqual(expired, ['soon'])
})

function open() {
  const sent: number[] = []
  const pings = new Pings((number) => sent.push(number))
  return { pings, sent, runs: new RunsOfWorker(pings) }
}

function startRun(runs: RunsOfWorker): OpenRun {
  const run = new OpenRun(exampleHead, { request: { method: 'GET', path: '/' } }, () => undefined)
  runs.start(run)
  return run
}

function messagesOf({ logs }: OpenRun): string[] {
  return logs.map(({ message }) => message)
}

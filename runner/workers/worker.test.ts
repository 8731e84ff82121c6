import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { limits } from '../limits.ts'
import { OpenRun } from '../reports/open-run.ts'
import { createIdleWorker } from '../testing/create-idle-worker.ts'
import { exampleHead } from '../testing/example-head.ts'
import type { EndCause } from './end-cause.ts'

test('a worker that shall end waits for its last run, and for what that one said last', () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const ends: EndCause[] = []
  const worker = createIdleWorker((_, cause) => ends.push(cause))
  const run = new OpenRun(exampleHead, { request: { method: 'GET', path: '/' } }, () => undefined)
  worker.runs.start(run)
  worker.drain('outdated')
  assert.deepEqual([worker.state, ends], ['draining', []])
  const settled: string[][] = []
  worker.release(run, ({ logs }) => settled.push(logs.map(({ message }) => message)))
  assert.deepEqual([worker.state, settled], ['draining', []])
  worker.hear({ kind: 'log', runId: run.id, level: 'info', message: 'the last words' })
  mock.timers.tick(limits.settleTickMs)
  worker.hear({ kind: 'pong', number: 1 })
  assert.deepEqual([settled, ends], [[['the last words']], ['outdated']])
  assert.equal(worker.state, 'gone')
  mock.timers.reset()
})

test('a worker without runs ends at once, and the first cause counts', () => {
  const ends: EndCause[] = []
  const worker = createIdleWorker((_, cause) => ends.push(cause))
  worker.drain('outdated')
  worker.end('exited')
  assert.deepEqual(ends, ['outdated'])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import { OpenRun } from '../reports/open-run.ts'
import { exampleHead } from '../testing/example-head.ts'
import type { EndCause } from '../workers/end-cause.ts'
import { Pings } from '../workers/pings.ts'
import { RunsOfWorker } from '../workers/runs-of-worker.ts'
import type { Worker, WorkerMode } from '../workers/worker.ts'
import { callVal } from './call-val.ts'

const claimed: ClaimedRun = {
  id: '01a1dd3a-ce86-7377-909b-90556be80aaa',
  valId: exampleHead.valId,
  ownerId: exampleHead.ownerId,
  source: 'api',
  args: ['a', 1],
}

/** A run that is called in a worker of which only the runs are real; what it is told is noted. */
function open(mode: WorkerMode = 'fresh') {
  const told: string[] = []
  const runs = new RunsOfWorker(new Pings(() => {}))
  const worker = {
    runs,
    endCause: null as EndCause | null,
    call: ({ runId, entry, args }: { runId: string; entry: string; args: readonly unknown[] }) =>
      told.push(`call ${runId} ${entry} ${JSON.stringify(args)}`),
    stop: (runId: string, how: string) => told.push(`stop ${runId} ${how}`),
  }
  const run = new OpenRun(exampleHead, { claimed, runnerId: exampleHead.valId }, () => {})
  runs.start(run)
  const stop = new AbortController()
  const begin = async (source: ClaimedRun['source'] = 'api') =>
    callVal(worker as unknown as Worker, run, { claimed: { ...claimed, source }, mode, stop: stop.signal })
  return { worker, runs, run, stop, told, begin }
}

test('the val is called with the arguments of the run, and what it returns or throws is the outcome', async () => {
  const returned = open()
  const first = returned.begin()
  returned.runs.returned(claimed.id, { text: '1', isCut: false })
  assert.deepEqual([await first, returned.told], [{ kind: 'returned' }, [`call ${claimed.id} call ["a",1]`]])
  const threw = open()
  const second = threw.begin('schedule')
  const error = { name: 'Error', message: 'no' }
  threw.runs.threw(claimed.id, error)
  assert.deepEqual(
    [await second, threw.told],
    [{ kind: 'threw', error }, [`call ${claimed.id} scheduled ["a",1]`]],
  )
})

test('canceled, its code is stopped, before it is called and while it runs', async () => {
  const { begin, stop, told, runs } = open('warm')
  const running = begin()
  stop.abort()
  runs.returned(claimed.id, { text: '1', isCut: false })
  assert.deepEqual(await running, { kind: 'canceled' }, 'the first end counts')
  assert.deepEqual(told.slice(1), [`stop ${claimed.id} warm`])
  const early = open()
  early.stop.abort()
  assert.deepEqual(await early.begin(), { kind: 'canceled' })
  assert.deepEqual(early.told, [`stop ${claimed.id} fresh`], 'it is never called')
})

test('a run that takes too long is stopped', async () => {
  const { begin, run, runs, told } = open()
  const running = begin()
  runs.expire((run.deadline?.atMs ?? 0) + 1)
  assert.deepEqual(await running, { kind: 'timed_out', waitedFor: 'end' })
  assert.deepEqual(told.slice(1), [`stop ${claimed.id} fresh`])
})

test('the end of its worker is the end of the run, also if that came before it was called', async () => {
  const { begin, runs } = open()
  const running = begin()
  runs.settleAll('out_of_memory')
  assert.deepEqual(await running, { kind: 'worker_ended', cause: 'out_of_memory' })
  const late = open()
  late.worker.endCause = 'exited'
  assert.deepEqual(await late.begin(), { kind: 'worker_ended', cause: 'exited' })
  assert.deepEqual(late.told, [])
})

test('nothing is kept of a run that is over: a worker may call its val a million times', async () => {
  const { begin, run, runs, stop } = open()
  const running = begin()
  runs.returned(claimed.id, { text: '1', isCut: false })
  await running
  assert.deepEqual([run.onSaid, run.deadline], [null, null])
  stop.abort()
  assert.equal(run.outcome, null, 'a late cancel is nobody’s any more')
})

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 } from 'uuid'
import { connectBus } from '@valley/bus/connect-bus.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import { takeBatches } from '@valley/bus/testing/take-batches.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { Reporter } from './reporter.ts'

const payloadBytesMax = 64 * 1024

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path, payloadBytesMax }))

function openBus(name: string) {
  const quietly = () => undefined
  return opened.use(connectBus({ url: nats.url, name, onChange: quietly, onBadMessage: quietly }))
}

function reportOf(printed: string): RunReport {
  const now = Date.now()
  return {
    id: v7(),
    valId: v7(),
    ownerId: v7(),
    version: 1,
    source: 'api',
    status: 'succeeded',
    error: null,
    startedAtMs: now,
    endedAtMs: now,
    timings: { queuedMs: 0, bootMs: 0, runMs: 1, cpuMs: null },
    request: null,
    response: null,
    memoryPeakBytes: null,
    logs: [{ at: new Date(now).toISOString(), level: 'info', message: printed }],
  }
}

test('what NATS does not take as one message comes in several, and what it never takes without its logs', async () => {
  const [runner, server] = [openBus('runner'), openBus('server')]
  const taken = new Map<string, string[]>()
  opened.use(
    takeBatches(server, ({ reports }) => {
      for (const { id, logs } of reports as readonly RunReport[]) {
        taken.set(id, [...(taken.get(id) ?? []), logs[0]?.message ?? ''])
      }
    }),
  )
  const lost: number[] = []
  const reporter = new Reporter(runner, { reportsLost: (count) => lost.push(count) })
  const some = Array.from({ length: 10 }, () => reportOf('x'.repeat(payloadBytesMax / 5)))
  const huge = reportOf('x'.repeat(2 * payloadBytesMax))
  for (const report of [...some.slice(0, 5), huge, ...some.slice(5)]) reporter.add(report)
  await reporter[Symbol.asyncDispose]()
  const deadlineMs = performance.now() + 10_000
  while (taken.size < some.length + 1 && performance.now() < deadlineMs) await sleep(20)
  for (const { id, logs } of some) assert.deepEqual(taken.get(id), [logs[0]?.message])
  assert.deepEqual(taken.get(huge.id), ['What it printed was too much to be kept.'])
  assert.deepEqual(lost, [])
  assert.equal(reporter.waitingCount, 0)
})

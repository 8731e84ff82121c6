import assert from 'node:assert/strict'
import { connectBus } from '@valley/bus/connect-bus.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { Val } from '@valley/contract/vals.ts'
import { v7 } from 'uuid'
import { waitUntil } from './wait-until.ts'

/** A bus such as a runner has. */
export function openRunnerBus(url: string) {
  return connectBus({
    url,
    name: 'test',
    onChange: () => {},
    onBadMessage: (subject, error) => assert.fail(`${subject}: ${String(error)}`),
    onTrouble: () => {},
  })
}

export type RunnerBus = ReturnType<typeof openRunnerBus>

/** What a runner would say of a run of this val that has just ended. */
export function reportOf(val: Val, fields: Partial<RunReport> = {}): RunReport {
  const now = Date.now()
  return {
    id: v7({ msecs: now }),
    valId: val.id,
    ownerId: val.author.id,
    version: val.version,
    source: 'http',
    status: 'succeeded',
    error: null,
    startedAtMs: now,
    endedAtMs: now + 5,
    request: { method: 'GET', path: '/hello' },
    response: { status: 200 },
    timings: { queuedMs: 0, bootMs: 12.5, runMs: 4, cpuMs: null },
    memoryPeakBytes: 1_000_000,
    logs: [],
    ...fields,
  }
}

/** Stores the reports in the stream as one batch, as often as it takes; the id makes that the same as once. */
export async function publishReports(bus: RunnerBus, reports: readonly RunReport[], batchId: string = v7()) {
  await waitUntil('the batch is stored', async () => {
    const body = { batchId, reports: [...reports] }
    return (await bus.publishToStream('RUNS', body, { messageId: batchId })) === 'stored'
  })
}

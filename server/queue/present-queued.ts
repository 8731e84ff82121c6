import type { RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import { timeOf } from '../database/ids.ts'
import type { EnqueuedRow } from './transitions.ts'

interface NewRun {
  readonly id: string
  readonly valId: string
  readonly source: RunDetails['source']
  readonly args: RunDetails['args']
}

/** A run that has just been put into the queue, as it will be read until it begins. */
export function presentQueued(
  row: EnqueuedRow,
  caller: Caller,
  { id, valId, source, args }: NewRun,
): RunDetails {
  const { name, privacy, version } = row
  return {
    id,
    val: { id: valId, name, author: { id: caller.id, username: caller.username }, privacy, version },
    source,
    status: 'queued',
    error: null,
    parentId: null,
    createdAt: timeOf(id).toISOString(),
    runStartAt: null,
    runEndAt: null,
    args,
    returnValue: null,
    returnValueCut: false,
    logs: [],
    request: null,
    response: null,
    timings: { queuedMs: 0, bootMs: 0, runMs: 0, cpuMs: null },
    memoryPeakBytes: null,
  }
}

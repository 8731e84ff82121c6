import type { Run, RunDetails } from '@valley/contract/runs.ts'
import { timeOf } from '../database/ids.ts'
import { presentMention } from '../vals/present-val.ts'
import type { RunDetailsRow, RunRow } from './queries.ts'

/** What is not known is empty: a run that waits or runs has printed nothing yet. */
export function presentRunDetails(row: RunDetailsRow): RunDetails {
  const { memory_peak_bytes: memoryPeakBytes } = row
  return {
    ...presentRun(row),
    args: row.args ?? [],
    returnValue: row.return_value,
    returnValueCut: row.return_value_cut ?? false,
    logs: row.logs ?? [],
    request: row.request,
    response: row.response,
    timings: row.timings ?? { queuedMs: 0, bootMs: 0, runMs: 0, cpuMs: null },
    memoryPeakBytes: memoryPeakBytes === null ? null : Number(memoryPeakBytes),
  }
}

export function presentRun(row: RunRow): Run {
  return {
    id: row.id,
    val: presentMention(row),
    source: row.source,
    status: row.status,
    error: row.error,
    parentId: row.parent_id,
    createdAt: timeOf(row.id).toISOString(),
    runStartAt: row.started_at?.toISOString() ?? null,
    runEndAt: row.ended_at?.toISOString() ?? null,
  }
}

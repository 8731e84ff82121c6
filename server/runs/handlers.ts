import type { Run, RunDetails, RunPage, RunSource } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { timeOf } from '../database/ids.ts'
import { Fault } from '../fault.ts'
import { idSpan, pageOf } from '../page.ts'
import type { Handler } from '../reply.ts'
import { findOwnValOrHide } from '../vals/find-val.ts'
import { presentMention } from '../vals/present-val.ts'
import { type RunDetailsRow, type RunRow, type RunShape, selectRun, selectRuns } from './queries.ts'

export const listMyRuns: Handler<'listMyRuns'> = (context, caller, request) =>
  listRuns(context, caller, { ...request, valId: null })

export const listValRuns: Handler<'listValRuns'> = async (context, caller, request) => {
  const { id } = await findOwnValOrHide(context.db, caller, request.params.val_id)
  return listRuns(context, caller, { ...request, valId: id })
}

export const getRun: Handler<'getRun'> = async ({ db }, caller, { params }) => {
  const [row] = (await selectRun(db, { id: params.run_id, owner_id: caller.id })).rows
  if (!row) throw new Fault('not_found', 'There is no such run, or you may not see it.')
  return presentRunDetails(row)
}

interface RunList {
  readonly query: RunPage
  readonly target: string
  readonly valId: string | null
}

async function listRuns({ db, baseUrl }: Context, caller: Caller, { query, target, valId }: RunList) {
  const span = idSpan({ query, target })
  const { error, source: sources = [] } = query
  const select = selectRuns({ ofOneVal: valId !== null, error, sources: sourcesShape(sources) })
  const rows = await select(db, { owner_id: caller.id, val_id: valId, sources }, span)
  return pageOf(baseUrl, { query, target }, { span, rows, keyOf: ({ id }) => id, present: presentRun })
}

function sourcesShape(sources: readonly RunSource[]): RunShape['sources'] {
  if (sources.length === 0) return 'any'
  return sources.includes('http') ? 'some' : 'notHttp'
}

/** What is not known is empty: a run that waits or runs has printed nothing yet. */
function presentRunDetails(row: RunDetailsRow): RunDetails {
  const { memory_peak_bytes: memoryPeakBytes } = row
  return {
    ...presentRun(row),
    args: row.args ?? [],
    returnValue: row.return_value,
    logs: row.logs ?? [],
    request: row.request,
    response: row.response,
    timings: row.timings ?? { queuedMs: 0, bootMs: 0, runMs: 0, cpuMs: null },
    memoryPeakBytes: memoryPeakBytes === null ? null : Number(memoryPeakBytes),
  }
}

function presentRun(row: RunRow): Run {
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

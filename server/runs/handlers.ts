import type { RunPage, RunSource } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { idSpan, pageOf } from '../page.ts'
import type { Handler } from '../reply.ts'
import { findOwnValOrHide } from '../vals/find-val.ts'
import { findRun } from './find-run.ts'
import { presentRun } from './present-run.ts'
import { type RunShape, selectRuns } from './queries.ts'

export const listMyRuns: Handler<'listMyRuns'> = (context, caller, request) =>
  listRuns(context, caller, { ...request, valId: null })

export const listValRuns: Handler<'listValRuns'> = async (context, caller, request) => {
  const { id } = await findOwnValOrHide(context.db, caller, request.params.val_id)
  return listRuns(context, caller, { ...request, valId: id })
}

export const getRun: Handler<'getRun'> = async ({ db }, caller, { params }) => {
  return findRun(db, caller, params.run_id)
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

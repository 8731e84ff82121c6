import { z } from 'zod'
import { listOf, TimedPage } from './lists.ts'
import type { Operations } from './operation.ts'
import { BooleanParam, Id, Timestamp } from './scalars.ts'
import { ValId, ValMention } from './vals.ts'

export const runSources = ['http', 'schedule', 'api'] as const
export const RunSource = z.enum(runSources)
export type RunSource = z.infer<typeof RunSource>

export const RunStatus = z.enum(['queued', 'running', 'succeeded', 'failed', 'timed_out', 'canceled'])
export type RunStatus = z.infer<typeof RunStatus>

export const RunError = z.object({ name: z.string(), message: z.string(), stack: z.string().optional() })
export type RunError = z.infer<typeof RunError>

export const Run = z
  .object({
    id: Id,
    val: ValMention,
    source: RunSource,
    status: RunStatus,
    error: RunError.nullable(),
    parentId: Id.nullable(),
    createdAt: Timestamp,
    runStartAt: Timestamp.nullable(),
    runEndAt: Timestamp.nullable(),
  })
  .meta({ id: 'Run' })
export type Run = z.infer<typeof Run>

const SourcesParam = z
  .string()
  .transform((value, context) => {
    const parsed = z.array(RunSource).safeParse(value.split(','))
    if (parsed.success) return [...new Set(parsed.data)]
    context.addIssue(`must be a comma-separated list of ${runSources.join(', ')}`)
    return z.NEVER
  })
  .meta({ wire: { type: 'string' } })

export const RunPage = TimedPage.extend({
  error: BooleanParam.optional().describe(
    'true: runs that ended other than succeeded; false: succeeded ones; left out: all, also queued and running.',
  ),
  source: SourcesParam.optional().describe('Comma-separated: http, schedule, api.'),
})
export type RunPage = z.output<typeof RunPage>

export const runs = {
  listMyRuns: {
    method: 'GET',
    path: '/v1/me/runs',
    tag: 'Me',
    summary: 'List the runs of all your vals',
    auth: 'required',
    scope: 'run:read',
    query: RunPage,
    response: { 200: listOf(Run) },
  },
  listValRuns: {
    method: 'GET',
    path: '/v1/vals/{val_id}/runs',
    tag: 'Runs',
    summary: 'List the runs of a val of yours',
    auth: 'required',
    scope: 'run:read',
    params: ValId,
    query: RunPage,
    response: { 200: listOf(Run) },
    errors: ['not_found'],
  },
} as const satisfies Operations

import { z } from 'zod'
import { limits } from './limits.ts'
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

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export const LogLevel = z.enum(logLevels)
export type LogLevel = z.infer<typeof LogLevel>

/** One call of a console method. Lines of one run are in the order in which they were printed. */
export const RunLogLine = z
  .object({ at: Timestamp, level: LogLevel, message: z.string() })
  .meta({ id: 'RunLogLine' })
export type RunLogLine = z.infer<typeof RunLogLine>

export const RunRequest = z.object({ method: z.string(), path: z.string() })
export type RunRequest = z.infer<typeof RunRequest>

export const RunResponse = z.object({ status: z.number().int() })
export type RunResponse = z.infer<typeof RunResponse>

export const RunTimings = z.object({
  queuedMs: z.number().nonnegative().describe('Until a worker had room for it.'),
  bootMs: z.number().nonnegative().describe('Until that worker had loaded the val; 0 in a warm one.'),
  runMs: z.number().nonnegative().describe('From the call to the end of its answer.'),
  cpuMs: z.number().nonnegative().nullable(),
})
export type RunTimings = z.infer<typeof RunTimings>

const Json = z.unknown().describe('Any JSON value.')

export const RunDetails = Run.extend({
  args: z.array(Json),
  returnValue: Json,
  logs: z
    .array(RunLogLine)
    .describe('In the order in which they were printed; where they were cut, the last one says so.'),
  request: RunRequest.nullable(),
  response: RunResponse.nullable(),
  timings: RunTimings,
  memoryPeakBytes: z.number().int().nonnegative().nullable(),
}).meta({ id: 'RunDetails' })
export type RunDetails = z.infer<typeof RunDetails>

/** What whoever watches a val is told. */
export const tailEvents = {
  log: z
    .object({ runId: Id, ...RunLogLine.shape })
    .meta({ id: 'TailLog', description: 'A line, as it is printed.' }),
  run: z
    .object({
      runId: Id,
      version: z.number().int(),
      source: RunSource,
      status: RunStatus,
      error: RunError.nullable(),
      request: RunRequest.nullable(),
      response: RunResponse.nullable(),
      timings: RunTimings,
    })
    .meta({ id: 'TailRun', description: 'A run, as it ends.' }),
  gap: z
    .object({ message: z.string() })
    .meta({ id: 'TailGap', description: 'Events before this one may be missing.' }),
} as const

const RunId = z.object({ run_id: Id })

const TailStart = z.object({
  lastEventId: z
    .string()
    .max(limits.cursorCharsMax)
    .optional()
    .describe('Go on after the event with this id. The header Last-Event-ID says the same, and wins.'),
})

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
  getRun: {
    method: 'GET',
    path: '/v1/runs/{run_id}',
    tag: 'Runs',
    summary: 'Get a run of a val of yours, with what it printed',
    auth: 'required',
    scope: 'run:read',
    params: RunId,
    response: { 200: RunDetails },
    errors: ['not_found'],
  },
  tailVal: {
    method: 'GET',
    path: '/v1/vals/{val_id}/tail',
    tag: 'Runs',
    summary: 'Watch a val of yours: what it prints and how its runs end, while it happens',
    description:
      'Server-sent events. What happened up to ten minutes ago can be read again with Last-Event-ID; an event `gap` says where some may be missing.',
    auth: 'required',
    scope: 'run:read',
    params: ValId,
    query: TailStart,
    response: { 200: z.string() },
    media: 'text/event-stream',
    events: tailEvents,
    errors: ['not_found'],
  },
} as const satisfies Operations

import { z } from 'zod'
import { isDeeperThan } from './json-depth.ts'
import { limits } from './limits.ts'
import { listOf, TimedPage } from './lists.ts'
import type { Operations } from './operation.ts'
import { BooleanParam, Id, integerParam, Timestamp } from './scalars.ts'
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

/** How often to try, and how long to pause: each pause is twice the one before. */
export const Retry = z
  .object({
    attempts: z
      .int()
      .min(1)
      .max(limits.retryAttemptsMax)
      .describe('How often it is tried at the most; 1 is no retry.'),
    backoffSeconds: z
      .int()
      .min(0)
      .max(limits.retryBackoffSecondsMax)
      .default(10)
      .describe('Before the second attempt; twice as long before each one after it.'),
  })
  .meta({ id: 'Retry' })
export type Retry = z.output<typeof Retry>

export const RunDetails = Run.extend({
  args: z.array(Json),
  returnValue: Json,
  returnValueCut: z
    .boolean()
    .describe(
      'returnValue is a text: the beginning of what was returned, or a description of what JSON cannot hold.',
    ),
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

const tooDeep = `may be nested ${limits.jsonLevelsMax} levels deep at the most`
/** Counted as what travels: the JSON of all of them. */
const Args = z
  .array(Json)
  .max(limits.argsMax)
  .refine((args) => !isDeeperThan(args, limits.jsonLevelsMax), { error: tooDeep, abort: true })
  .refine(
    (args) => new TextEncoder().encode(JSON.stringify(args)).length <= limits.argsBytesMax,
    `may have ${limits.argsBytesMax} bytes as JSON at the most`,
  )

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
  runVal: {
    method: 'POST',
    path: '/v1/vals/{val_id}/runs',
    tag: 'Runs',
    summary: 'Run a val of yours now',
    description:
      'The default export, if it is a function, is called with args; a val without a default export is run from top to bottom. Answers 202 with the run as it waits, or with `wait` 200 with the run once it is over, if that is soon enough. Asked again with the same Idempotency-Key and `wait`, it waits for the same run.',
    auth: 'required',
    scope: 'run:write',
    params: ValId,
    query: z.object({
      wait: integerParam({ min: 1, max: limits.waitSecondsMax })
        .optional()
        .describe('How many seconds to wait for its end.'),
    }),
    body: z.object({
      args: Args.optional().describe('What the default export is called with.'),
      retry: Retry.optional().describe(
        'How often to try, for this run; otherwise as set for the val, or once.',
      ),
    }),
    bodyMayBeMissing: true,
    response: { 202: RunDetails, 200: RunDetails },
    errors: ['not_found', 'forbidden', 'queue_full', 'quota_exceeded'],
    exampleBody: { args: ['valley', 2] },
  },
  cancelRun: {
    method: 'POST',
    path: '/v1/runs/{run_id}/cancel',
    tag: 'Runs',
    summary: 'Cancel a run that waits or runs',
    description:
      'Answers 200 with the run once it is canceled; 202 while its runner is being told. A run that is over already is not changed.',
    auth: 'required',
    scope: 'run:write',
    params: RunId,
    response: { 200: RunDetails, 202: RunDetails },
    errors: ['not_found', 'run_ended'],
  },
  getRetry: {
    method: 'GET',
    path: '/v1/vals/{val_id}/retry',
    tag: 'Runs',
    summary: 'Get how often runs of a val of yours are tried',
    auth: 'required',
    scope: 'val:read',
    params: ValId,
    response: { 200: Retry },
    errors: ['not_found'],
  },
  setRetry: {
    method: 'PUT',
    path: '/v1/vals/{val_id}/retry',
    tag: 'Runs',
    summary: 'Set how often runs of a val of yours are tried when they fail',
    description:
      'Counts for runs by hand and on schedules, from the next one on. A retry is a run of its own, with the one before it as parentId. Requests to an endpoint are never repeated. Off unless set: what a val did before it failed is done again.',
    auth: 'required',
    scope: 'val:write',
    params: ValId,
    body: Retry,
    response: { 200: Retry },
    errors: ['not_found'],
    exampleBody: { attempts: 3, backoffSeconds: 10 },
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

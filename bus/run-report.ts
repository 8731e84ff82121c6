import { z } from 'zod'
import {
  RunError,
  RunLogLine,
  RunRequest,
  RunResponse,
  RunSource,
  RunTimings,
} from '@valley/contract/runs.ts'
import { Id } from '@valley/contract/scalars.ts'

const EpochMs = z.number().int().nonnegative()

/** What a runner says of a run that is over. Recording it twice is recording it once: the id decides. */
export const RunReport = z.object({
  id: Id,
  valId: Id,
  ownerId: Id,
  version: z.number().int().positive(),
  source: RunSource,
  status: z.enum(['succeeded', 'failed', 'timed_out', 'canceled']),
  error: RunError.nullable(),
  startedAtMs: EpochMs,
  endedAtMs: EpochMs,
  request: RunRequest.nullable(),
  response: RunResponse.nullable(),
  timings: RunTimings,
  memoryPeakBytes: z.number().int().nonnegative().nullable(),
  logs: z.array(RunLogLine),
  /** Of queued runs: who claimed it, and what it returned, or a text about it where that was cut. */
  runnerId: Id.optional(),
  returnValue: z.unknown().optional(),
  returnValueCut: z.boolean().optional(),
})
export type RunReport = z.infer<typeof RunReport>

/** What whoever watches a val is told while it happens: each line as it is printed, each run as it ends. */
export const TailEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('log'), runId: Id, ...RunLogLine.shape }),
  z.object({
    kind: z.literal('run'),
    ...RunReport.pick({ version: true, source: true, status: true, error: true }).shape,
    runId: Id,
    request: RunRequest.nullable(),
    response: RunResponse.nullable(),
    timings: RunTimings,
  }),
])
export type TailEvent = z.infer<typeof TailEvent>

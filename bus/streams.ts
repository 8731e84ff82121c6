import { z } from 'zod'
import { Id } from '@valley/contract/scalars.ts'
import { RunReport, TailEvent } from './run-report.ts'

export interface StreamPlan {
  /** A star stands for the id of the val that a message is about. */
  readonly subject: string
  readonly shape: z.ZodObject
  /** disk: survives a restart of NATS. memory: does not, and costs less. */
  readonly storage: 'disk' | 'memory'
  readonly bytesMax: number
  readonly ageMaxMs: number
  /** A message is kept until its one consumer has dealt with it, or for as long as there is room. */
  readonly keeps: 'untilDealtWith' | 'whileThereIsRoom'
  /** Once it is full: refuse what comes (its sender keeps it and tries again), or forget the oldest. */
  readonly whenFull: 'refuse' | 'forget'
}

const mib = 1024 * 1024
const minuteMs = 60_000

/** Messages that NATS keeps: until the recorder has them, or for as long as a watcher may come back. */
export const streams = {
  /** Reports of runs, many at once. The message id is the batch's, so that a repeated publish counts once. */
  RUNS: {
    subject: 'runs.reported',
    shape: z.object({ batchId: Id, reports: z.array(RunReport) }),
    storage: 'disk',
    bytesMax: 1024 * mib,
    ageMaxMs: 7 * 24 * 60 * minuteMs,
    keeps: 'untilDealtWith',
    whenFull: 'refuse',
  },
  /** What happens in a val, for whoever watches. */
  TAIL: {
    subject: 'tail.*',
    shape: z.object({ valId: Id, events: z.array(TailEvent) }),
    storage: 'memory',
    bytesMax: 64 * mib,
    ageMaxMs: 10 * minuteMs,
    keeps: 'whileThereIsRoom',
    whenFull: 'forget',
  },
} as const satisfies Record<string, StreamPlan>

export type StreamName = keyof typeof streams
export type StreamBody<Name extends StreamName> = z.infer<(typeof streams)[Name]['shape']>

/** The subject of what is said about one val. */
export function subjectAbout(name: StreamName, valId: string): string {
  return streams[name].subject.replace('*', valId)
}

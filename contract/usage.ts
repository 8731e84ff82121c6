import { z } from 'zod'
import type { Operations } from './operation.ts'
import { Timestamp } from './scalars.ts'

const Count = z.int().nonnegative()

/** So much is used, of so much; null: there is no bound. */
const Share = z.object({ used: Count, limit: Count.nullable() })

export const UsageDay = z
  .object({
    day: z.iso.date().describe('By UTC.'),
    runs: Count.describe('That were over on that day, from any source.'),
    failedRuns: Count,
    runMs: Count.describe('How long they ran, together.'),
  })
  .meta({ id: 'UsageDay' })
export type UsageDay = z.infer<typeof UsageDay>

export const Usage = z
  .object({
    runsToday: Share.describe('Once it is reached, nothing runs until resetsAt.'),
    resetsAt: Timestamp,
    queuedRuns: Share.describe('That wait or run now, by hand or on a schedule.'),
    runsAtOnce: Share.describe('Of those, how many run.'),
    runsKeptDays: Count.describe('For so long runs are kept.'),
    logsKeptDays: Count.describe('For so long what they printed and returned is.'),
    days: z.array(UsageDay).describe('The last thirty days on which something ran, newest first.'),
  })
  .meta({ id: 'Usage' })
export type Usage = z.infer<typeof Usage>

export const usage = {
  getMyUsage: {
    method: 'GET',
    path: '/v1/me/usage',
    tag: 'Me',
    summary: 'See how much your vals ran, and how much they may',
    auth: 'required',
    scope: 'user:read',
    response: { 200: Usage },
  },
} as const satisfies Operations

import { z } from 'zod'
import { RunSource } from '@valley/contract/runs.ts'
import { Id } from '@valley/contract/scalars.ts'

/** A run that a runner was given: it is that runner's to begin, and nobody else's. */
export const ClaimedRun = z.object({
  id: Id,
  valId: Id,
  ownerId: Id,
  source: RunSource.exclude(['http']),
  args: z.array(z.unknown()),
})
export type ClaimedRun = z.infer<typeof ClaimedRun>

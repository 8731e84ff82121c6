import { z } from 'zod'
import { Id } from '@valley/contract/scalars.ts'
import { Privacy, ValType } from '@valley/contract/vals.ts'
import { ClaimedRun } from './claimed-run.ts'
import { limits } from './limits.ts'

const Count = z.number().int().nonnegative()

interface Exchange {
  readonly subject: string
  /** Any one of these answers. */
  readonly servedBy: 'servers' | 'runners'
  readonly request: z.ZodType
  readonly reply: z.ZodType
}

/** All that a runner has to know of a val in order to run it. */
export const Head = z.object({
  valId: Id,
  ownerId: Id,
  username: z.string(),
  name: z.string(),
  privacy: Privacy,
  type: ValType,
  version: z.number().int().positive(),
  code: z.string(),
  /** Changes whenever a variable of the val's or of its owner's does. */
  environmentRevision: z.string(),
  environment: z.record(z.string(), z.string()),
  /** The owner's runs of the day are used up. */
  isOverQuota: z.boolean(),
})
export type Head = z.infer<typeof Head>

/** Questions that any one of those who serve them answers. An answer that does not come is an answer to live without. */
export const requests = {
  /** Which val answers under this label of a host name, `alice--hello`; or which one has this id, as 32 hex digits. */
  resolveVal: {
    subject: 'vals.resolve',
    servedBy: 'servers',
    request: z.object({ label: z.string().max(63) }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('found'), head: Head }),
      z.object({ kind: z.literal('missing') }),
      /** The server is there but cannot say, because its database cannot be reached. */
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
  /** Whose token this is, for vals that only their owner may call; the token itself never travels. */
  identifyCaller: {
    subject: 'callers.identify',
    servedBy: 'servers',
    request: z.object({ tokenHash: z.string().regex(/^[0-9a-f]{64}$/) }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('known'), userId: Id }),
      z.object({ kind: z.literal('unknown') }),
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
  /**
   * Give me runs that wait. A claim whose answer did not come in time is told with every beat from then on: whatever
   * it was given goes back to the others.
   */
  claimRuns: {
    subject: 'runs.claim',
    servedBy: 'servers',
    request: z.object({
      runnerId: Id,
      claimNumber: Count,
      wanted: Count.max(1_000),
      /** Of one val no more than this, and none of those of which the runner has more than it can begin. */
      wantedPerVal: Count.optional(),
      fullVals: z.array(Id).max(1_000).optional(),
    }),
    reply: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('claimed'),
        runs: z.array(ClaimedRun),
        /**
         * Others are due. Whoever was given something asks again; whoever was not waits for the end of a run, because a
         * bound is in the way.
         */
        othersWait: z.boolean(),
      }),
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
  /** I am alive, and these are the runs that I have. */
  beat: {
    subject: 'runners.beat',
    servedBy: 'servers',
    request: z.object({
      runnerId: Id,
      /** Of all claims up to this number it is known what became of them. */
      claimsSettled: Count,
      /** Of these it is not: nothing that they were given was begun, nor will it be. */
      claimsAbandoned: z.array(Count).max(limits.claimsAbandonedMax),
      runIds: z.array(Id),
    }),
    reply: z.discriminatedUnion('kind', [
      z.object({
        kind: z.literal('heard'),
        /** Shall end. */
        canceled: z.array(Id),
        /** Are no longer this runner's: over and recorded, or given up. */
        gone: z.array(Id),
      }),
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
  /**
   * I have not begun these and will not: give them to somebody else. It is about one claim: said late, it is not taken
   * for a word on a run that came back to the same runner meanwhile, and is under way there.
   */
  handBackRuns: {
    subject: 'runs.hand_back',
    servedBy: 'servers',
    request: z.object({ runnerId: Id, claimNumber: Count, runIds: z.array(Id) }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('taken') }),
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
  /** Post an alert from inside a sandbox; a server itself must not go where a user wants it to. */
  deliverAlert: {
    subject: 'alerts.deliver',
    servedBy: 'runners',
    request: z.object({
      /** In the place of a val's id: nothing else shares its sandbox, least of all the val. */
      alertsId: Id,
      ownerId: Id,
      url: z.string(),
      headers: z.record(z.string(), z.string()),
      body: z.string(),
    }),
    reply: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('answered'), status: z.number().int() }),
      /** Fit for the owner to read. */
      z.object({ kind: z.literal('failed'), message: z.string() }),
      /** It was not tried. */
      z.object({ kind: z.literal('unavailable') }),
    ]),
  },
} as const satisfies Record<string, Exchange>

export type RequestName = keyof typeof requests
export type RequestBody<Name extends RequestName> = z.infer<(typeof requests)[Name]['request']>
export type ReplyBody<Name extends RequestName> = z.infer<(typeof requests)[Name]['reply']>

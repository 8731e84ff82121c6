import type { Retry, RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { newId } from '../database/ids.ts'
import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import { type Handler, Reply } from '../reply.ts'
import { findRun } from '../runs/find-run.ts'
import { findOwnVal, findOwnValOrHide, lockOwnValOrHide } from '../vals/find-val.ts'
import { presentQueued } from './present-queued.ts'
import { selectRetryPolicy, upsertRetryPolicy } from './queries.ts'
import { cancel } from './transitions.ts'

export const runVal: Handler<'runVal'> = async (context, caller, { params, query, body }) => {
  const { args = [], retry } = body
  const run = { id: newId(), ownerId: caller.id, valId: params.val_id, source: 'api', args } as const
  await context.queue.allowance.require(context.db, caller.id)
  const row = await context.queue.enqueue(context, { ...run, retry: retry && toMs(retry) })
  if (row === null) throw await noSuchVal(context, caller, params.val_id)
  context.afterCommit(() => context.queue.wake())
  const location = `${context.baseUrl}/v1/runs/${run.id}`
  const queued = new Reply(202, presentQueued(row, caller, run), location)
  return query.wait === undefined ? queued : queued.awaiting({ runId: run.id, waitMs: query.wait * 1_000 })
}

/** Whoever may see it learns that it is another's. */
async function noSuchVal({ db }: Context, caller: Caller, valId: string): Promise<Fault> {
  await findOwnVal(db, caller, valId)
  return new Fault('not_found', 'There is no such val any more.')
}

export const cancelRun: Handler<'cancelRun'> = async (context, caller, { params }) => {
  const { run_id } = params
  const [canceled] = (await cancel(context.db, { run_id, owner_id: caller.id })).rows
  const run = await findRun(context.db, caller, run_id)
  if (canceled === undefined) return answerOfEnded(run)
  context.afterCommit(() => {
    if (canceled.state === 'asked') context.bus.publish('runCanceled', { runId: run_id })
    else context.queue.announceEnd(run_id)
  })
  return canceled.state === 'canceled' ? new Reply(200, run) : new Reply(202, run)
}

/** Canceling twice is fine; canceling what ended by itself is not. */
function answerOfEnded(run: RunDetails) {
  if (run.status === 'canceled') return new Reply(200, run)
  throw new Fault('run_ended', `This run is over already: ${run.status}.`)
}

export const getRetry: Handler<'getRetry'> = async ({ db }, caller, { params }) => {
  const { id } = await findOwnValOrHide(db, caller, params.val_id)
  const [policy] = (await selectRetryPolicy(db, { val_id: id })).rows
  return policy ? { attempts: policy.attempts, backoffSeconds: policy.backoff_ms / 1_000 } : never
}

export const setRetry: Handler<'setRetry'> = async (context, caller, { params, body }) => {
  const { attempts, backoffMs } = toMs(body)
  await inTransaction(context, async ({ db }) => {
    await lockOwnValOrHide(db, caller, params.val_id)
    await upsertRetryPolicy(db, {
      val_id: params.val_id,
      owner_id: caller.id,
      attempts,
      backoff_ms: backoffMs,
    })
  })
  return body
}

const never: Retry = { attempts: 1, backoffSeconds: 0 }

function toMs({ attempts, backoffSeconds }: Retry) {
  return { attempts, backoffMs: backoffSeconds * 1_000 }
}

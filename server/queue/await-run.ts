import type { RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Addresses, Context } from '../context.ts'
import { type AwaitedRun, Reply } from '../reply.ts'
import { findRun } from '../runs/find-run.ts'

/**
 * Waits for the end of a run that is committed: nobody could begin it before. 200 with the run that is over, or 202 with
 * what it is by then. Whatever happens to the wait, the run was accepted, and null says that this has to do.
 */
export async function awaitRun(
  context: Context,
  caller: Caller,
  { runId, waitMs, signal }: AwaitedRun & { readonly signal: AbortSignal },
): Promise<Reply<200 | 202, RunDetails> | null> {
  const { root, queue } = context
  const find = async () => findRun(root, caller, runId).catch(() => null)
  const look = async () => endedOrNull(await find())
  const ended = await queue.waits.until(runId, { waitMs, signal }, look)
  const run = ended ?? (await find())
  return run && new Reply(ended ? 200 : 202, run, locationOf(context, runId))
}

export function locationOf({ baseUrl }: Addresses, runId: string): string {
  return `${baseUrl}/v1/runs/${runId}`
}

function endedOrNull(run: RunDetails | null): RunDetails | null {
  return run === null || run.status === 'queued' || run.status === 'running' ? null : run
}

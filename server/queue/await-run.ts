import type { RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { Fault } from '../fault.ts'
import { type AwaitedRun, Reply } from '../reply.ts'
import { findRun } from '../runs/find-run.ts'

interface Awaiting extends AwaitedRun {
  /** As the run was accepted with. */
  readonly location: string | undefined
  readonly signal: AbortSignal
}

/**
 * Waits for the end of a run that is committed: nobody could begin it before. 200 with the run that is over, or 202 with
 * what it is by then. Whatever happens to the wait, the run was accepted, and null says that this has to do.
 */
export async function awaitRun(
  { root, queue }: Context,
  caller: Caller,
  { runId, waitMs, location, signal }: Awaiting,
): Promise<Reply<200 | 202, RunDetails> | null> {
  let latest: RunDetails | null = null
  const look = async () => {
    try {
      latest = await findRun(root, caller, runId)
      return isOver(latest) ? latest : null
    } catch (error) {
      // With its val it may be gone, and there is nothing to wait for.
      return error instanceof Fault && error.code === 'not_found' ? gone : null
    }
  }
  const ended = await queue.waits.until(runId, { waitMs, signal }, look)
  if (ended === gone || latest === null) return null
  return new Reply(ended ? 200 : 202, latest, location)
}

const gone = Symbol('gone')

function isOver({ status }: RunDetails): boolean {
  return status !== 'queued' && status !== 'running'
}

import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { Worker, WorkerMode } from '../workers/worker.ts'

interface ValCall {
  readonly claimed: ClaimedRun
  readonly mode: WorkerMode
  /** Aborted when the run shall end early. */
  readonly stop: AbortSignal
}

/** Calls a val in its worker and waits for what comes of it. The first end counts; one that is not the val's own stops it. */
export async function callVal(
  worker: Worker,
  run: OpenRun,
  { claimed, mode, stop }: ValCall,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const cutShort = (outcome: Outcome) => {
    worker.stop(run.id, mode)
    resolve(outcome)
  }
  const cancel = () => cutShort({ kind: 'canceled' })
  const startedAtMs = performance.now()
  run.calledAtMs = startedAtMs
  run.onSaid = resolve
  run.deadline = {
    atMs: startedAtMs + limits.runMsMax,
    expire: () => cutShort({ kind: 'timed_out', waitedFor: 'end' }),
  }
  stop.addEventListener('abort', cancel)
  // It may have ended before anybody listened here.
  if (worker.endCause !== null) resolve({ kind: 'worker_ended', cause: worker.endCause })
  else if (stop.aborted) cancel()
  else
    worker.call({
      runId: run.id,
      entry: claimed.source === 'schedule' ? 'scheduled' : 'call',
      args: claimed.args,
    })
  const outcome = await promise
  stop.removeEventListener('abort', cancel)
  run.deadline = null
  run.onSaid = null
  return outcome
}

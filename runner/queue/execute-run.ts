import { setTimeout as sleep } from 'node:timers/promises'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { Head } from '@valley/bus/requests.ts'
import type { HeadCache } from '../heads/head-cache.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { RunDesk } from '../reports/run-desk.ts'
import { isValsFault } from '../workers/end-cause.ts'
import type { Placement } from '../workers/val-workers.ts'
import type { WorkerMode } from '../workers/worker.ts'
import type { Workforce } from '../workers/workforce.ts'
import { callVal } from './call-val.ts'
import type { KnownKinds } from './known-kinds.ts'

export interface ExecuteParts {
  readonly runnerId: string
  readonly heads: Pick<HeadCache, 'find'>
  readonly kinds: KnownKinds
  readonly workforce: Workforce
  readonly desk: RunDesk
}

export interface Signals {
  /** The run shall end. */
  readonly stop: AbortSignal
  /** The runner shall: what has not begun does not begin. */
  readonly runnerStops: AbortSignal
  /** From now on it cannot be given to anybody else. */
  readonly onBegun: () => void
}

/**
 * One claimed run, from what its val is to its report. `not_begun` is said only of a run that its val never heard of, and
 * for no fault of the val's: it can be given to somebody else.
 */
export async function executeRun(
  parts: ExecuteParts,
  claimed: ClaimedRun,
  signals: Signals,
): Promise<'reported' | 'not_begun'> {
  const head = await findHeadOrNull(parts, claimed, signals)
  if (head === null) return 'not_begun'
  const { workforce, desk, kinds, runnerId } = parts
  const run = desk.open(head === 'missing' ? goneHead(claimed) : head, { claimed, runnerId })
  if (head === 'missing') return report(parts, run, { kind: 'val_gone' })
  const mode = kinds.modeFor(head)
  const placement = await place(workforce, run, { head, mode, signals })
  run.placedAtMs = performance.now()
  if (placement.kind === 'refused') {
    if (signals.stop.aborted) return report(parts, run, { kind: 'canceled' })
    return isOurFault(placement.outcome) ? 'not_begun' : report(parts, run, placement.outcome)
  }
  const { worker } = placement
  if (worker.state === 'gone') {
    // It went away after the run got its place and before the val was called.
    workforce.release(worker, run, () => undefined)
    return 'not_begun'
  }
  signals.onBegun()
  const outcome = await callVal(worker, run, { claimed, mode, stop: signals.stop })
  const hasSpoken = outcome.kind === 'returned' || outcome.kind === 'threw'
  if (mode === 'fresh' && hasSpoken) kinds.note(run.head, worker.hasDefault)
  run.end(outcome)
  workforce.release(worker, run, () => desk.report(run))
  return 'reported'
}

function report({ desk }: ExecuteParts, run: OpenRun, outcome: Outcome): 'reported' {
  run.end(outcome)
  desk.report(run)
  return 'reported'
}

/** null when nobody could say in time. */
async function findHeadOrNull(
  { heads }: ExecuteParts,
  { valId }: ClaimedRun,
  { runnerStops }: Signals,
): Promise<Head | 'missing' | null> {
  const deadlineMs = performance.now() + limits.headWaitMsMax
  while (!runnerStops.aborted && performance.now() < deadlineMs) {
    const found = await heads.find(valId.replaceAll('-', ''))
    if (found.kind === 'found') return found.head
    if (found.kind === 'missing') return 'missing'
    await sleep(limits.headAskAgainMs, undefined, { signal: runnerStops }).catch(() => {})
  }
  return null
}

interface PlaceFor {
  readonly head: Head
  readonly mode: WorkerMode
  readonly signals: Signals
}

async function place(
  workforce: Workforce,
  run: OpenRun,
  { head, mode, signals }: PlaceFor,
): Promise<Placement> {
  const forget = () => workforce.forget(run, mode)
  const early = AbortSignal.any([signals.stop, signals.runnerStops])
  if (early.aborted) return { kind: 'refused', outcome: { kind: 'client_left' } }
  early.addEventListener('abort', forget)
  try {
    return await workforce.place(head, run, mode)
  } finally {
    early.removeEventListener('abort', forget)
  }
}

/** There was no room for it, or what it should have run in went away before it was called. */
function isOurFault(outcome: Outcome): boolean {
  if (outcome.kind === 'client_left' || outcome.kind === 'overloaded') return true
  return outcome.kind === 'worker_ended' && !isValsFault(outcome.cause)
}

/** All that is known of a val that is gone. */
function goneHead({ valId, ownerId }: ClaimedRun): Head {
  return {
    valId,
    ownerId,
    username: '',
    name: '',
    privacy: 'private',
    type: 'script',
    version: 1,
    code: '',
    environmentRevision: '',
    environment: {},
    isOverQuota: false,
  }
}

import type { RunError } from '@valley/contract/runs.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import { limits } from '../limits.ts'
import type { EndCause } from '../workers/end-cause.ts'

/** How a run ended: what the val did, what became of its worker, or what we refused. Never an exception of ours. */
export type Outcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'returned' }
  | { readonly kind: 'canceled' }
  | { readonly kind: 'val_gone' }
  | { readonly kind: 'threw'; readonly error: RunError }
  | { readonly kind: 'load_failed'; readonly error: RunError }
  | { readonly kind: 'handles_nothing' }
  | { readonly kind: 'timed_out'; readonly waitedFor: 'load' | 'first_byte' | 'end' | 'tunnel_end' }
  | { readonly kind: 'client_left' }
  | { readonly kind: 'worker_ended'; readonly cause: EndCause }
  | { readonly kind: 'broke_off' }
  | { readonly kind: 'answer_refused'; readonly why: string }
  | { readonly kind: 'body_too_large' }
  | { readonly kind: 'bad_target' }
  | { readonly kind: 'overloaded'; readonly why: 'queue_full' | 'queue_wait' | 'crashing' }

export interface Verdict {
  readonly status: RunReport['status']
  readonly error: RunError | null
  /** What its client is answered, unless the val's own answer is on its way already. */
  readonly httpStatus: number
}

/** The one table from outcomes to what is recorded and answered. */
const verdicts: {
  readonly [Kind in Outcome['kind']]: (outcome: Extract<Outcome, { kind: Kind }>) => Verdict
} = {
  answered: () => ({ status: 'succeeded', error: null, httpStatus: 200 }),
  returned: () => ({ status: 'succeeded', error: null, httpStatus: 200 }),
  canceled: () => ({
    status: 'canceled',
    error: { name: 'Canceled', message: 'The run was canceled.' },
    httpStatus: 499,
  }),
  val_gone: () => ({
    status: 'canceled',
    error: { name: 'ValGone', message: 'The val was deleted before the run began.' },
    httpStatus: 404,
  }),
  threw: ({ error }) => ({ status: 'failed', error, httpStatus: 500 }),
  load_failed: ({ error }) => ({ status: 'failed', error, httpStatus: 500 }),
  handles_nothing: () =>
    failed(
      500,
      'NothingToCall',
      'The val has no default export for this. Add: export default () => new Response("hello")',
    ),
  timed_out: ({ waitedFor }) => timedOut('TimedOut', timeoutMessages[waitedFor]),
  client_left: () => ({
    status: 'canceled',
    error: { name: 'ClientLeft', message: 'The client closed the connection before the val answered.' },
    httpStatus: 499,
  }),
  worker_ended: ({ cause }) => endVerdicts[cause],
  broke_off: () =>
    failed(
      502,
      'AnswerBrokeOff',
      "The val's answer ended before it was complete. Look for an error in its stream.",
    ),
  answer_refused: ({ why }) => failed(502, 'AnswerRefused', why),
  body_too_large: () =>
    failed(413, 'BodyTooLarge', `A request's body may have ${limits.requestBodyBytesMax} bytes at the most.`),
  bad_target: () =>
    failed(400, 'BadTarget', "The request's path has characters that must be percent-encoded."),
  overloaded: ({ why }) => failed(503, 'Overloaded', overloadMessages[why]),
}

const timeoutMessages = {
  load: `The val was not loaded after ${limits.loadTimeoutMs / 1_000} s. Look for a top-level await that never ends.`,
  first_byte: `The val did not begin to answer within ${limits.firstByteMsMax / 1_000} s. Does it await something that never comes?`,
  tunnel_end: `The WebSocket was closed after ${limits.tunnelMsMax / 60_000} minutes, the most that one may stay open.`,
  end: `The run was ended after ${limits.runMsMax / 1_000} s, the most that a run may take.`,
} as const

const overloadMessages = {
  queue_full: `More than ${limits.requestsQueuedPerValMax} requests wait for this val already. Try again in a moment.`,
  queue_wait: 'No worker came free for this val in time. Try again in a moment.',
  crashing: 'The val ends its own process again and again. Its last runs say why.',
} as const

const noSandbox = failed(
  503,
  'BootFailed',
  'No sandbox could be started for this val. Try again in a moment.',
)
const neededElsewhere = failed(
  503,
  'WorkerKilled',
  'The worker was needed elsewhere or is out of date. Try again.',
)

/** What became of its worker told apart: the val's own doing, and ours. */
const endVerdicts: Readonly<Record<EndCause, Verdict>> = {
  out_of_memory: failed(
    502,
    'OutOfMemory',
    `The val used more memory than it may: ${limits.heapMib} MiB of JavaScript heap, ${limits.memoryBytesMax / 1024 / 1024} MiB in all.`,
  ),
  exited: failed(502, 'WorkerExited', 'The val ended its own process, by Deno.exit() or a crash.'),
  stalled: timedOut(
    'WorkerKilled',
    `The val kept its thread busy without a pause, for ${limits.stallMsMax / 1_000} s if it answers requests and for ${limits.quietStallMsMax / 1_000} s if it does not. Look for an endless loop.`,
  ),
  restless: failed(502, 'WorkerKilled', 'The val went on working hard though nobody had called it.'),
  spoke_nonsense: failed(
    502,
    'WorkerKilled',
    'The val disturbed the program that runs it. Leave the globals as they are.',
  ),
  load_failed: noSandbox,
  load_timed_out: noSandbox,
  boot_failed: noSandbox,
  unused: neededElsewhere,
  evicted: neededElsewhere,
  outdated: neededElsewhere,
  stopping: failed(
    503,
    'RunnerStopped',
    'The machine that ran this was stopped, as for an update. It may have run in part: run it again if it can bear that.',
  ),
}

export function judge(outcome: Outcome): Verdict {
  const verdict = verdicts[outcome.kind] as (outcome: Outcome) => Verdict
  return verdict(outcome)
}

function failed(httpStatus: number, name: string, message: string): Verdict {
  return { status: 'failed', error: { name, message }, httpStatus }
}

function timedOut(name: string, message: string): Verdict {
  return { status: 'timed_out', error: { name, message }, httpStatus: 504 }
}

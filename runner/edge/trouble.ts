import { judge, type Outcome } from '../reports/outcome.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Trouble } from './error-page.ts'

export const noSuchVal: Trouble = {
  httpStatus: 404,
  code: 'not_found',
  message: 'No val answers at this address. Check its spelling, and that the val is of type http.',
}

export const quotaExceeded: Trouble = {
  httpStatus: 429,
  code: 'quota_exceeded',
  message: 'The runs that the owner of this val has for today are used up. Try again after midnight UTC.',
}

export const headUnknown: Trouble = {
  httpStatus: 503,
  code: 'unavailable',
  message: 'This val cannot be looked up right now. Try again in a moment.',
}

/** What a run that went wrong looks like to its client. */
export function troubleOf(run: OpenRun, outcome: Outcome): Trouble {
  const { error, httpStatus } = judge(outcome)
  const shown = outcome.kind === 'threw' ? (run.thrown ?? error) : error
  return {
    httpStatus,
    code: codes[outcome.kind],
    message:
      outcome.kind === 'threw' || outcome.kind === 'load_failed'
        ? explain(outcome.kind, shown)
        : (error?.message ?? ''),
    error: shown ?? undefined,
    runId: run.id,
  }
}

const codes = {
  answered: 'answered',
  returned: 'answered',
  canceled: 'canceled',
  val_gone: 'not_found',
  threw: 'val_threw',
  load_failed: 'val_did_not_load',
  handles_nothing: 'val_handles_nothing',
  timed_out: 'val_timed_out',
  client_left: 'client_left',
  worker_ended: 'worker_ended',
  broke_off: 'answer_broke_off',
  answer_refused: 'answer_refused',
  body_too_large: 'payload_too_large',
  bad_target: 'invalid_request',
  overloaded: 'overloaded',
} as const satisfies Record<Outcome['kind'], string>

function explain(kind: 'threw' | 'load_failed', error: { name: string; message: string } | null): string {
  const what = kind === 'threw' ? 'The val threw' : 'The val could not be loaded'
  return error === null ? `${what}.` : `${what}: ${error.name}: ${error.message}`
}

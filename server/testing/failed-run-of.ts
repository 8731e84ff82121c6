import type { Val } from '@valley/contract/vals.ts'
import type { EndedRun } from '../alerts/raise-alerts.ts'
import { reportOf } from './report-runs.ts'

/** A run of this val that has just failed. */
export function failedRunOf(val: Val, fields: Partial<EndedRun> = {}): EndedRun {
  const error = { name: 'TypeError', message: 'x is not a function', stack: 'at y' }
  return { ...reportOf(val), status: 'failed', error, endedAtMs: Date.now(), ...fields }
}

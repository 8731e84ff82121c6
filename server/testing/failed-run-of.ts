import type { Val } from '@valley/contract/vals.ts'
import { v7 } from 'uuid'
import type { EndedRun } from '../alerts/raise-alerts.ts'

/** A run of this val that has just failed. */
export function failedRunOf(val: Val, fields: Partial<EndedRun> = {}): EndedRun {
  const endedAtMs = Date.now()
  return {
    id: v7({ msecs: endedAtMs }),
    valId: val.id,
    ownerId: val.author.id,
    version: val.version,
    source: 'http',
    status: 'failed',
    error: { name: 'TypeError', message: 'x is not a function', stack: 'at y' },
    endedAtMs,
    ...fields,
  }
}

import type { RunError, RunSource, RunStatus } from '@valley/contract/runs.ts'
import { newId, timeOf } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { storableJson } from '../runs/storable-json.ts'
import { insertDeliveries } from './queries.ts'

/** A run that is over. */
export interface EndedRun {
  readonly id: string
  readonly valId: string
  readonly ownerId: string
  readonly version: number
  readonly source: RunSource
  readonly status: RunStatus
  readonly error: RunError | null
  readonly endedAtMs: number
}

/** What a delivery tells of its run. */
export interface ToldRun {
  readonly id: string
  readonly status: RunStatus
  readonly source: RunSource
  readonly version: number
  readonly error: Pick<RunError, 'name' | 'message'> | null
  readonly createdAt: string
  readonly endedAt: string
}

/**
 * Raises alerts for those of the runs that failed and whose val wants that; returns how many. Saying the same again is
 * harmless, so whoever ends runs says it before they forget them. Costs nothing where none failed, and one look-up per
 * val where some did.
 */
export async function raiseAlerts(db: Db, ended: readonly EndedRun[]): Promise<number> {
  const latest = new Map<string, EndedRun>()
  for (const run of ended) {
    const isLater = run.endedAtMs >= (latest.get(run.valId)?.endedAtMs ?? 0)
    if (isFailing(run) && isLater) latest.set(run.valId, run)
  }
  if (latest.size === 0) return 0
  const failing = storableJson([...latest.values()].map(toRow))
  const attempts = limits.deliveryPausesMs.length + 1
  return (await insertDeliveries(db, { failing, attempts })).rows.length
}

export function isFailing({ status }: Pick<EndedRun, 'status'>): boolean {
  return status === 'failed' || status === 'timed_out'
}

function toRow(run: EndedRun) {
  const { valId, ownerId } = run
  const told = tell(run)
  return { deliveryId: newId(), valId, ownerId, endedAt: told.endedAt, run: told }
}

function tell({ id, status, source, version, error, endedAtMs }: EndedRun): ToldRun {
  return {
    id,
    status,
    source,
    version,
    error: error && {
      name: error.name.slice(0, limits.alertErrorNameCharsMax),
      message: error.message.slice(0, limits.alertErrorMessageCharsMax),
    },
    createdAt: timeOf(id).toISOString(),
    // A runner's clock may be ahead; nothing ends in the future.
    endedAt: new Date(Math.min(endedAtMs, Date.now())).toISOString(),
  }
}

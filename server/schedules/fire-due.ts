import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { decideFiring, type Decision } from './decide-firing.ts'
import * as queries from './queries.ts'
import { type Allowance, type Fired, type Step, writeFirings } from './write-firings.ts'

export interface FireOptions {
  readonly allowance: Allowance
  /** An expression that could be used when it was set, and cannot any more: its schedule rests. */
  readonly onBroken: (valId: string, cause: unknown) => void
}

/**
 * Decides about a batch of schedules that are due, in one transaction. It waits for no lock, so that it has a part in
 * no deadlock: schedules that another server holds are skipped, and those whose val is written to are left for later.
 */
export async function fireDue(db: Db, options: FireOptions): Promise<Fired> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await queries.lockDue(tx, { limit: limits.firedAtOnceMax })
    if (rows.length === 0) return { decided: 0, outcomes: [] }
    const due = await lookAround(tx, rows)
    const countMax = Math.floor(limits.missedCountedMax / rows.length)
    const steps = due.map((one): Step => ({ schedule: one.schedule, ...decide(one, countMax, options) }))
    return writeFirings(tx, steps, options.allowance)
  })
}

interface Due {
  readonly schedule: queries.DueRow
  readonly around: queries.Surroundings
}

async function lookAround(tx: Db, rows: readonly queries.DueRow[]): Promise<readonly Due[]> {
  const val_ids = rows.map(({ val_id }) => val_id)
  const free = new Set((await queries.lockVals(tx, { ids: val_ids })).rows.map(({ id }) => id))
  const { rows: found } = await queries.selectSurroundings(tx, { val_ids })
  const byVal = new Map(found.map((around) => [around.val_id, around]))
  return rows.flatMap((schedule) => {
    const around = byVal.get(schedule.val_id)
    return around && (free.has(schedule.val_id) || !around.is_there) ? [{ schedule, around }] : []
  })
}

const nothing: Decision = { firings: [], nextAt: null }

function decide({ schedule, around }: Due, countMax: number, { onBroken }: FireOptions): Decision {
  if (!around.is_there) return nothing
  const { cron, time_zone: timeZone, overlap, missed, next_at: nextAt, now } = schedule
  try {
    return decideFiring({ cron, timeZone, overlap, missed, nextAt, isBusy: around.is_busy }, now, countMax)
  } catch (error) {
    onBroken(schedule.val_id, error)
    return nothing
  }
}

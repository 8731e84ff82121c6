import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { FireOptions } from './fire-due.ts'
import { nextPlannedTime } from './planned-times.ts'
import * as queries from './queries.ts'

/**
 * After the database's clock was put back: next times are found anew, for a batch of schedules. Planned times that have
 * fired do not fire again when they come once more; those that seemed to be missed are not.
 */
export async function replanSteppedBack(db: Db, onBroken: FireOptions['onBroken']): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await queries.lockSteppedBack(tx, { limit: limits.firedAtOnceMax })
    if (rows.length === 0) return 0
    await queries.forgetFutureMisses(tx, { val_ids: rows.map(({ val_id }) => val_id) })
    const schedules = rows.map((schedule) => ({
      valId: schedule.val_id,
      nextAt: planAnew(schedule, onBroken),
      hasRun: false,
      lastMissedAt: null,
    }))
    await queries.advanceSchedules(tx, { schedules: JSON.stringify(schedules) })
    return rows.length
  })
}

/** What is due even by the clock as it is now stays due. */
function planAnew(
  { val_id, cron, time_zone: timeZone, next_at, now }: queries.DueRow,
  onBroken: FireOptions['onBroken'],
): Date | null {
  if (next_at <= now) return next_at
  try {
    return nextPlannedTime({ cron, timeZone }, now)
  } catch (error) {
    onBroken(val_id, error)
    return null
  }
}

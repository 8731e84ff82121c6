import type { NewSchedule, Schedule } from '@valley/contract/schedules.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { inTransaction } from '../in-transaction.ts'
import type { Handler } from '../reply.ts'
import { findOwnValOrHide, lockOwnValOrHide } from '../vals/find-val.ts'
import { findCronProblem, isTimeZone, nextPlannedTime } from './planned-times.ts'
import { deleteSchedule as deleteRow, type ScheduleRow } from './queries.ts'
import { selectNow, selectSchedule, upsertSchedule } from './queries.ts'

export const getSchedule: Handler<'getSchedule'> = async ({ db }, caller, { params }) => {
  const { id, owner_id } = await findOwnValOrHide(db, caller, params.val_id)
  const [row] = (await selectSchedule(db, { val_id: id, owner_id })).rows
  if (!row) throw new Fault('not_found', 'This val has no schedule. PUT one first.')
  return present(row)
}

export const setSchedule: Handler<'setSchedule'> = async (context, caller, { params, body }) => {
  requireGoodTiming(body)
  return inTransaction(context, async ({ db }) => {
    await lockOwnValOrHide(db, caller, params.val_id)
    const place = { val_id: params.val_id, owner_id: caller.id }
    const [known] = (await selectSchedule(db, place)).rows
    return present(known && isAs(known, body) ? known : await put(db, place, body))
  })
}

export const deleteSchedule: Handler<'deleteSchedule'> = async ({ db }, caller, { params }) => {
  const { id, owner_id } = await findOwnValOrHide(db, caller, params.val_id)
  await deleteRow(db, { val_id: id, owner_id })
}

function requireGoodTiming(timing: NewSchedule) {
  if (!isTimeZone(timing.timeZone)) {
    throw refusal('timeZone', 'is not known. Name one of the IANA database, such as UTC or Europe/Berlin')
  }
  const problem = findCronProblem(timing, new Date())
  if (problem !== null) throw refusal('cron', problem)
}

function refusal(field: 'cron' | 'timeZone', message: string) {
  const issues = [{ path: `body.${field}`, message }]
  return new Fault('invalid_request', `The schedule's ${field} ${message}.`, { issues })
}

function isAs(row: ScheduleRow, { cron, timeZone, overlap, missed, enabled }: NewSchedule): boolean {
  const isSameTiming = row.cron === cron && row.time_zone === timeZone && row.enabled === enabled
  return isSameTiming && row.overlap === overlap && row.missed === missed
}

/** Plans by the clock of the database. */
async function put(
  db: Db,
  place: Pick<ScheduleRow, 'val_id' | 'owner_id'>,
  { timeZone, ...schedule }: NewSchedule,
): Promise<ScheduleRow> {
  const [clock] = (await selectNow(db, {})).rows
  const next_at =
    clock && schedule.enabled ? nextPlannedTime({ cron: schedule.cron, timeZone }, clock.now) : null
  const [row] = (await upsertSchedule(db, { ...place, ...schedule, time_zone: timeZone, next_at })).rows
  if (!row) throw new Error('The database did not answer with the schedule that it wrote.')
  return row
}

function present(row: ScheduleRow): Schedule {
  const { cron, time_zone: timeZone, overlap, missed, enabled } = row
  return {
    cron,
    timeZone,
    overlap,
    missed,
    enabled,
    nextRunAt: row.next_at?.toISOString() ?? null,
    lastRunAt: row.last_run_at?.toISOString() ?? null,
    lastMissedAt: row.last_missed_at?.toISOString() ?? null,
  }
}

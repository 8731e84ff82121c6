import { sql } from 'kysely'
import { statement } from '../database/statement.ts'
import { limits } from '../limits.ts'

export interface ScheduleRow {
  readonly val_id: string
  readonly owner_id: string
  readonly cron: string
  readonly time_zone: string
  readonly overlap: 'skip' | 'queue'
  readonly missed: 'skip' | 'once'
  readonly enabled: boolean
  readonly next_at: Date | null
  readonly last_run_at: Date | null
  readonly last_missed_at: Date | null
}

const columns = sql.raw(
  'val_id, owner_id, cron, time_zone, overlap, missed, enabled, next_at, last_run_at, last_missed_at',
)

export const selectSchedule = statement<{ val_id: string; owner_id: string }, ScheduleRow>(
  (arg) => sql<ScheduleRow>`
    SELECT ${columns} FROM schedules WHERE val_id = ${arg('val_id')} AND owner_id = ${arg('owner_id')}`,
)

/** The one clock that schedules go by. */
export const selectNow = statement<object, { now: Date }>(() => sql<{ now: Date }>`SELECT now()`)

type NewSchedule = Omit<ScheduleRow, 'last_run_at' | 'last_missed_at'>

export const upsertSchedule = statement<NewSchedule, ScheduleRow>(
  (arg) => sql<ScheduleRow>`
    INSERT INTO schedules (val_id, owner_id, cron, time_zone, overlap, missed, enabled, next_at, computed_at)
    VALUES (${arg('val_id')}, ${arg('owner_id')}, ${arg('cron')}, ${arg('time_zone')}, ${arg('overlap')},
      ${arg('missed')}, ${arg('enabled')}, ${arg('next_at')}, now())
    ON CONFLICT (val_id) DO UPDATE SET cron = excluded.cron, time_zone = excluded.time_zone,
      overlap = excluded.overlap, missed = excluded.missed, enabled = excluded.enabled,
      next_at = excluded.next_at, computed_at = excluded.computed_at
    RETURNING ${columns}`,
)

export const deleteSchedule = statement<{ val_id: string; owner_id: string }, never>(
  (arg) => sql<never>`
    DELETE FROM schedules WHERE val_id = ${arg('val_id')} AND owner_id = ${arg('owner_id')}`,
)

/** Where next_at was found at a time that is yet to come. Clocks of two servers of a database may differ a little. */
const isSteppedBack = sql`next_at IS NOT NULL
  AND computed_at > now() + make_interval(secs => ${sql.lit(limits.clockStepMsMin / 1_000)})`

export interface Outlook {
  /** null: nothing is planned at all. */
  readonly due_in_ms: number | null
  readonly is_stepped_back: boolean
}

/** Two looks at two indexes: cheap enough to be taken several times a second. */
export const selectOutlook = statement<object, Outlook>(
  () => sql<Outlook>`
    SELECT (SELECT (extract(epoch FROM next_at - clock_timestamp()) * 1000)::float8
        FROM schedules WHERE next_at IS NOT NULL ORDER BY next_at LIMIT 1) AS due_in_ms,
      EXISTS (SELECT FROM schedules WHERE ${isSteppedBack}) AS is_stepped_back`,
)

export interface DueRow extends ScheduleRow {
  readonly next_at: Date
  readonly now: Date
}

/** Holds them until the transaction ends. What another server holds is in its care. */
export const lockDue = statement<{ limit: number }, DueRow>(
  (arg) => sql<DueRow>`
    SELECT ${columns}, now() FROM schedules WHERE next_at <= now()
    ORDER BY next_at LIMIT ${arg('limit')} FOR UPDATE SKIP LOCKED`,
)

export const lockSteppedBack = statement<{ limit: number }, DueRow>(
  (arg) => sql<DueRow>`
    SELECT ${columns}, now() FROM schedules WHERE ${isSteppedBack}
    LIMIT ${arg('limit')} FOR UPDATE SKIP LOCKED`,
)

/** So that none of them is deleted meanwhile. One that somebody writes to at the moment is left out, not waited for. */
export const lockVals = statement<{ ids: readonly string[] }, { id: string }>(
  (arg) => sql<{ id: string }>`
    SELECT id FROM vals WHERE id = ANY(${arg('ids')}::uuid[]) FOR KEY SHARE SKIP LOCKED`,
)

export interface Surroundings {
  readonly val_id: string
  readonly is_there: boolean
  /** Whether a scheduled run of it waits or runs. */
  readonly is_busy: boolean
}

/** A statement of its own, after the locks: it sees what those who held them before have enqueued. */
export const selectSurroundings = statement<{ val_ids: readonly string[] }, Surroundings>(
  (arg) => sql<Surroundings>`
    SELECT d.val_id, (SELECT true FROM vals v WHERE v.id = d.val_id) IS NOT NULL AS is_there,
      (SELECT true FROM queue q WHERE q.val_id = d.val_id AND q.source = 'schedule' LIMIT 1) IS NOT NULL AS is_busy
    FROM unnest(${arg('val_ids')}::uuid[]) AS d(val_id)`,
)

/** JSON: an array of { valId, ownerId, plannedAt, outcome, runId, throughAt, count }. */
export interface InsertFiringsArgs {
  firings: string
}

/** Returns only what nobody has written before. */
export const insertFirings = statement<InsertFiringsArgs, { val_id: string; planned_at: Date }>(
  (arg) => sql<{ val_id: string; planned_at: Date }>`
    INSERT INTO firings (val_id, planned_at, owner_id, outcome, run_id, through_at, count)
    SELECT f."valId", f."plannedAt", f."ownerId", f.outcome, f."runId", f."throughAt", f.count
    FROM jsonb_to_recordset(${arg('firings')}::jsonb) AS f("valId" uuid, "plannedAt" timestamptz, "ownerId" uuid,
      outcome firing_outcome, "runId" uuid, "throughAt" timestamptz, count integer)
    ON CONFLICT (val_id, planned_at) DO NOTHING
    RETURNING val_id, planned_at`,
)

/** JSON: an array of { valId, nextAt, hasRun, lastMissedAt }. */
export interface AdvanceArgs {
  schedules: string
}

export const advanceSchedules = statement<AdvanceArgs, { at: Date }>(
  (arg) => sql<{ at: Date }>`
    UPDATE schedules s SET next_at = n."nextAt", computed_at = now(),
      last_run_at = CASE WHEN n."hasRun" THEN now() ELSE s.last_run_at END,
      last_missed_at = coalesce(n."lastMissedAt", s.last_missed_at)
    FROM jsonb_to_recordset(${arg('schedules')}::jsonb) AS n("valId" uuid, "nextAt" timestamptz, "hasRun" boolean,
      "lastMissedAt" timestamptz)
    WHERE s.val_id = n."valId"
    RETURNING clock_timestamp() AS at`,
)

/** What a clock that ran ahead made of times that are yet to come. */
export const forgetFutureMisses = statement<{ val_ids: readonly string[] }, never>(
  (arg) => sql<never>`
    DELETE FROM firings
    WHERE val_id = ANY(${arg('val_ids')}::uuid[]) AND planned_at > now() AND outcome = 'missed'`,
)

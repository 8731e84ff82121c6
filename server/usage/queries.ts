import { sql } from 'kysely'
import { statement } from '../database/statement.ts'
import { today } from '../database/today.ts'

export interface Standing {
  /** Waiting or running, counted no further than the limit. */
  readonly queued: number
  readonly runs_today: number
  readonly seconds_left: number
}

/** Where an owner stands, for the decision whether one more run may come. */
export const selectStanding = statement<{ owner_id: string; limit: number }, Standing>(
  (arg) => sql<Standing>`
    SELECT
      (SELECT count(*)::integer FROM (
        (SELECT FROM queue WHERE owner_id = ${arg('owner_id')} AND runner_id IS NULL LIMIT ${arg('limit')})
        UNION ALL
        (SELECT FROM queue WHERE owner_id = ${arg('owner_id')} AND runner_id IS NOT NULL LIMIT ${arg('limit')})
      ) q) AS queued,
      coalesce((SELECT runs FROM usage WHERE owner_id = ${arg('owner_id')} AND day = ${today}), 0)::float8
        AS runs_today,
      extract(epoch FROM (${today} + 1)::timestamp AT TIME ZONE 'UTC' - now())::float8 AS seconds_left`,
)

export interface DayRow {
  readonly day: string
  readonly runs: string
  readonly failed: string
  readonly run_ms: string
}

export const selectDays = statement<{ owner_id: string; limit: number }, DayRow>(
  (arg) => sql<DayRow>`
    SELECT to_char(day, 'YYYY-MM-DD') AS day, runs, failed, run_ms FROM usage
    WHERE owner_id = ${arg('owner_id')} ORDER BY day DESC LIMIT ${arg('limit')}`,
)

export const countRunning = statement<{ owner_id: string }, { running: number }>(
  (arg) => sql<{ running: number }>`
    SELECT count(*)::integer AS running FROM queue WHERE owner_id = ${arg('owner_id')} AND runner_id IS NOT NULL`,
)

import { sql } from 'kysely'
import { statement } from '../database/statement.ts'
import { today } from '../database/today.ts'

export interface Standing {
  readonly owner_id: string
  /** Waiting or running, counted no further than the limit. */
  readonly queued: number
  readonly runs_today: number
  readonly seconds_left: number
}

/** Where owners stand, for the decision whether more runs of theirs may come. */
export const selectStandings = statement<{ owner_ids: readonly string[]; limit: number }, Standing>(
  (arg) => sql<Standing>`
    SELECT o.owner_id, queued.count AS queued, coalesce(u.runs, 0)::float8 AS runs_today,
      extract(epoch FROM (${today} + 1)::timestamp AT TIME ZONE 'UTC' - now())::float8 AS seconds_left
    FROM unnest(${arg('owner_ids')}::uuid[]) AS o(owner_id)
      LEFT JOIN usage u ON u.owner_id = o.owner_id AND u.day = ${today}
      CROSS JOIN LATERAL (
        SELECT count(*)::integer FROM (
          (SELECT FROM queue q WHERE q.owner_id = o.owner_id AND q.runner_id IS NULL LIMIT ${arg('limit')})
          UNION ALL
          (SELECT FROM queue q WHERE q.owner_id = o.owner_id AND q.runner_id IS NOT NULL LIMIT ${arg('limit')})
        ) q
      ) queued`,
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

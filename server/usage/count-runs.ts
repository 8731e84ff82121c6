import { type RawBuilder, sql } from 'kysely'
import { today } from '../database/today.ts'

/**
 * Counts runs that have just been written down, given as rows of owner_id, status, started_at and ended_at. In the order
 * of owners, so that two servers that count at once do not wait for each other in a circle.
 */
export function countRuns(rows: RawBuilder<unknown>) {
  return sql`
    INSERT INTO usage AS u (owner_id, day, runs, failed, run_ms)
    SELECT owner_id, ${today}, count(*), count(*) FILTER (WHERE status <> 'succeeded'),
      coalesce(sum(greatest(0, extract(epoch FROM ended_at - started_at) * 1000))::bigint, 0)
    FROM ${rows} GROUP BY owner_id ORDER BY owner_id
    ON CONFLICT (owner_id, day) DO UPDATE
    SET runs = u.runs + excluded.runs, failed = u.failed + excluded.failed, run_ms = u.run_ms + excluded.run_ms`
}

import { sql } from 'kysely'
import { statement } from '../database/statement.ts'

export interface HeldRow {
  readonly run_id: string
  /** A bigint, which pg reads as text. */
  readonly claim_number: string
  readonly cancel_requested: boolean
}

export const selectRunsOfRunner = statement<{ runner_id: string }, HeldRow>(
  (arg) => sql<HeldRow>`
    SELECT run_id, claim_number, cancel_requested FROM queue WHERE runner_id = ${arg('runner_id')}`,
)

/** Whether a run is due, among so many that wait. */
export const selectAnyDue = statement<{ limit: number }, { is_due: boolean }>(
  (arg) => sql<{ is_due: boolean }>`
    SELECT EXISTS (SELECT FROM (
      SELECT attempt, due_at FROM queue WHERE runner_id IS NULL LIMIT ${arg('limit')}
    ) w WHERE w.attempt = 1 OR w.due_at <= now()) AS is_due`,
)

export interface RunnerRow {
  readonly runner_id: string
  readonly beat: string
}

export const selectRunners = statement<object, RunnerRow>(
  () => sql<RunnerRow>`SELECT runner_id, beat FROM runners ORDER BY runner_id`,
)

/** Not while a run is still its. */
export const forgetRunner = statement<{ runner_id: string; beat: string }, never>(
  (arg) => sql<never>`
    DELETE FROM runners r WHERE r.runner_id = ${arg('runner_id')} AND r.beat = ${arg('beat')}
      AND NOT EXISTS (SELECT FROM queue q WHERE q.runner_id = r.runner_id)`,
)

export interface QueueSize {
  readonly waiting: number
  readonly running: number
  readonly oldest_waiting_seconds: number
}

/** Of the whole queue, for whoever operates it. */
export const selectQueueSize = statement<object, QueueSize>(
  () => sql<QueueSize>`
    SELECT count(*) FILTER (WHERE runner_id IS NULL)::integer AS waiting,
      count(*) FILTER (WHERE runner_id IS NOT NULL)::integer AS running,
      coalesce(extract(epoch FROM now() - min(due_at) FILTER (WHERE runner_id IS NULL)), 0)::float8
        AS oldest_waiting_seconds
    FROM queue`,
)

export interface PolicyRow {
  readonly attempts: number
  readonly backoff_ms: number
}

export const selectRetryPolicy = statement<{ val_id: string }, PolicyRow>(
  (arg) => sql<PolicyRow>`SELECT attempts, backoff_ms FROM retry_policies WHERE val_id = ${arg('val_id')}`,
)

/** The val is locked by whoever calls this. */
export const upsertRetryPolicy = statement<PolicyRow & { val_id: string; owner_id: string }, never>(
  (arg) => sql<never>`
    INSERT INTO retry_policies (val_id, owner_id, attempts, backoff_ms)
    VALUES (${arg('val_id')}, ${arg('owner_id')}, ${arg('attempts')}, ${arg('backoff_ms')})
    ON CONFLICT (val_id) DO UPDATE SET attempts = excluded.attempts, backoff_ms = excluded.backoff_ms`,
)

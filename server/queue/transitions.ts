import { type RawBuilder, sql } from 'kysely'
import type { RunError, RunSource } from '@valley/contract/runs.ts'
import type { Privacy } from '@valley/contract/vals.ts'
import { statement } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { countRuns } from '../usage/count-runs.ts'

/*
 * Every way in which a queued run changes, one statement each.
 *
 *              enqueue ──▶ waiting ──claim──▶ running ──report──▶ succeeded | failed | timed_out | canceled
 *                            │  ▲                │ │
 *                            │  └───give back────┘ └──lose (its runner is gone)──▶ failed, or canceled if asked for
 *                            └──cancel──▶ canceled
 *
 * waiting: a row in `queue` without a runner. running: one with a runner. over: no row, and `runs` says how it ended.
 *
 * Why a run ends once: every statement that ends one deletes its row in `queue` and writes the end only for the rows
 * that it deleted itself. Of two at once, the second waits for the first and then finds nothing.
 * Why it is not begun twice: only `claim` gives a row a runner, and only where it has none. A row loses its runner
 * (`giveBack`) only on that runner's own word that what came of this claim was not begun and never will be.
 * Why each costs the same however much waits: the rows are found by a list of ids, which takes the index in any plan.
 * A join would be planned while the queue is empty, as a walk over all of it, and be carried out so when it is full.
 * Why a message may come twice or late: claims are numbered and reports name their runner, so that what is said about
 * a row counts only while the row is in the state that it is about.
 */

export interface EnqueueArgs {
  /** JSON: an array of { id, ownerId, valId, source, args, argsBytes, attempts, backoffMs }. */
  runs: string
}

/** Into the history and into the queue, together. A val that is gone, or not the owner's, gets no run. */
export const enqueue = statement<EnqueueArgs, EnqueuedRow>(
  (arg) => sql<EnqueuedRow>`
    WITH new_runs AS MATERIALIZED (
      SELECT r.*, v.version, v.name, v.privacy FROM jsonb_to_recordset(${arg('runs')}::jsonb) AS r(
        id uuid, "ownerId" uuid, "valId" uuid, source run_source, args jsonb, "argsBytes" integer,
        attempts smallint, "backoffMs" integer)
      JOIN vals v ON v.id = r."valId" AND v.owner_id = r."ownerId"
      FOR KEY SHARE OF v
    ), history AS (
      INSERT INTO runs (id, owner_id, val_id, version, source, status)
      SELECT id, "ownerId", "valId", version, source, 'queued' FROM new_runs
    ), details AS (
      INSERT INTO run_details (id, owner_id, args) SELECT id, "ownerId", args FROM new_runs WHERE args IS NOT NULL
    ), queued AS (
      INSERT INTO queue (run_id, owner_id, val_id, source, due_at, args_bytes, attempt, attempts, backoff_ms)
      SELECT n.id, n."ownerId", n."valId", n.source, now(), n."argsBytes", 1,
        coalesce(n.attempts, p.attempts, 1), coalesce(n."backoffMs", p.backoff_ms, 0)
      FROM new_runs n LEFT JOIN retry_policies p ON p.val_id = n."valId"
    )
    SELECT id, version, name, privacy FROM new_runs`,
)

/** What was enqueued, and of what val. */
export interface EnqueuedRow {
  readonly id: string
  readonly version: number
  readonly name: string
  readonly privacy: Privacy
}

interface ClaimArgs {
  runner_id: string
  claim_number: number
  wanted: number
  bytes_max: number
  owner_runs_max: number
  val_runs_max: number
  after_owner: string
  /** JSON: for an owner, the val after which it is the next one's turn. */
  after_vals: string
  val_wanted: number
  except_vals: readonly string[]
}

export interface ClaimedRow {
  readonly run_id: string
  readonly owner_id: string
  readonly val_id: string
  readonly source: Exclude<RunSource, 'http'>
  readonly args: unknown[] | null
}

/** Whom a walk came to last, along owners or along the vals of one. */
export interface WalkEnd {
  readonly run_id: null
  readonly owner_id: string
  readonly val_id: string | null
}

/** `claim_runs` is in a migration: it has to take a lock first and then look, which one statement cannot. */
export const claim = statement<ClaimArgs, ClaimedRow | WalkEnd>(
  (arg) => sql<ClaimedRow | WalkEnd>`
    SELECT * FROM claim_runs(${arg('runner_id')}, ${arg('claim_number')}, ${arg('wanted')}, ${arg('bytes_max')},
      ${arg('owner_runs_max')}, ${arg('val_runs_max')}, ${arg('after_owner')}, ${arg('after_vals')}::jsonb,
      ${arg('val_wanted')}, ${arg('except_vals')}::uuid[])`,
)

/** A sign of life. */
export const beat = statement<{ runner_id: string }, never>(
  (arg) => sql<never>`
    INSERT INTO runners AS r VALUES (${arg('runner_id')}, 1)
    ON CONFLICT (runner_id) DO UPDATE SET beat = r.beat + 1`,
)

/** Runs that their runner did not begin wait again, where they stood. One that shall be canceled is. */
function giveBackStatement<Args extends object>(
  which: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<unknown>,
) {
  return statement<Args, { given_back: number }>(
    (arg) => sql<{ given_back: number }>`
      WITH locked AS (
        SELECT run_id, cancel_requested FROM queue WHERE ${which(arg)} ORDER BY run_id FOR UPDATE
      ), given_back AS (
        UPDATE queue SET runner_id = NULL, claim_number = NULL, claimed_at = NULL
        WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked WHERE NOT cancel_requested)) RETURNING 1
      ), ending AS (
        DELETE FROM queue
        WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked WHERE cancel_requested)) RETURNING run_id
      ), ${writeCanceled}
      SELECT count(*)::integer AS given_back FROM given_back`,
  )
}

/** Of `ending`. */
const canceledError = { name: 'Canceled', message: 'The run was canceled.' } satisfies RunError
const writeCanceled = sql`ended AS (
  UPDATE runs r SET status = 'canceled', ended_at = now(), error = ${sql.lit(JSON.stringify(canceledError))}::jsonb
  FROM ending e WHERE r.id = e.run_id RETURNING r.id
)`

interface HandedBack {
  runner_id: string
  claim_number: number
  run_ids: readonly string[]
}

export const giveBackRuns = giveBackStatement<HandedBack>(
  (arg) => sql`run_id = ANY(${arg('run_ids')}::uuid[]) AND runner_id = ${arg('runner_id')}
    AND claim_number = ${arg('claim_number')}`,
)

export const giveBackClaims = giveBackStatement<{ runner_id: string; claim_numbers: readonly number[] }>(
  (arg) => sql`runner_id = ${arg('runner_id')} AND claim_number = ANY(${arg('claim_numbers')}::bigint[])`,
)

/** At once while it waits; while it runs, its runner is asked for it. */
export const cancel = statement<{ run_id: string; owner_id: string }, { state: 'canceled' | 'asked' }>(
  (arg) => sql<{ state: 'canceled' | 'asked' }>`
    WITH locked AS (
      SELECT run_id, runner_id FROM queue WHERE run_id = ${arg('run_id')} AND owner_id = ${arg('owner_id')} FOR UPDATE
    ), ending AS (
      DELETE FROM queue
      WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked WHERE runner_id IS NULL)) RETURNING run_id
    ), ${writeCanceled}, asked AS (
      UPDATE queue SET cancel_requested = true
      WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked WHERE runner_id IS NOT NULL)) RETURNING run_id
    )
    SELECT 'canceled' AS state FROM ending UNION ALL SELECT 'asked' FROM asked`,
)

export interface EndedRow {
  readonly id: string
  readonly status: 'succeeded' | 'failed' | 'timed_out' | 'canceled'
  readonly owner_id: string
  readonly val_id: string
  readonly source: RunSource
  readonly version: number
  readonly error: RunError | null
  readonly ended_at: Date
  /** Whether another attempt is in the queue now. */
  readonly is_retried: boolean
}

/**
 * Writes down how runs ended, from `ends`: the deleted row of queue and what is said of it, which is status, error,
 * version_run, started_at, ended_at, logs, timings, memory_peak_bytes, return_value, return_value_cut, retry_id. One
 * that failed and may be tried again is enqueued under retry_id, for as long as its val is there. All along indexes:
 * what is joined to a batch by itself costs its square.
 */
const writeEnds = sql`ended AS (
    UPDATE runs r SET status = e.status, error = e.error, version = coalesce(e.version_run, r.version),
      started_at = e.started_at, ended_at = e.ended_at
    FROM ends e WHERE r.id = e.run_id
    RETURNING r.id, r.status, r.owner_id, r.val_id, r.source, r.version, r.error, r.started_at, r.ended_at,
      e.logs, e.timings, e.memory_peak_bytes, e.return_value, e.return_value_cut
  ), counted AS (${countRuns(sql`ended`)}
  ), details AS (
    INSERT INTO run_details AS d (id, owner_id, logs, timings, memory_peak_bytes, return_value, return_value_cut)
    SELECT id, owner_id, logs, timings, memory_peak_bytes, return_value, return_value_cut FROM ended
    ON CONFLICT (id) DO UPDATE SET logs = excluded.logs, timings = excluded.timings,
      memory_peak_bytes = excluded.memory_peak_bytes, return_value = excluded.return_value,
      return_value_cut = excluded.return_value_cut
  ), retried AS (
    SELECT e.*, v.version FROM ends e JOIN vals v ON v.id = e.val_id AND v.owner_id = e.owner_id
    WHERE e.status IN ('failed', 'timed_out') AND e.attempt < e.attempts AND NOT e.cancel_requested
    FOR KEY SHARE OF v
  ), retry_history AS (
    INSERT INTO runs (id, owner_id, val_id, parent_id, version, source, status)
    SELECT retry_id, owner_id, val_id, run_id, version, source, 'queued' FROM retried
  ), retry_details AS (
    INSERT INTO run_details (id, owner_id, args)
    SELECT t.retry_id, t.owner_id, d.args FROM retried t JOIN run_details d ON d.id = t.run_id
    WHERE d.args IS NOT NULL
  ), retry_queue AS (
    INSERT INTO queue (run_id, owner_id, val_id, source, due_at, args_bytes, attempt, attempts, backoff_ms)
    SELECT retry_id, owner_id, val_id, source, now() + make_interval(secs =>
        least(backoff_ms * 2 ^ (attempt - 1), ${sql.lit(limits.retryPauseMsMax)}) / 1000.0),
      args_bytes, attempt + 1, attempts, backoff_ms FROM retried
  )
  SELECT e.id, e.status, e.owner_id, e.val_id, e.source, e.version, e.error, e.ended_at,
    e.id IN (SELECT t.run_id FROM retried t) AS is_retried
  FROM ended e`

interface ReportedEnds {
  run_ids: readonly string[]
  /** JSON: reports by the run's id and its runner's, with a space between them. */
  reports: string
}

/** What runners report. Only what its own runner says of a run counts. */
export const endReported = statement<ReportedEnds, EndedRow>(
  (arg) => sql<EndedRow>`
    WITH locked AS (
      SELECT run_id FROM queue WHERE run_id = ANY(${arg('run_ids')}::uuid[])
        AND jsonb_exists(${arg('reports')}::jsonb, run_id || ' ' || runner_id)
      ORDER BY run_id FOR UPDATE
    ), ending AS (
      DELETE FROM queue WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked)) RETURNING *
    ), ends AS (
      SELECT e.*, r.version AS version_run, r.status, r.error, r.logs, r.timings,
        to_timestamp(r."startedAtMs" / 1000.0) AS started_at, to_timestamp(r."endedAtMs" / 1000.0) AS ended_at,
        r."memoryPeakBytes" AS memory_peak_bytes, r."returnValue" AS return_value,
        r."returnValueCut" AS return_value_cut, r."retryId" AS retry_id
      FROM ending e CROSS JOIN LATERAL jsonb_to_record(
        ${arg('reports')}::jsonb -> (e.run_id || ' ' || e.runner_id)) AS r(
        version integer, status run_status, error jsonb, timings jsonb, "startedAtMs" bigint, "endedAtMs" bigint,
        logs jsonb, "memoryPeakBytes" bigint, "returnValue" jsonb, "returnValueCut" boolean, "retryId" uuid)
    ), ${writeEnds}`,
)

/** Whose runner is gone, or has forgotten them: nobody will ever report these. */
function loseStatement<Args extends object>(
  which: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => RawBuilder<unknown>,
) {
  type All = Args & { retry_ids: readonly string[]; error: string; limit: number }
  return statement<All, EndedRow>(
    (arg) => sql<EndedRow>`
      WITH locked AS (
        SELECT run_id FROM queue WHERE ${which(arg)} ORDER BY run_id LIMIT ${arg('limit')} FOR UPDATE
      ), ending AS (
        DELETE FROM queue WHERE run_id = ANY(ARRAY(SELECT run_id FROM locked)) RETURNING *
      ), ends AS (
        SELECT e.*, CASE WHEN e.cancel_requested THEN 'canceled'::run_status ELSE 'failed' END AS status,
          CASE WHEN e.cancel_requested THEN ${sql.lit(JSON.stringify(canceledError))}::jsonb
            ELSE ${arg('error')}::jsonb END AS error,
          NULL::integer AS version_run, e.claimed_at AS started_at, now() AS ended_at, NULL::jsonb AS logs,
          NULL::jsonb AS timings, NULL::bigint AS memory_peak_bytes, NULL::jsonb AS return_value,
          NULL::boolean AS return_value_cut,
          (${arg('retry_ids')}::uuid[])[row_number() OVER (ORDER BY e.run_id)] AS retry_id
        FROM ending e
      ), ${writeEnds}`,
  )
}

export const loseRunsOfRunner = loseStatement<{ runner_id: string }>(
  (arg) => sql`runner_id = ${arg('runner_id')}`,
)

interface Forgotten {
  runner_id: string
  claims_settled: number
  run_ids: readonly string[]
}

export const loseForgottenRuns = loseStatement<Forgotten>(
  (arg) => sql`run_id = ANY(${arg('run_ids')}::uuid[]) AND runner_id = ${arg('runner_id')}
    AND claim_number <= ${arg('claims_settled')}`,
)

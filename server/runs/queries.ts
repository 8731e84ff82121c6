import { type RawBuilder, sql } from 'kysely'
import type { RunDetails, RunError, RunSource, RunStatus } from '@valley/contract/runs.ts'
import { listStatement } from '../database/list-statement.ts'
import { statement } from '../database/statement.ts'
import { countRuns } from '../usage/count-runs.ts'
import type { MentionRow } from '../vals/val-row.ts'

/** Of `runs` r, `vals` v, its owner u, and the row of `queue` q that a run has until it is over: claimed, it runs. */
const runColumns = sql`r.id, r.parent_id, r.source, r.error, r.ended_at,
  CASE WHEN q.claimed_at IS NULL THEN r.status ELSE 'running' END AS status,
  coalesce(r.started_at, q.claimed_at) AS started_at,
  v.id AS val_id, v.name AS val_name, v.privacy AS val_privacy, r.version AS val_version,
  v.owner_id AS val_owner_id, u.username AS val_username`

export interface RunRow extends MentionRow {
  readonly id: string
  readonly parent_id: string | null
  readonly source: RunSource
  readonly status: RunStatus
  readonly error: RunError | null
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

export interface RunDetailsRow extends RunRow {
  readonly args: RunDetails['args'] | null
  readonly return_value: RunDetails['returnValue']
  readonly return_value_cut: boolean | null
  readonly logs: RunDetails['logs'] | null
  readonly request: RunDetails['request']
  readonly response: RunDetails['response']
  readonly timings: RunDetails['timings'] | null
  /** A bigint, which pg reads as text. */
  readonly memory_peak_bytes: string | null
}

/** Of a run that has not ended, the arguments are all that there is of details. */
export const selectRun = statement<{ id: string; owner_id: string }, RunDetailsRow>(
  (arg) => sql<RunDetailsRow>`
    SELECT ${runColumns}, d.args, d.return_value, d.return_value_cut, d.logs, d.request, d.response, d.timings, d.memory_peak_bytes
    FROM runs r JOIN vals v ON v.id = r.val_id JOIN users u ON u.id = v.owner_id
      LEFT JOIN run_details d ON d.id = ${arg('id')} LEFT JOIN queue q ON q.run_id = ${arg('id')}
    WHERE r.id = ${arg('id')} AND r.owner_id = ${arg('owner_id')}`,
)

interface TailArgs {
  token_id: string
  owner_id: string
  val_id: string
}

/** A row as long as the token is good and the val is its owner's. */
export const selectMayTail = statement<TailArgs, object>(
  (arg) => sql<object>`
    SELECT FROM tokens t JOIN vals v ON v.id = ${arg('val_id')} AND v.owner_id = ${arg('owner_id')}
    WHERE t.id = ${arg('token_id')} AND t.owner_id = ${arg('owner_id')}
      AND (t.expires_at IS NULL OR t.expires_at > now())`,
)

interface RunArgs {
  owner_id: string
  /** null: the runs of all the owner's vals. */
  val_id: string | null
  sources: readonly RunSource[]
}

/** What makes one list of runs another statement: each has an index that holds its rows in order. */
export interface RunShape {
  readonly ofOneVal: boolean
  readonly error: boolean | undefined
  readonly sources: 'any' | 'some' | 'notHttp'
}

type ListRuns = ReturnType<typeof writeListRuns>
const written = new Map<string, ListRuns>()

export function selectRuns(shape: RunShape): ListRuns {
  const key = JSON.stringify(shape)
  const known = written.get(key) ?? writeListRuns(shape)
  written.set(key, known)
  return known
}

function writeListRuns({ ofOneVal, error, sources }: RunShape) {
  return listStatement<RunArgs, RunRow>(
    (arg, span) => sql<RunRow>`
      SELECT ${runColumns}
      FROM runs r JOIN vals v ON v.id = r.val_id JOIN users u ON u.id = v.owner_id
        CROSS JOIN LATERAL (SELECT CASE WHEN r.status = 'queued' THEN claimed_at_of(r.id) END AS claimed_at) q
      WHERE r.owner_id = ${arg('owner_id')} AND ${span.within(sql.ref('r.id'))}
        ${ofOneVal ? sql`AND r.val_id = ${arg('val_id')}` : sql``}
        ${endedAs(error)}
        ${sources === 'any' ? sql`` : sql`AND r.source = ANY(${arg('sources')}::run_source[])`}
        ${sources === 'notHttp' ? sql`AND r.source <> 'http'` : sql``}
      ORDER BY r.id ${span.order} ${span.extent}`,
  )
}

function endedAs(error: boolean | undefined): RawBuilder<unknown> {
  if (error === undefined) return sql``
  return error ? sql`AND r.status IN ('failed', 'timed_out', 'canceled')` : sql`AND r.status = 'succeeded'`
}

/**
 * Records reports, given as a JSON array. A val that is gone gets no rows: its purge may be over, and would leave them.
 * The lock keeps a val from going meanwhile; saves of it do not wait for that.
 */
export const insertRuns = statement<{ reports: string }, { recorded: number; known: number }>(
  (arg) => sql<{ recorded: number; known: number }>`
    WITH known AS MATERIALIZED (
      SELECT r.* FROM jsonb_to_recordset(${arg('reports')}::jsonb) AS r(
        id uuid, "valId" uuid, "ownerId" uuid, version integer, source run_source, status run_status, error jsonb,
        "startedAtMs" bigint, "endedAtMs" bigint, request jsonb, response jsonb, timings jsonb,
        "memoryPeakBytes" bigint, logs jsonb)
      JOIN vals v ON v.id = r."valId" AND v.owner_id = r."ownerId"
      FOR KEY SHARE OF v
    ), recorded AS (
      INSERT INTO runs (id, owner_id, val_id, version, source, status, started_at, ended_at, error)
      SELECT id, "ownerId", "valId", version, source, status, to_timestamp("startedAtMs" / 1000.0),
        to_timestamp("endedAtMs" / 1000.0), error
      FROM known ON CONFLICT DO NOTHING RETURNING owner_id, status, started_at, ended_at
    ), counted AS (${countRuns(sql`recorded`)}
    ), details AS (
      INSERT INTO run_details (id, owner_id, logs, request, response, timings, memory_peak_bytes)
      SELECT id, "ownerId", logs, request, response, timings, "memoryPeakBytes"
      FROM known ON CONFLICT DO NOTHING
    )
    SELECT (SELECT count(*)::integer FROM recorded) AS recorded, (SELECT count(*)::integer FROM known) AS known`,
)

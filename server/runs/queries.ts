import { type RawBuilder, sql } from 'kysely'
import type { RunError, RunSource, RunStatus } from '@valley/contract/runs.ts'
import { listStatement } from '../database/list-statement.ts'
import type { MentionRow } from '../vals/val-row.ts'

export interface RunRow extends MentionRow {
  readonly id: string
  readonly parent_id: string | null
  readonly source: RunSource
  readonly status: RunStatus
  readonly error: RunError | null
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

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
      SELECT r.id, r.parent_id, r.source, r.status, r.error, r.started_at, r.ended_at,
        v.id AS val_id, v.name AS val_name, v.privacy AS val_privacy, r.version AS val_version,
        v.owner_id AS val_owner_id, u.username AS val_username
      FROM runs r JOIN vals v ON v.id = r.val_id JOIN users u ON u.id = v.owner_id
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

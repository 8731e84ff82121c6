import type pg from 'pg'

/** What the database says in the end. */
export interface Facts {
  readonly runs: ReadonlyMap<string, RunFact>
  readonly firings: readonly FiringFact[]
  readonly queued: readonly string[]
}

export interface RunFact {
  readonly id: string
  readonly val_id: string
  readonly parent_id: string | null
  readonly source: 'api' | 'schedule' | 'http'
  readonly status: string
  readonly error_name: string | null
  readonly error_message: string | null
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

export interface FiringFact {
  readonly val_id: string
  readonly planned_at: Date
  readonly outcome: 'fired' | 'skipped' | 'missed' | 'refused'
  readonly run_id: string | null
  readonly through_at: Date | null
  readonly count: number | null
}

export async function readFacts(client: pg.Client): Promise<Facts> {
  const { rows: runs } = await client.query<RunFact>(
    `SELECT id, val_id, parent_id, source, status, error ->> 'name' AS error_name,
       error ->> 'message' AS error_message, started_at, ended_at FROM runs`,
  )
  const { rows: firings } = await client.query<FiringFact>(
    'SELECT val_id, planned_at, outcome, run_id, through_at, count FROM firings ORDER BY val_id, planned_at',
  )
  const { rows: queue } = await client.query<{ run_id: string }>('SELECT run_id FROM queue')
  return {
    runs: new Map(runs.map((run) => [run.id, run])),
    firings,
    queued: queue.map(({ run_id }) => run_id),
  }
}

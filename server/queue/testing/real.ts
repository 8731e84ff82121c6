import { sql } from 'kysely'
import type { RunReport } from '@valley/bus/run-report.ts'
import { newId } from '../../database/ids.ts'
import type { Db } from '../../database/statement.ts'
import type { ClaimDesk } from '../claim-runs.ts'
import type { EndStatus, ModelRun } from './model.ts'

/** The queue itself, with the vals whose runs are in it. */
export interface Real {
  readonly db: Db
  readonly desk: ClaimDesk
  readonly bounds: { readonly ownerRunsMax: number; readonly valRunsMax: number }
  readonly vals: readonly { readonly id: string; readonly ownerId: string }[]
}

/** What is kept of a run, in the history and in the queue. */
export interface StoredRun {
  readonly id: string
  readonly parent_id: string | null
  readonly status: string
  readonly error: { readonly name: string } | null
  readonly ended_at: Date | null
  readonly queue_id: string | null
  readonly runner_id: string | null
  readonly claim_number: string | null
  readonly cancel_requested: boolean | null
  readonly attempt: number | null
  readonly owner_id: string
  readonly val_id: string
}

export async function readRuns(db: Db): Promise<readonly StoredRun[]> {
  const { rows } = await sql<StoredRun>`
    SELECT r.id, r.parent_id, r.status, r.error, r.ended_at, r.owner_id, r.val_id, q.run_id AS queue_id,
      q.runner_id, q.claim_number, q.cancel_requested, q.attempt
    FROM runs r LEFT JOIN queue q ON q.run_id = r.id ORDER BY r.id`.execute(db)
  return rows
}

/** Every change of a status, as the database itself saw it. */
export async function watchStatuses(db: Db): Promise<void> {
  await sql`CREATE TABLE status_changes (run_id uuid, before run_status, after run_status)`.execute(db)
  await sql`
    CREATE FUNCTION note_status() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO status_changes VALUES (NEW.id, OLD.status, NEW.status); RETURN NULL; END'`.execute(db)
  await sql`
    CREATE TRIGGER note_status AFTER UPDATE ON runs FOR EACH ROW EXECUTE FUNCTION note_status()`.execute(db)
}

export async function readStatusChanges(db: Db): Promise<ReadonlyMap<string, readonly string[]>> {
  const { rows } = await sql<{ run_id: string; change: string }>`
    SELECT run_id, before || ' → ' || after AS change FROM status_changes`.execute(db)
  const byRun = Map.groupBy(rows, ({ run_id }) => run_id)
  return new Map([...byRun].map(([id, changes]) => [id, changes.map(({ change }) => change)]))
}

export async function forgetAll(db: Db): Promise<void> {
  for (const table of ['queue', 'runners', 'runs', 'run_details', 'status_changes']) {
    await sql`DELETE FROM ${sql.table(table)}`.execute(db)
  }
}

type Reported = Pick<ModelRun, 'id' | 'owner' | 'val'>

export function reportBy(runnerId: string, { id, owner, val }: Reported, status: EndStatus): RunReport {
  const now = Date.now()
  return {
    id,
    runnerId,
    ownerId: owner,
    valId: val,
    version: 1,
    source: 'api',
    status,
    error: status === 'succeeded' ? null : { name: errorNameOf(status), message: newId() },
    startedAtMs: now,
    endedAtMs: now,
    request: null,
    response: null,
    timings: { queuedMs: 0, bootMs: 0, runMs: 0, cpuMs: null },
    memoryPeakBytes: null,
    logs: [],
  }
}

/** Of what was reported; what the servers say by themselves has names of its own. */
export function errorNameOf(status: EndStatus): string {
  return `Reported ${status}`
}

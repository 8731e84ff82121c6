import { sql } from 'kysely'
import type { RunError, RunSource, RunStatus } from '@valley/contract/runs.ts'
import type { Val } from '@valley/contract/vals.ts'
import { v7 } from 'uuid'
import type { TestServer } from './open-test-server.ts'

interface NewRun {
  readonly source?: RunSource
  readonly status?: RunStatus
  readonly error?: RunError
  readonly parentId?: string
  readonly createdAt?: Date
}

/** What the runner will do: the API has no route that makes a run yet. */
export async function insertRun({ db }: TestServer, val: Val, run: NewRun = {}): Promise<string> {
  const { source = 'http', status = 'succeeded', error, parentId = null, createdAt = new Date() } = run
  const id = idAt(createdAt)
  const hasStarted = status !== 'queued'
  const row = {
    id,
    owner_id: val.author.id,
    val_id: val.id,
    parent_id: parentId,
    version: val.version,
    source,
    status,
    started_at: hasStarted ? createdAt : null,
    ended_at: hasStarted && status !== 'running' ? createdAt : null,
    error: error === undefined ? null : JSON.stringify(error),
  }
  await db.insertInto('runs').values(row).execute()
  await sql`INSERT INTO run_details (id, owner_id, logs) VALUES (${id}, ${val.author.id}, '[]')`.execute(db)
  return id
}

interface Import {
  readonly importer: Val
  readonly imported: Val
  readonly createdAt?: Date
}

/** What the parser of imports will do. */
export async function insertReference({ db }: TestServer, { importer, imported, createdAt }: Import) {
  await db
    .insertInto('val_references')
    .values({
      id: idAt(createdAt ?? new Date()),
      owner_id: importer.author.id,
      val_id: importer.id,
      depends_on_owner_id: imported.author.id,
      depends_on_id: imported.id,
    })
    .execute()
  await db
    .updateTable('vals')
    .set(({ eb }) => ({ reference_count: eb('reference_count', '+', 1) }))
    .where('id', '=', imported.id)
    .execute()
}

/** Within one millisecond the sequence grows, so that rows order as they were inserted. */
function idAt(moment: Date): string {
  sequence = (sequence + 1) % 0x7f_ff_ff_ff
  return v7({ msecs: moment.getTime(), seq: sequence })
}

let sequence = 0

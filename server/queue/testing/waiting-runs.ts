import { sql } from 'kysely'
import { v7 } from 'uuid'
import type { Db } from '../../database/statement.ts'

/** What a test says of runs that wait; of the rest it does not care. */
export interface Waiting {
  readonly ownerId: string
  readonly valId: string
  readonly count?: number
  /** Before they are due, which only a further attempt is not at once; negative: they have been for as long. */
  readonly dueInMs?: number
  readonly argsBytes?: number
}

/** Puts rows into the queue as if enqueued, without vals and history: a claim looks at nothing else. */
export async function insertWaiting(db: Db, { ownerId, valId, count = 1, ...rest }: Waiting): Promise<void> {
  const { dueInMs = 0, argsBytes = 0 } = rest
  await sql`
    INSERT INTO queue (run_id, owner_id, val_id, source, due_at, args_bytes, attempt, attempts, backoff_ms)
    SELECT gen_random_uuid(), ${ownerId}, ${valId}, 'api', now() + make_interval(secs => ${dueInMs} / 1000.0),
      ${argsBytes}, ${dueInMs > 0 ? 2 : 1}, 2, 0 FROM generate_series(1, ${count})`.execute(db)
}

/** Ids in ascending order. */
export function newIds(count: number): readonly string[] {
  return Array.from({ length: count }, () => v7()).toSorted()
}

export async function emptyQueue(db: Db): Promise<void> {
  await sql`TRUNCATE queue, runners`.execute(db)
}

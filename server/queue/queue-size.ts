import type { Db } from '../database/statement.ts'
import { type QueueSize, selectQueueSize } from './queries.ts'

/** null when the database does not say. */
export async function findQueueSizeOrNull(db: Db): Promise<QueueSize | null> {
  return selectQueueSize(db, {}).then(
    ({ rows }) => rows[0] ?? null,
    () => null,
  )
}

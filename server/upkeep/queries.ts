import { type RawBuilder, sql } from 'kysely'
import { limits } from '@valley/contract/limits.ts'
import { statement } from '../database/statement.ts'
import { today } from '../database/today.ts'

/** Any constant will do: whoever holds it does the upkeep, the other servers leave it to them. */
const upkeepLock = 7_326_002

export const tryUpkeepLock = statement<object, { locked: boolean }>(
  () => sql<{ locked: boolean }>`SELECT pg_try_advisory_lock(${sql.lit(upkeepLock)}) AS locked`,
)

export const releaseUpkeepLock = statement<object, never>(
  () => sql<never>`SELECT pg_advisory_unlock(${sql.lit(upkeepLock)})`,
)

export const createRunPartitions = statement<{ days: number }, never>(
  (arg) => sql<never>`
    SELECT create_run_partitions(today - 1, today + ${arg('days')}::integer)
    FROM (SELECT (now() AT TIME ZONE 'UTC')::date AS today) day`,
)

/** What runs printed may go before they do. The day of a run that still waits stays, with its arguments. */
export const dropRunPartitions = statement<Retention, { dropped: number }>(
  (arg) => sql<{ dropped: number }>`
    SELECT drop_partitions('run_details', least(${today} - ${arg('logRetentionDays')}::integer, oldest))
      + drop_partitions('runs', least(${today} - ${arg('runRetentionDays')}::integer, oldest)) AS dropped
    FROM (SELECT (uuid_time((SELECT run_id FROM queue ORDER BY run_id LIMIT 1)) AT TIME ZONE 'UTC')::date
      AS oldest) queued`,
)

export interface Retention {
  readonly runRetentionDays: number
  readonly logRetentionDays: number
}

export const deleteOldKeys = statement<{ limit: number }, { key_hash: Buffer }>(
  (arg) => sql<{ key_hash: Buffer }>`
    DELETE FROM idempotency_keys WHERE (token_id, key_hash) IN (
      SELECT token_id, key_hash FROM idempotency_keys
      WHERE created_at < now() - make_interval(hours => ${sql.lit(limits.idempotencyKeyHours)})
      ORDER BY created_at LIMIT ${arg('limit')})
    RETURNING key_hash`,
)

export const deleteOldUsage = statement<{ days: number; limit: number }, { rows: number }>(
  (arg) => sql<{ rows: number }>`
    WITH gone AS (
      DELETE FROM usage WHERE (owner_id, day) IN (
        SELECT owner_id, day FROM usage WHERE day < ${today} - ${arg('days')}::integer
        ORDER BY day LIMIT ${arg('limit')})
      RETURNING 1
    ) SELECT count(*)::integer AS rows FROM gone`,
)

/** What became of planned times is known for as long as the runs are. */
export const deleteOldFirings = statement<{ days: number; limit: number }, { rows: number }>(
  (arg) => sql<{ rows: number }>`
    WITH gone AS (
      DELETE FROM firings WHERE (val_id, planned_at) IN (
        SELECT val_id, planned_at FROM firings
        WHERE planned_at < now() - make_interval(days => ${arg('days')})
        ORDER BY planned_at LIMIT ${arg('limit')})
      RETURNING 1
    ) SELECT count(*)::integer AS rows FROM gone`,
)

export interface DeletedVal {
  readonly val_id: string
  readonly owner_id: string
}

export const selectDeletedVals = statement<{ limit: number }, DeletedVal>(
  (arg) => sql<DeletedVal>`
    SELECT val_id, owner_id FROM deleted_vals ORDER BY deleted_at LIMIT ${arg('limit')}`,
)

export const forgetDeletedVal = statement<{ val_id: string }, never>(
  (arg) => sql<never>`DELETE FROM deleted_vals WHERE val_id = ${arg('val_id')}`,
)

interface PurgeArgs {
  val_id: string
  owner_id: string
  limit: number
}

type Arg = <Name extends keyof PurgeArgs>(name: Name) => PurgeArgs[Name]

/** Deletes a batch and tells how many rows there were. `key` names the rows of the batch. */
function purge(table: string, key: string, where: (arg: Arg) => RawBuilder<unknown>) {
  return statement<PurgeArgs, { rows: number }>(
    (arg) => sql<{ rows: number }>`
      WITH gone AS (
        DELETE FROM ${sql.table(table)} WHERE (${sql.raw(key)}) IN (
          SELECT ${sql.raw(key)} FROM ${sql.table(table)} WHERE ${where(arg)} LIMIT ${arg('limit')})
        RETURNING 1
      ) SELECT count(*)::integer AS rows FROM gone`,
  )
}

/** The batch of a val's versions also releases their texts. */
const purgeVersions = statement<PurgeArgs, { rows: number }>(
  (arg) => sql<{ rows: number }>`
    WITH gone AS (
      DELETE FROM versions WHERE owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')} AND version IN (
        SELECT version FROM versions WHERE owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')}
        LIMIT ${arg('limit')})
      RETURNING code_hash
    ), released AS (INSERT INTO released_codes (hash) SELECT DISTINCT code_hash FROM gone
      ON CONFLICT (hash) DO UPDATE SET released_at = now())
    SELECT count(*)::integer AS rows FROM gone`,
)

/** What a val imported is imported by one less. */
const purgeReferencesFrom = statement<PurgeArgs, { rows: number }>(
  (arg) => sql<{ rows: number }>`
    WITH gone AS (
      DELETE FROM val_references WHERE val_id = ${arg('val_id')} AND depends_on_id IN (
        SELECT depends_on_id FROM val_references WHERE val_id = ${arg('val_id')} LIMIT ${arg('limit')})
      RETURNING depends_on_id
    ), counted AS (
      UPDATE vals SET reference_count = reference_count - 1 WHERE id IN (SELECT depends_on_id FROM gone)
    ) SELECT count(*)::integer AS rows FROM gone`,
)

/** Runs go together with their details: whose the details are is known only through the runs. */
const purgeRuns = statement<PurgeArgs, { rows: number }>(
  (arg) => sql<{ rows: number }>`
    WITH batch AS (
      SELECT id FROM runs WHERE owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')} LIMIT ${arg('limit')}
    ), details AS (DELETE FROM run_details WHERE id IN (SELECT id FROM batch)),
    gone AS (DELETE FROM runs WHERE id IN (SELECT id FROM batch) RETURNING 1)
    SELECT count(*)::integer AS rows FROM gone`,
)

/** What waits and what runs: each has an index of its own. */
function purgeQueue(state: RawBuilder<unknown>) {
  return purge(
    'queue',
    'run_id',
    (arg) => sql`owner_id = ${arg('owner_id')} AND val_id = ${arg('val_id')} AND ${state}`,
  )
}

export const purges = {
  // Before their history: what runs learns of it with its runner's next beat, and what waits never begins.
  queueWaiting: purgeQueue(sql`runner_id IS NULL`),
  queueRunning: purgeQueue(sql`runner_id IS NOT NULL`),
  retryPolicies: purge('retry_policies', 'val_id', (arg) => sql`val_id = ${arg('val_id')}`),
  versions: purgeVersions,
  likes: purge('likes', 'user_id, val_id', (arg) => sql`val_id = ${arg('val_id')}`),
  comments: purge('comments', 'id', (arg) => sql`val_id = ${arg('val_id')}`),
  referencesFrom: purgeReferencesFrom,
  referencesTo: purge(
    'val_references',
    'val_id, depends_on_id',
    (arg) => sql`depends_on_id = ${arg('val_id')}`,
  ),
  runs: purgeRuns,
  schedules: purge('schedules', 'val_id', (arg) => sql`val_id = ${arg('val_id')}`),
  firings: purge('firings', 'val_id, planned_at', (arg) => sql`val_id = ${arg('val_id')}`),
  variables: purge(
    'variables',
    'owner_id, holder_id, name',
    (arg) => sql`owner_id = ${arg('owner_id')} AND holder_id = ${arg('val_id')}`,
  ),
  deliveries: purge('deliveries', 'id', (arg) => sql`val_id = ${arg('val_id')}`),
  alerts: purge('alerts', 'val_id', (arg) => sql`val_id = ${arg('val_id')}`),
} as const

export const selectReleasedCodes = statement<{ limit: number }, { hash: Buffer }>(
  (arg) => sql<{ hash: Buffer }>`SELECT hash FROM released_codes ORDER BY released_at LIMIT ${arg('limit')}`,
)

export const deleteUnusedCode = statement<{ hash: Buffer }, { hash: Buffer }>(
  (arg) => sql<{ hash: Buffer }>`
    DELETE FROM codes c WHERE c.hash = ${arg('hash')}
      AND NOT EXISTS (SELECT FROM versions n WHERE n.code_hash = c.hash) RETURNING hash`,
)

export const forgetReleasedCode = statement<{ hash: Buffer }, never>(
  (arg) => sql<never>`DELETE FROM released_codes WHERE hash = ${arg('hash')}`,
)

import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Db } from '../database/statement.ts'
import { keepDoing } from '../keep-doing.ts'
import { limits } from '../limits.ts'
import type { Observations } from '../observations.ts'
import * as queries from './queries.ts'

interface Upkeep {
  readonly db: Db
  readonly config: Config
  readonly observe: Observations
}

/** Keeps the house while the server runs. When this returns, today's partitions are there; the rest goes on. */
export async function startUpkeep(upkeep: Upkeep): Promise<AsyncDisposable> {
  await queries.createRunPartitions(upkeep.db, { days: limits.runPartitionsAheadDays })
  return keepDoing((stop) => keepUp(upkeep, stop))
}

async function keepUp(upkeep: Upkeep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await upkeepRound(upkeep, signal)
    await sleep(limits.upkeepIntervalMs, undefined, { signal }).catch(() => {})
  }
}

/** A round that fails is tried again with the next one. */
async function upkeepRound({ db, config, observe }: Upkeep, signal: AbortSignal): Promise<void> {
  try {
    const done = await upkeepOnce(db, config, signal)
    if (done && Object.values(done).some((count) => count > 0)) observe.upkeepDone(done)
  } catch (error) {
    observe.upkeepFailed(error)
  }
}

/** One round, by one server at a time; null when another one is at it. Between two batches it can be ended. */
export async function upkeepOnce(db: Db, retention: queries.Retention, signal?: AbortSignal) {
  // The lock belongs to a connection, so the round keeps one of its own.
  return db.connection().execute(async (connection) => {
    const [lock] = (await queries.tryUpkeepLock(connection, {})).rows
    if (!lock?.locked) return null
    try {
      return await keepHouse({ db: connection, signal }, retention)
    } finally {
      await queries.releaseUpkeepLock(connection, {})
    }
  })
}

interface Round {
  readonly db: Db
  readonly signal: AbortSignal | undefined
}

async function keepHouse(round: Round, retention: queries.Retention) {
  const { db } = round
  await queries.createRunPartitions(db, { days: limits.runPartitionsAheadDays })
  const [partitions] = (await queries.dropRunPartitions(db, retention)).rows
  const keysDeleted = await inBatches(
    round,
    async (limit) => (await queries.deleteOldKeys(db, { limit })).rows.length,
  )
  const firingsDeleted = await inBatches(round, async (limit) => {
    const [deleted] = (await queries.deleteOldFirings(db, { days: retention.runRetentionDays, limit })).rows
    return deleted?.rows ?? 0
  })
  const usageDeleted = await inBatches(round, async (limit) => {
    const [deleted] = (await queries.deleteOldUsage(db, { days: limits.usageKeptDays, limit })).rows
    return deleted?.rows ?? 0
  })
  const { valsPurged, errors } = await purgeDeletedVals(round)
  const codesDeleted = await deleteReleasedCodes(round)
  if (errors.length > 0)
    throw new AggregateError(errors, `${errors.length} deleted vals could not be purged.`)
  return {
    partitionsDropped: partitions?.dropped ?? 0,
    keysDeleted,
    firingsDeleted,
    usageDeleted,
    valsPurged,
    codesDeleted,
  }
}

/** A val that cannot be purged does not keep the others from it. */
async function purgeDeletedVals(round: Round) {
  const { rows: deleted } = await queries.selectDeletedVals(round.db, { limit: limits.upkeepBatchRows })
  const errors: unknown[] = []
  for (const val of deleted) {
    if (round.signal?.aborted) break
    try {
      if (await purgeVal(round, val)) await queries.forgetDeletedVal(round.db, { val_id: val.val_id })
    } catch (error) {
      errors.push(error)
    }
  }
  return { valsPurged: deleted.length - errors.length, errors }
}

/** Whether all of it is gone; what was too much for one round is left for the next. */
async function purgeVal(round: Round, { val_id, owner_id }: queries.DeletedVal): Promise<boolean> {
  for (const purge of Object.values(queries.purges)) {
    const rows = await inBatches(round, async (limit) => {
      const [purged] = (await purge(round.db, { val_id, owner_id, limit })).rows
      return purged?.rows ?? 0
    })
    if (round.signal?.aborted || rows >= limits.upkeepBatchRows * limits.upkeepBatchesMax) return false
  }
  return true
}

async function deleteReleasedCodes({ db, signal }: Round): Promise<number> {
  const { rows: released } = await queries.selectReleasedCodes(db, { limit: limits.upkeepBatchRows })
  let deleted = 0
  for (const { hash } of released) {
    if (signal?.aborted) break
    // Forgotten first: a deletion that releases the text once more meanwhile waits for this, and is then not lost.
    await queries.forgetReleasedCode(db, { hash })
    deleted += (await queries.deleteUnusedCode(db, { hash })).rows.length
  }
  return deleted
}

/** Repeats until a batch is not full, within a bound; what is left waits for the next round. */
async function inBatches(
  { signal }: Round,
  deleteBatch: (limit: number) => Promise<number>,
): Promise<number> {
  let total = 0
  for (let batch = 0; batch < limits.upkeepBatchesMax; batch++) {
    if (signal?.aborted) break
    const count = await deleteBatch(limits.upkeepBatchRows)
    total += count
    if (count < limits.upkeepBatchRows) break
  }
  return total
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { Observations } from '../observations.ts'
import * as queries from './queries.ts'

interface Upkeep {
  readonly db: Db
  readonly config: Config
  readonly observe: Observations
}

/** Keeps the house while the server runs. The first round is over when this returns: today's partitions are there. */
export async function startUpkeep(upkeep: Upkeep): Promise<AsyncDisposable> {
  const stop = new AbortController()
  await upkeepRound(upkeep)
  const running = keepUp(upkeep, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

async function keepUp(upkeep: Upkeep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(limits.upkeepIntervalMs, undefined, { signal }).catch(() => {})
    if (!signal.aborted) await upkeepRound(upkeep)
  }
}

/** A round that fails is tried again with the next one. */
async function upkeepRound({ db, config, observe }: Upkeep): Promise<void> {
  try {
    const done = await upkeepOnce(db, config.runRetentionDays)
    if (done && Object.values(done).some((count) => count > 0)) observe.upkeepDone(done)
  } catch (error) {
    observe.upkeepFailed(error)
  }
}

/** One round, by one server at a time; null when another one is at it. */
export async function upkeepOnce(db: Db, runRetentionDays: number) {
  // The lock belongs to a connection, so the round keeps one of its own.
  return db.connection().execute(async (connection) => {
    const [lock] = (await queries.tryUpkeepLock(connection, {})).rows
    if (!lock?.locked) return null
    try {
      return await keepHouse(connection, runRetentionDays)
    } finally {
      await queries.releaseUpkeepLock(connection, {})
    }
  })
}

async function keepHouse(db: Db, runRetentionDays: number) {
  await queries.createRunPartitions(db, { days: limits.runPartitionsAheadDays })
  const [partitions] = (await queries.dropRunPartitions(db, { days: runRetentionDays })).rows
  return {
    partitionsDropped: partitions?.dropped ?? 0,
    keysDeleted: await inBatches(async (limit) => (await queries.deleteOldKeys(db, { limit })).rows.length),
    valsPurged: await purgeDeletedVals(db),
    codesDeleted: await deleteReleasedCodes(db),
  }
}

async function purgeDeletedVals(db: Db): Promise<number> {
  const { rows: deleted } = await queries.selectDeletedVals(db, { limit: limits.upkeepBatchRows })
  for (const val of deleted) {
    if (await purgeVal(db, val)) await queries.forgetDeletedVal(db, { val_id: val.val_id })
  }
  return deleted.length
}

/** Whether all of it is gone; what was too much for one round is left for the next. */
async function purgeVal(db: Db, { val_id, owner_id }: queries.DeletedVal): Promise<boolean> {
  for (const purge of Object.values(queries.purges)) {
    const rows = await inBatches(
      async (limit) => (await purge(db, { val_id, owner_id, limit })).rows[0]?.rows ?? 0,
    )
    if (rows >= limits.upkeepBatchRows * limits.upkeepBatchesMax) return false
  }
  return true
}

async function deleteReleasedCodes(db: Db): Promise<number> {
  const { rows: released } = await queries.selectReleasedCodes(db, { limit: limits.upkeepBatchRows })
  let deleted = 0
  for (const { hash } of released) {
    // Forgotten first: should a save take the text up again and lose it once more, it is released once more.
    await queries.forgetReleasedCode(db, { hash })
    deleted += (await queries.deleteUnusedCode(db, { hash })).rows.length
  }
  return deleted
}

/** Repeats until a batch is not full, within a bound; what is left waits for the next round. */
async function inBatches(deleteBatch: (limit: number) => Promise<number>): Promise<number> {
  let total = 0
  for (let batch = 0; batch < limits.upkeepBatchesMax; batch++) {
    const count = await deleteBatch(limits.upkeepBatchRows)
    total += count
    if (count < limits.upkeepBatchRows) break
  }
  return total
}

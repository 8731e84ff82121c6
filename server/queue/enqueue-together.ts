import { isAboutData } from '../database/database-fault.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { enqueueRows, type NewRun } from './enqueue.ts'
import type { EnqueuedRow } from './transitions.ts'

interface Waiting {
  readonly run: NewRun
  readonly resolve: (row: EnqueuedRow | null) => void
  readonly reject: (error: unknown) => void
}

/**
 * Enqueues runs of several requests in one statement and one commit: while one is under way the next ones gather, so that
 * nobody waits for others to come. A hundred runs together cost what four cost one by one.
 */
export class EnqueueTogether {
  readonly #db: Db
  #waiting: Waiting[] = []
  #underWay = 0

  constructor(db: Db) {
    this.#db = db
  }

  /** null if the val is gone or not the owner's. */
  async add(run: NewRun): Promise<EnqueuedRow | null> {
    const { promise, resolve, reject } = Promise.withResolvers<EnqueuedRow | null>()
    this.#waiting.push({ run, resolve, reject })
    this.#begin()
    return promise
  }

  #begin(): void {
    if (this.#underWay >= limits.enqueuesUnderWayMax || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, limits.enqueuedAtOnceMax)
    this.#underWay += 1
    void this.#enqueue(batch).finally(() => {
      this.#underWay -= 1
      this.#begin()
    })
  }

  /** What one of them is to blame for must not fail the others. */
  async #enqueue(batch: readonly Waiting[]): Promise<void> {
    try {
      const rows = await enqueueRows(
        this.#db,
        batch.map(({ run }) => run),
      )
      const byId = new Map(rows.map((row) => [row.id, row]))
      for (const { run, resolve } of batch) resolve(byId.get(run.id) ?? null)
    } catch (error) {
      if (batch.length > 1 && isAboutData(error)) {
        for (const one of batch) await this.#enqueue([one])
      } else for (const { reject } of batch) reject(error)
    }
  }
}

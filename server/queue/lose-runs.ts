import type { RunError } from '@valley/contract/runs.ts'
import { newId } from '../database/ids.ts'
import type { Db, Statement } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { raiseForEnded } from './raise-for-ended.ts'
import type { EndedRow } from './transitions.ts'

const error = {
  name: 'RunnerLost',
  message:
    'The machine that ran this was lost. It may have run in part, in whole or not at all: run it again if it can bear that.',
} satisfies RunError

type LoseArgs<Args> = Args & { retry_ids: readonly string[]; error: string; limit: number }

export interface Lost {
  readonly runs: readonly EndedRow[]
  readonly alertsRaised: number
}

/** Ends what nobody will report any more, a batch at a time. */
export async function loseRuns<Args extends object>(
  db: Db,
  lose: Statement<LoseArgs<Args>, EndedRow>,
  which: Args,
): Promise<Lost> {
  const runs: EndedRow[] = []
  let alertsRaised = 0
  for (;;) {
    const lost = await loseBatch(db, lose, which)
    runs.push(...lost.runs)
    alertsRaised += lost.alertsRaised
    if (lost.runs.length < limits.lostAtOnceRows) return { runs, alertsRaised }
  }
}

async function loseBatch<Args extends object>(
  db: Db,
  lose: Statement<LoseArgs<Args>, EndedRow>,
  which: Args,
): Promise<Lost> {
  return db.transaction().execute(async (transaction) => {
    const { rows } = await lose(transaction, {
      ...which,
      retry_ids: Array.from({ length: limits.lostAtOnceRows }, newId),
      error: JSON.stringify(error),
      limit: limits.lostAtOnceRows,
    })
    return { runs: rows, alertsRaised: await raiseForEnded(transaction, rows) }
  })
}

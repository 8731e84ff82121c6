import type { RunError } from '@valley/contract/runs.ts'
import { newId } from '../database/ids.ts'
import type { Db, Statement } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { EndedRow } from './transitions.ts'

const error = {
  name: 'RunnerLost',
  message:
    'The machine that ran this was lost. It may have run in part, in whole or not at all: run it again if it can bear that.',
} satisfies RunError

type LoseArgs<Args> = Args & { retry_ids: readonly string[]; error: string; limit: number }

/** Ends what nobody will report any more, a batch at a time. */
export async function loseRuns<Args extends object>(
  db: Db,
  lose: Statement<LoseArgs<Args>, EndedRow>,
  which: Args,
): Promise<readonly EndedRow[]> {
  const lost: EndedRow[] = []
  for (;;) {
    const retryIds = Array.from({ length: limits.lostAtOnceRows }, newId)
    const { rows } = await lose(db, {
      ...which,
      retry_ids: retryIds,
      error: JSON.stringify(error),
      limit: limits.lostAtOnceRows,
    })
    lost.push(...rows)
    if (rows.length < limits.lostAtOnceRows) return lost
  }
}

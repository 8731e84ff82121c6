import type { RunDetails } from '@valley/contract/runs.ts'
import type { Caller } from '../caller.ts'
import type { Db } from '../database/statement.ts'
import { Fault } from '../fault.ts'
import { presentRunDetails } from './present-run.ts'
import { selectRun } from './queries.ts'

/** A run of a val of the caller's, with everything about it. */
export async function findRun(db: Db, caller: Caller, id: string): Promise<RunDetails> {
  const [row] = (await selectRun(db, { id, owner_id: caller.id })).rows
  if (!row) throw new Fault('not_found', 'There is no such run, or you may not see it.')
  return presentRunDetails(row)
}

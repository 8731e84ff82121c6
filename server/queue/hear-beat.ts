import type { ReplyBody, RequestBody } from '@valley/bus/requests.ts'
import type { Db } from '../database/statement.ts'
import { loseRuns, type Lost } from './lose-runs.ts'
import { type HeldRow, selectRunsOfRunner } from './queries.ts'
import { beat, giveBackClaims, loseForgottenRuns } from './transitions.ts'

export interface Heard {
  readonly reply: ReplyBody<'beat'>
  readonly lost: Lost
  readonly hasGivenBack: boolean
}

const nothing: Lost = { runs: [], alertsRaised: 0 }

/** A runner's sign of life, held against what the queue says it has. */
export async function hearBeat(
  db: Db,
  told: RequestBody<'beat'>,
  isRecorderBehind: () => Promise<boolean> = async () => false,
): Promise<Heard> {
  const runner_id = told.runnerId
  await beat(db, { runner_id })
  const abandoned = told.claimsAbandoned
  const [back] =
    abandoned.length > 0 ? (await giveBackClaims(db, { runner_id, claim_numbers: abandoned })).rows : []
  const { rows } = await selectRunsOfRunner(db, { runner_id })
  const forgotten = findForgotten(told, rows)
  const settled = { runner_id, claims_settled: told.claimsSettled }
  // Their reports may be among those that wait.
  const mayLose = forgotten.length > 0 && !(await isRecorderBehind())
  const lost = mayLose ? await loseRuns(db, loseForgottenRuns, { ...settled, run_ids: forgotten }) : nothing
  const held = new Set(rows.map(({ run_id }) => run_id))
  const known = new Set(told.runIds)
  return {
    reply: {
      kind: 'heard',
      canceled: rows
        .filter(({ run_id, cancel_requested }) => cancel_requested && known.has(run_id))
        .map(({ run_id }) => run_id),
      gone: told.runIds.filter((id) => !held.has(id)),
    },
    lost,
    hasGivenBack: (back?.given_back ?? 0) > 0,
  }
}

/**
 * Runs of claims that are settled and that the runner does not have: it reported them long ago, and the report never
 * came. Of a claim that is not settled it may not have heard yet.
 */
function findForgotten(told: RequestBody<'beat'>, rows: readonly HeldRow[]): readonly string[] {
  const known = new Set(told.runIds)
  const abandoned = new Set(told.claimsAbandoned)
  return rows
    .filter(({ run_id, claim_number }) => {
      const number = Number(claim_number)
      return number <= told.claimsSettled && !abandoned.has(number) && !known.has(run_id)
    })
    .map(({ run_id }) => run_id)
}

import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { ReplyBody, RequestBody } from '@valley/bus/requests.ts'
import { lowestId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { claim, type ClaimedRow } from './transitions.ts'

export interface ClaimBounds {
  readonly ownerRunsMax: number
  readonly valRunsMax: number
}

/** Hands out runs. It remembers whose turn was last: another server begins elsewhere, which does no harm. */
export class ClaimDesk {
  readonly #bounds: ClaimBounds
  #lastOwner = lowestId
  readonly #lastVals = new RecentMap<string, string>(limits.turnsRememberedMax)

  constructor(bounds: ClaimBounds) {
    this.#bounds = bounds
  }

  async claim(
    db: Db,
    { runnerId, claimNumber, wanted }: RequestBody<'claimRuns'>,
  ): Promise<ReplyBody<'claimRuns'>> {
    const { rows } = await claim(db, {
      runner_id: runnerId,
      claim_number: claimNumber,
      wanted: Math.min(wanted, limits.claimedAtOnceMax),
      bytes_max: limits.claimedArgsBytesMax,
      owner_runs_max: this.#bounds.ownerRunsMax,
      val_runs_max: this.#bounds.valRunsMax,
      after_owner: this.#lastOwner,
      after_vals: JSON.stringify(Object.fromEntries(this.#lastVals.entries())),
    })
    this.#noteTurns(rows)
    return { kind: 'claimed', runs: rows.map(toClaimed) }
  }

  /** Whoever was reached last had their turn: the next walk begins after them. */
  #noteTurns(rows: readonly ClaimedRow[]): void {
    for (const { owner_id, val_id } of rows.toSorted((a, b) => a.val_step - b.val_step)) {
      this.#lastVals.set(owner_id, val_id)
    }
    const last = rows.toSorted((a, b) => a.owner_step - b.owner_step).at(-1)
    if (last !== undefined) this.#lastOwner = last.owner_id
  }
}

function toClaimed({ run_id, owner_id, val_id, source, args }: ClaimedRow): ClaimedRun {
  return { id: run_id, ownerId: owner_id, valId: val_id, source, args: args ?? [] }
}

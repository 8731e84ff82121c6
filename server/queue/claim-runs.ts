import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { ReplyBody, RequestBody } from '@valley/bus/requests.ts'
import { lowestId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { selectAnyDue } from './queries.ts'
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

  /** Where a walk found nothing and did not see everybody, another follows: nobody waits behind many who may not run yet. */
  async claim(db: Db, asked: RequestBody<'claimRuns'>): Promise<ReplyBody<'claimRuns'>> {
    const startedAfter = this.#lastOwner
    let isNextLap = false
    for (let walks = 1; ; walks++) {
      const from = this.#lastOwner
      const rows = await this.#walk(db, asked)
      const claimed = rows.filter((row) => row.run_id !== null)
      isNextLap ||= this.#lastOwner <= from
      const hasSeenAll = rows.at(-1)?.val_id !== null || (isNextLap && this.#lastOwner >= startedAfter)
      if (claimed.length > 0 || hasSeenAll || walks === limits.walksPerClaimMax) {
        return { kind: 'claimed', runs: claimed.map(toClaimed), othersWait: await isAnyDue(db) }
      }
    }
  }

  async #walk(db: Db, asked: RequestBody<'claimRuns'>) {
    const { runnerId, claimNumber, wanted, wantedPerVal = wanted, fullVals = [] } = asked
    const { rows } = await claim(db, {
      runner_id: runnerId,
      claim_number: claimNumber,
      wanted: Math.min(wanted, limits.claimedAtOnceMax),
      bytes_max: limits.claimedArgsBytesMax,
      owner_runs_max: this.#bounds.ownerRunsMax,
      val_runs_max: this.#bounds.valRunsMax,
      after_owner: this.#lastOwner,
      after_vals: JSON.stringify(Object.fromEntries(this.#lastVals.entries())),
      val_wanted: wantedPerVal,
      except_vals: fullVals,
    })
    // In the order of the turns: the next walk begins after whoever is last here.
    for (const { owner_id, val_id } of rows) {
      this.#lastOwner = owner_id
      if (val_id !== null) this.#lastVals.set(owner_id, val_id)
    }
    return rows
  }
}

async function isAnyDue(db: Db): Promise<boolean> {
  const [found] = (await selectAnyDue(db, { limit: limits.dueLookedAtMax })).rows
  return found?.is_due ?? false
}

function toClaimed({ run_id, owner_id, val_id, source, args }: ClaimedRow): ClaimedRun {
  return { id: run_id, ownerId: owner_id, valId: val_id, source, args: args ?? [] }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { timeOf } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Observations } from '../observations.ts'
import { OwnerTurns } from './owner-turns.ts'
import { type Attempt, attemptDelivery, type Attempting } from './attempt-delivery.ts'
import {
  type DeliveryRow,
  endDelivery,
  pauseDelivery,
  postponeDelivery,
  takeDeliveries,
} from './delivery-queries.ts'

interface Deliverer extends Attempting {
  readonly db: Db
  readonly metrics: Pick<Metrics, 'deliveryAttempts'>
  readonly observe: Pick<Observations, 'alertSecretUnreadable' | 'alertGivenUp' | 'deliveringPaused'>
}

/** Delivers alerts that are due, together with all other servers. When disposed it finishes what is under way. */
export function startDeliverer(deliverer: Deliverer): AsyncDisposable {
  const stop = new AbortController()
  const giveUp = new AbortController()
  /** Each with the owner whose it is. */
  const underWay = new Map<Promise<void>, string>()
  const begin = (delivery: DeliveryRow) => {
    const delivering = deliver(deliverer, delivery, giveUp.signal).finally(() => underWay.delete(delivering))
    underWay.set(delivering, delivery.owner_id)
  }
  const turns = new OwnerTurns()
  const taking = (async () => {
    while (!stop.signal.aborted) {
      for (const delivery of await takeDue(deliverer, turns, [...underWay.values()])) begin(delivery)
      await sleep(limits.deliveryPollMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      const timer = setTimeout(() => giveUp.abort(), limits.drainTimeoutMs)
      await taking
      await Promise.all(underWay.keys())
      clearTimeout(timer)
    },
  }
}

/** Owners who have some under way wait until those are over. */
async function takeDue(
  { db, observe }: Deliverer,
  turns: OwnerTurns,
  busyOwners: readonly string[],
): Promise<readonly DeliveryRow[]> {
  const limit = limits.deliveriesAtOnceMax - busyOwners.length
  if (limit <= 0) return []
  try {
    const owners = await turns.next(db, { limit, except: new Set(busyOwners) })
    if (owners.length === 0) return []
    const { rows } = await takeDeliveries(db, {
      owners,
      limit,
      of_owner_max: limits.deliveriesOfOwnerMax,
      lease_ms: limits.deliveryLeaseMs,
    })
    return rows
  } catch (error) {
    observe.deliveringPaused(error)
    return []
  }
}

/** Never rejects. What could not be written down is tried again once its lease is over. */
async function deliver(deliverer: Deliverer, delivery: DeliveryRow, signal: AbortSignal): Promise<void> {
  try {
    await conclude(deliverer, delivery, await attemptDelivery(deliverer, delivery, signal))
  } catch (error) {
    deliverer.observe.deliveringPaused(error)
  }
}

async function conclude({ db, metrics, observe }: Deliverer, delivery: DeliveryRow, attempt: Attempt) {
  const { id, attempts_left, val_id } = delivery
  const taken = { id, attempts_left }
  const ageMs = Date.now() - timeOf(id).getTime()
  metrics.deliveryAttempts.inc({ outcome: attempt.kind })
  if (attempt.kind === 'delivered') {
    await endDelivery(db, { ...taken, ok: true, status: attempt.status, message: null })
    return
  }
  if (attempt.kind === 'not_tried' && ageMs < limits.deliveryAgeMaxMs) {
    const pause_ms = Math.round(Math.max(limits.deliveryAgainMsMin, ageMs / 4))
    await postponeDelivery(db, { ...taken, pause_ms })
    return
  }
  const { status, message } = attempt.kind === 'failed' ? attempt : nobodyThere
  const pause_ms = attempt.kind === 'failed' ? pauseBefore(attempts_left) : undefined
  if (pause_ms !== undefined) {
    await pauseDelivery(db, { ...taken, ok: false, status, message, pause_ms })
    return
  }
  await endDelivery(db, { ...taken, ok: false, status, message })
  observe.alertGivenUp({ valId: val_id, deliveryId: id, status })
}

const nobodyThere = { status: null, message: 'For a day there was nobody to deliver it.' }

/** How long to wait before the next attempt; undefined if that was the last. */
function pauseBefore(attemptsLeft: number): number | undefined {
  return attemptsLeft > 0 ? limits.deliveryPausesMs.at(-attemptsLeft) : undefined
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../database/statement.ts'
import { keepDoing } from '../keep-doing.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Observations } from '../observations.ts'
import type { Queue } from '../queue/queue.ts'
import { fireDue } from './fire-due.ts'
import { selectOutlook } from './queries.ts'
import { replanSteppedBack } from './replan.ts'
import type { Fired } from './write-firings.ts'

export interface SchedulerOptions {
  readonly db: Db
  readonly queue: Pick<Queue, 'allowance' | 'wake'>
  readonly metrics: Pick<Metrics, 'firings' | 'scheduleLag'>
  readonly observe: Pick<Observations, 'schedulerPaused' | 'scheduleBroken' | 'clockSteppedBack'>
}

/**
 * Fires schedules when they are due, together with any number of other servers. It looks ahead, sleeps until the next
 * planned time, but not for long, since there may be a new one, and deals with what is due batch by batch.
 */
export function startScheduler(options: SchedulerOptions): AsyncDisposable {
  return keepDoing((stop) => keepFiring(options, stop))
}

async function keepFiring(options: SchedulerOptions, signal: AbortSignal): Promise<void> {
  let pauseMs: number = limits.schedulerPauseMsMin
  while (!signal.aborted) {
    let restMs: number
    try {
      restMs = await fireAndLookAhead(options)
      pauseMs = limits.schedulerPauseMsMin
    } catch (error) {
      options.observe.schedulerPaused(error)
      restMs = pauseMs
      pauseMs = Math.min(pauseMs * 2, limits.schedulerPauseMsMax)
    }
    if (restMs > 0) await sleep(restMs, undefined, { signal }).catch(() => {})
  }
}

/** How long there is nothing to do now. */
async function fireAndLookAhead(options: SchedulerOptions): Promise<number> {
  const [outlook] = (await selectOutlook(options.db, {})).rows
  if (outlook?.is_stepped_back === true) {
    const replanned = await replanSteppedBack(options.db, options.observe.scheduleBroken)
    if (replanned > 0) options.observe.clockSteppedBack(replanned)
    return replanned > 0 ? 0 : limits.schedulerTurnMs
  }
  const dueInMs = outlook?.due_in_ms ?? limits.scheduleLookMs
  if (dueInMs > 0) return Math.min(Math.ceil(dueInMs), limits.scheduleLookMs)
  const fired = await fireDue(options.db, {
    allowance: options.queue.allowance,
    onBroken: options.observe.scheduleBroken,
  })
  tell(options, fired)
  // What is due and was not to be had is held by another server, or somebody writes to its val.
  return fired.decided > 0 ? 0 : limits.schedulerTurnMs
}

function tell({ metrics, queue }: SchedulerOptions, { outcomes }: Fired): void {
  for (const { outcome, lagMs } of outcomes) {
    metrics.firings.inc({ outcome })
    if (outcome === 'fired') metrics.scheduleLag.observe(lagMs / 1_000)
  }
  if (outcomes.some(({ outcome }) => outcome === 'fired')) queue.wake()
}

import { limits } from '../limits.ts'
import { lastPlannedTime, nextPlannedTime, type Timing } from './planned-times.ts'

export interface DueSchedule extends Timing {
  readonly overlap: 'skip' | 'queue'
  readonly missed: 'skip' | 'once'
  readonly nextAt: Date
  /** Whether a run that a planned time of before has made waits or runs. */
  readonly isBusy: boolean
}

/** What becomes of a planned time; of those that were missed, of many at once. */
export type Firing =
  | { readonly outcome: 'fired' | 'skipped'; readonly plannedAt: Date }
  | {
      readonly outcome: 'missed'
      readonly plannedAt: Date
      readonly throughAt: Date
      /** null: more than are counted. */
      readonly count: number | null
    }

export interface Decision {
  readonly firings: readonly Firing[]
  readonly nextAt: Date | null
}

/**
 * What to do about a schedule that is due. A planned time fires up to a minute late, one after the other. What is later
 * than that is missed, and so is all that was planned since: then the next time is one that is still to come, and at
 * most the latest of the missed ones fires after all.
 */
export function decideFiring(schedule: DueSchedule, now: Date, countMax: number): Decision {
  const { nextAt } = schedule
  if (now.getTime() - nextAt.getTime() <= limits.firingLateMsMax) {
    return { firings: [fire(schedule, nextAt)], nextAt: nextPlannedTime(schedule, nextAt) }
  }
  const last = lastPlannedTime(schedule, nextAt, now)
  const firings =
    schedule.missed === 'skip'
      ? [miss(schedule, last, countMax)]
      : [...missBefore(schedule, last, countMax), fire(schedule, last)]
  return { firings, nextAt: nextPlannedTime(schedule, now) }
}

function fire({ overlap, isBusy }: DueSchedule, plannedAt: Date): Firing {
  return { outcome: overlap === 'skip' && isBusy ? 'skipped' : 'fired', plannedAt }
}

function missBefore(schedule: DueSchedule, last: Date, countMax: number): readonly Firing[] {
  if (last <= schedule.nextAt) return []
  const through = lastPlannedTime(schedule, schedule.nextAt, new Date(last.getTime() - 1))
  return [miss(schedule, through, countMax)]
}

function miss(schedule: DueSchedule, throughAt: Date, countMax: number): Firing {
  let count = 1
  for (let time: Date | null = schedule.nextAt; time && time < throughAt && count <= countMax; count++) {
    time = nextPlannedTime(schedule, time)
  }
  return {
    outcome: 'missed',
    plannedAt: schedule.nextAt,
    throughAt,
    count: count > countMax ? null : count,
  }
}

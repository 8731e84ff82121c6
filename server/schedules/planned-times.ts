import { Cron } from 'croner'
import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'
import { fieldsOf, findFieldProblem } from './cron-fields.ts'
import { findZoneClockOrNull, type ZoneClock } from './zone-clock.ts'

export interface Timing {
  readonly cron: string
  readonly timeZone: string
}

/**
 * The first planned time after a moment; null when there is none. The library does the calendar; where a zone's clock
 * is changed, we decide, by the hour that the expression names:
 *
 * - `*` or a step is a rhythm. It fires whenever the clock shows a time that fits: in every hour that there is, also in
 *   both of a repeated one, and not in one that is left out. The library does the same.
 * - Anything else are times of the day, each once a day. A time that the clock shows twice fires the first time. One
 *   that it leaves out fires right after the gap, at the moment of the change, together with others of the gap. The
 *   library does so for a single time only, and would leave out or double the times of a list.
 */
export function nextPlannedTime(timing: Timing, after: Date): Date | null {
  const plan = planOf(timing)
  const next = nextOf(plan, after)
  if (!next || monthOf(plan, next) === monthOf(plan, after)) return next
  // From one month to the next the library (11.0.0) may pass the first two days: it takes March 2 for a February 30, and
  // finds its weekday before the 1st. Asked from the beginning of the month, it does not.
  return nextOf(plan, new Date(plan.clock.startOfMonth(next).getTime() - 1_000))
}

function nextOf(plan: Plan, after: Date): Date | null {
  return plan.isRhythm ? nextOfRhythm(plan, after) : nextTimeOfDay(plan, after)
}

/** Counted through the years. */
function monthOf({ clock }: Plan, moment: Date): number {
  const shown = clock.shownAt(moment)
  return shown.getUTCFullYear() * 12 + shown.getUTCMonth()
}

/** The last planned time in a span that begins with one. */
export function lastPlannedTime(timing: Timing, from: Date, until: Date): Date {
  let [last, end] = [from, until]
  // The next time after a moment never comes before the next time after an earlier one; two are a second apart.
  while (end.getTime() - last.getTime() > 1_000) {
    const middle = new Date((last.getTime() + end.getTime()) / 2)
    const next = nextPlannedTime(timing, middle)
    if (next && next <= until) last = next
    else end = middle
  }
  const next = nextPlannedTime(timing, last)
  return next && next <= until ? next : last
}

/** Why nothing can be planned by an expression; null when it can. */
export function findCronProblem(timing: Timing, after: Date): string | null {
  const problem = findFieldProblem(timing.cron)
  if (problem !== null) return problem
  try {
    const isEver = nextPlannedTime(timing, after) !== null
    return isEver ? null : 'never comes true: there is no such day. Change the day or the month'
  } catch (error) {
    // Each of its fields is good; how they are put together is not, such as LW in a list.
    return `is not understood: ${error instanceof Error ? error.message : String(error)}`
  }
}

export function isTimeZone(name: string): boolean {
  return findZoneClockOrNull(name) !== null
}

interface Plan {
  readonly isRhythm: boolean
  readonly clock: ZoneClock
  /** On a clock that is never changed. */
  readonly calendar: Cron
  /** In the zone, for where its clock is changed. */
  readonly inZone: () => Cron
}

const plans = new RecentMap<string, Plan>(limits.plansKeptMax)

function planOf({ cron, timeZone }: Timing): Plan {
  const key = `${timeZone} ${cron}`
  const known = plans.get(key)
  if (known) return known
  const clock = findZoneClockOrNull(timeZone)
  if (!clock) throw new RangeError(`There is no time zone ${timeZone}.`)
  const fields = fieldsOf(cron)
  const [, , hour = ''] = fields
  const isRhythm = /[*/]/.test(hour) || hour === '0-23'
  const build = (place: { utcOffset: number } | { timezone: string }) =>
    new Cron(fields.join(' '), { ...place, mode: '6-part' })
  let inZone: Cron | undefined
  const plan: Plan = {
    isRhythm,
    clock,
    calendar: build({ utcOffset: 0 }),
    inZone: () => (inZone ??= build({ timezone: clock.name })),
  }
  plans.set(key, plan)
  return plan
}

/** The library's own way, and a quicker one to the same where the clock is not changed meanwhile. */
function nextOfRhythm({ clock, calendar, inZone }: Plan, after: Date): Date | null {
  const shown = clock.shownAt(after)
  const next = calendar.nextRun(shown)
  if (!next) return null
  const aheadMs = shown.getTime() - after.getTime()
  const moment = new Date(next.getTime() - aheadMs)
  const isUnchanged = clock.shownAt(moment).getTime() === next.getTime()
  const isSoon = moment.getTime() - after.getTime() < limits.unchangedClockMsMax
  return isUnchanged && isSoon ? moment : inZone().nextRun(after)
}

/** Counts on the zone's clock, and then finds out when it shows that. */
function nextTimeOfDay({ clock, calendar }: Plan, after: Date): Date | null {
  let shown: Date | null = clock.shownAt(after)
  while (true) {
    shown = calendar.nextRun(shown)
    if (!shown) return null
    const moment = clock.firstShowing(shown)
    if (moment > after) return moment
    // The clock shows this for the second time; all that it shows twice with it has been.
    shown = clock.lastShownTwice(shown)
  }
}

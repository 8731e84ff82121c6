import { limits } from '../limits.ts'
import { RecentMap } from '../recent-map.ts'

const secondMs = 1_000
const dayMs = 86_400_000

const digits = {
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
} as const

const clocks = new RecentMap<string, ZoneClock>(limits.zonesKeptMax)

/** null: there is no such zone. Offsets such as +02:00 are none. */
export function findZoneClockOrNull(timeZone: string): ZoneClock | null {
  const known = clocks.get(timeZone)
  if (known) return known
  if (!/^[a-z]/i.test(timeZone)) return null
  try {
    const clock = new ZoneClock(timeZone)
    clocks.set(timeZone, clock)
    return clock
  } catch {
    return null
  }
}

/**
 * The clock of a time zone, which is put forward and back. What it shows is a Date with the same digits in UTC, so that
 * one can count with it. A zone changes its clock at most once within two days.
 */
export class ZoneClock {
  /** As Intl spells it, under whatever alias it was asked for. */
  readonly name: string
  readonly #format: Intl.DateTimeFormat

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { ...digits, timeZone })
    this.name = this.#format.resolvedOptions().timeZone
  }

  shownAt(moment: Date): Date {
    return new Date(moment.getTime() + this.#aheadMs(moment.getTime()))
  }

  /** When it shows this, the first time if it does so twice; when it jumps over it, if it never does. */
  firstShowing(shown: Date): Date {
    const { before, after } = this.#aheadAround(shown)
    const moment = shown.getTime() - before
    if (before === after || this.#aheadMs(moment) === before) return new Date(moment)
    const later = shown.getTime() - after
    if (this.#aheadMs(later) === after) return new Date(later)
    return this.#changeBetween(later, moment)
  }

  startOfMonth(moment: Date): Date {
    const shown = this.shownAt(moment)
    return this.firstShowing(new Date(Date.UTC(shown.getUTCFullYear(), shown.getUTCMonth())))
  }

  /** Of a time that it shows twice, the last second that it shows twice with it. */
  lastShownTwice(shown: Date): Date {
    const { before, after } = this.#aheadAround(shown)
    const change = this.#changeBetween(shown.getTime() - before, shown.getTime() - after)
    return new Date(Math.max(shown.getTime(), change.getTime() + before - secondMs))
  }

  /** How far it is ahead of UTC before and after the change that is nearest, in milliseconds. */
  #aheadAround(shown: Date) {
    const about = shown.getTime()
    return { before: this.#aheadMs(about - dayMs), after: this.#aheadMs(about + dayMs) }
  }

  /** When it is put forward or back, between two moments of which one is before that. */
  #changeBetween(from: number, until: number): Date {
    const ahead = this.#aheadMs(from)
    let [last, first] = [Math.floor(from / secondMs), Math.ceil(until / secondMs)]
    while (first - last > 1) {
      const middle = Math.floor((last + first) / 2)
      if (this.#aheadMs(middle * secondMs) === ahead) last = middle
      else first = middle
    }
    return new Date(first * secondMs)
  }

  #aheadMs(moment: number): number {
    if (this.name === 'UTC') return 0
    const part: Record<string, number> = {}
    for (const { type, value } of this.#format.formatToParts(moment)) part[type] = Number(value)
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
    const wholeSeconds = Math.floor(moment / secondMs) * secondMs
    return Date.UTC(year, month - 1, day, hour, minute, second) - wholeSeconds
  }
}

const hourMs = 3_600_000

/** A moment and what the clock of a zone shows then, as the Date of the same digits in UTC; in milliseconds. */
interface Reading {
  readonly moment: number
  readonly shown: number
}

/** What the clock of a zone shows, by Intl alone. */
function readClock(zone: string): (moment: number) => Reading {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  return (moment) => ({ moment, shown: Date.parse(`${format.format(moment).replace(' ', 'T')}Z`) })
}

/** When a zone puts its clock forward or back, to the half hour. */
export function changesOf(zone: string, from: string, until: string): readonly Date[] {
  const read = readClock(zone)
  const changes: Date[] = []
  let before = read(Date.parse(from))
  for (let moment = Date.parse(from); moment < Date.parse(until); moment += hourMs / 2) {
    const now = read(moment)
    if (now.shown - now.moment !== before.shown - before.moment) changes.push(new Date(moment))
    before = now
  }
  return changes
}

/** The clock of a zone once a second, for some hours before and after a change. */
export function readingsAround(zone: string, change: Date, hours: number): readonly Reading[] {
  const read = readClock(zone)
  const first = change.getTime() - hours * hourMs
  return Array.from({ length: 2 * hours * 3_600 }, (_, second) => read(first + second * 1_000))
}

/**
 * The planned times of an expression that names no days, by looking at the clock: the rule of `planned-times.ts` in its
 * plainest form.
 */
export function timesByTheClock(cron: string, readings: readonly Reading[]): readonly string[] {
  const fields = cron.split(' ')
  const [second = '', minute = '', hour = ''] = fields.length === 5 ? ['0', ...fields] : fields
  const isIn = [valuesOf(second, 60), valuesOf(minute, 60), valuesOf(hour, 24)] as const
  const fits = (shown: number) =>
    isIn[0].has((shown / 1_000) % 60) &&
    isIn[1].has(Math.floor(shown / 60_000) % 60) &&
    isIn[2].has(Math.floor(shown / hourMs) % 24)
  // The furthest that the clock has shown.
  let furthest = (readings[0]?.shown ?? 0) - 1_000
  const times: string[] = []
  for (const { moment, shown } of readings) {
    if (hour.includes('*') ? fits(shown) : isAnyAfter(furthest, shown, fits))
      times.push(new Date(moment).toISOString())
    furthest = Math.max(furthest, shown)
  }
  return times
}

/** Whether anything fits of what the clock shows for the first time, or has just jumped over. */
function isAnyAfter(furthest: number, shown: number, fits: (shown: number) => boolean): boolean {
  for (let time = furthest + 1_000; time <= shown; time += 1_000) if (fits(time)) return true
  return false
}

function valuesOf(field: string, size: number): ReadonlySet<number> {
  const values = field.split(',').flatMap((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [low = 0, high = low] = range === '*' ? [0, size - 1] : range.split('-').map(Number)
    return Array.from({ length: high - low + 1 }, (_, i) => low + i).filter(
      (value) => (value - low) % Number(step) === 0,
    )
  })
  return new Set(values)
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findCronProblem,
  isTimeZone,
  lastPlannedTime,
  nextPlannedTime,
  type Timing,
} from './planned-times.ts'
import { isNamed } from './testing/calendar.ts'
import { changesOf, readingsAround, timesByTheClock } from './testing/zone-rules.ts'

function plannedTimes(timing: Timing, from: string, until: string): readonly string[] {
  const [times, end]: [string[], Date] = [[], new Date(until)]
  let time = nextPlannedTime(timing, new Date(Date.parse(from) - 1))
  while (time && time <= end) {
    times.push(time.toISOString())
    time = nextPlannedTime(timing, time)
  }
  return times
}

/** `MM-DD HH:MM:SS`, in UTC. */
function shorten(time: string): string {
  return time.slice(5, 19).replace('T', ' ')
}

interface Around {
  readonly zone: string
  /** In UTC. */
  readonly from: string
  readonly until: string
  readonly expected: Readonly<Record<string, string>>
}

function holds({ zone, from, until, expected }: Around) {
  for (const [cron, times] of Object.entries(expected)) {
    const planned = plannedTimes({ cron, timeZone: zone }, from, until).map(shorten)
    assert.deepEqual(planned, times === '' ? [] : times.split(', '), `${cron} in ${zone}`)
  }
}

test('Berlin jumps from 2:00 to 3:00: a time in between fires once, at the jump; a rhythm goes on', () => {
  // The clock is one hour ahead until 01:00 UTC, then two.
  holds({
    zone: 'Europe/Berlin',
    from: '2026-03-28T23:30:00Z',
    until: '2026-03-30T00:30:00Z',
    expected: {
      '30 2 * * *': '03-29 01:00:00, 03-30 00:30:00',
      '15 30 2 * * *': '03-29 01:00:00',
      '0 3 * * *': '03-29 01:00:00',
      '0,20,40 2 * * *': '03-29 01:00:00, 03-30 00:00:00, 03-30 00:20:00',
      '30 1-3 * * *': '03-29 00:30:00, 03-29 01:00:00, 03-29 01:30:00, 03-29 23:30:00, 03-30 00:30:00',
      '30 2 28 * *': '',
      '30 2 L 3 *': '',
      '30 2 * * 1-5': '03-30 00:30:00',
      '30 2 * * sun': '03-29 01:00:00',
    },
  })
  holds({
    zone: 'Europe/Berlin',
    from: '2026-03-29T00:00:00Z',
    until: '2026-03-29T02:00:00Z',
    expected: {
      '0 * * * *': '03-29 00:00:00, 03-29 01:00:00, 03-29 02:00:00',
      '*/30 * * * *': '03-29 00:00:00, 03-29 00:30:00, 03-29 01:00:00, 03-29 01:30:00, 03-29 02:00:00',
      '30 */2 * * *': '',
      '30 0-23 * * *': '03-29 00:30:00, 03-29 01:30:00',
    },
  })
})

test('Berlin goes back from 3:00 to 2:00: a time in between fires the first time; a rhythm in both hours', () => {
  // The clock is two hours ahead until 01:00 UTC, then one.
  holds({
    zone: 'Europe/Berlin',
    from: '2026-10-24T23:30:00Z',
    until: '2026-10-26T01:30:00Z',
    expected: {
      '30 2 * * *': '10-25 00:30:00, 10-26 01:30:00',
      '15 30 2 * * *': '10-25 00:30:15',
      '0 3 * * *': '10-25 02:00:00',
      '0,20,40 2 * * *': '10-25 00:00:00, 10-25 00:20:00, 10-25 00:40:00, 10-26 01:00:00, 10-26 01:20:00',
      '30 1-3 * * *': '10-24 23:30:00, 10-25 00:30:00, 10-25 02:30:00, 10-26 00:30:00, 10-26 01:30:00',
      '30 2 L 10 *': '',
      '30 2 * * 1-5': '10-26 01:30:00',
    },
  })
  holds({
    zone: 'Europe/Berlin',
    from: '2026-10-25T00:00:00Z',
    until: '2026-10-25T02:00:00Z',
    expected: {
      '0 * * * *': '10-25 00:00:00, 10-25 01:00:00, 10-25 02:00:00',
      '*/30 * * * *': '10-25 00:00:00, 10-25 00:30:00, 10-25 01:00:00, 10-25 01:30:00, 10-25 02:00:00',
      '30 */2 * * *': '10-25 00:30:00, 10-25 01:30:00',
      '30 0-23 * * *': '10-25 00:30:00, 10-25 01:30:00',
    },
  })
})

test('New York jumps from 2:00 to 3:00 and goes back from 2:00 to 1:00', () => {
  const zone = 'America/New_York'
  // Five hours behind until 07:00 UTC, then four.
  holds({
    zone,
    from: '2027-03-14T06:00:00Z',
    until: '2027-03-14T08:00:00Z',
    expected: {
      '30 2 * * *': '03-14 07:00:00',
      '45 59 2 * * *': '03-14 07:00:00',
      '0 * * * *': '03-14 06:00:00, 03-14 07:00:00, 03-14 08:00:00',
      '20,50 1-3 * * *': '03-14 06:20:00, 03-14 06:50:00, 03-14 07:00:00, 03-14 07:20:00, 03-14 07:50:00',
    },
  })
  // Four hours behind until 06:00 UTC, then five.
  holds({
    zone,
    from: '2027-11-07T05:00:00Z',
    until: '2027-11-07T07:00:00Z',
    expected: {
      '30 1 * * *': '11-07 05:30:00',
      '45 59 1 * * *': '11-07 05:59:45',
      '0 * * * *': '11-07 05:00:00, 11-07 06:00:00, 11-07 07:00:00',
      '20,50 1-3 * * *': '11-07 05:20:00, 11-07 05:50:00',
    },
  })
})

test('Lord Howe jumps by half an hour, from 2:00 to 2:30, and goes back from 2:00 to 1:30', () => {
  const zone = 'Australia/Lord_Howe'
  // 10:30 ahead until 15:30 UTC, then 11:00.
  holds({
    zone,
    from: '2026-10-03T14:30:00Z',
    until: '2026-10-03T16:00:00Z',
    expected: {
      '15 2 * * *': '10-03 15:30:00',
      '30 2 * * *': '10-03 15:30:00',
      '45 2 * * *': '10-03 15:45:00',
      // There is no 2:00.
      '0 * * * *': '10-03 14:30:00, 10-03 16:00:00',
      '*/15 * * * *':
        '10-03 14:30:00, 10-03 14:45:00, 10-03 15:00:00, 10-03 15:15:00, 10-03 15:30:00, 10-03 15:45:00, 10-03 16:00:00',
    },
  })
  // 11:00 ahead until 15:00 UTC, then 10:30.
  holds({
    zone,
    from: '2027-04-03T14:00:00Z',
    until: '2027-04-03T16:00:00Z',
    expected: {
      '45 1 * * *': '04-03 14:45:00',
      '15 1 * * *': '04-03 14:15:00',
      '15 2 * * *': '04-03 15:45:00',
      '0 * * * *': '04-03 14:00:00, 04-03 15:30:00',
      '40 * * * *': '04-03 14:40:00, 04-03 15:10:00',
    },
  })
})

const expressions = ['0 * * * *', '*/15 * * * *', '*/7 * * * *', '13 */3 * * *', '30 2 * * *', '0 2 * * *']
expressions.push('*/7 1-3 * * *', '5,35 0-4 * * *', '*/20 2 * * *', '59 1 * * *', '0 3 * * *', '0 0 * * *')
expressions.push('10 30 2 * * *', '20,50 */10 * * * *', '7 */9 1,2 * * *', '*/30 */20 1-3 * * *')
const zones = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Africa/Cairo', 'America/Havana']

for (const zone of zones) {
  test(`around each change of 2026 and 2027, planned times are what the clock of ${zone} shows`, () => {
    const changes = changesOf(zone, '2026-01-01T00:00:00Z', '2028-01-01T00:00:00Z')
    assert.equal(changes.length, 4)
    for (const change of changes) {
      const readings = readingsAround(zone, change, 4)
      const [from, until] = [readings[0], readings.at(-1)].map(
        (reading) => new Date(reading?.moment ?? Number.NaN),
      )
      for (const cron of expressions) {
        const planned = plannedTimes(
          { cron, timeZone: zone },
          from?.toISOString() ?? '',
          until?.toISOString() ?? '',
        )
        assert.deepEqual(planned, timesByTheClock(cron, readings), `${cron} around ${change.toISOString()}`)
      }
    }
  })
}

test('planned times only grow, from whatever moment one asks, and none is left out', () => {
  for (const timeZone of zones) {
    for (const change of changesOf(timeZone, '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z')) {
      for (const cron of expressions) growsAround({ cron, timeZone }, change)
    }
  }
})

function growsAround(timing: Timing, change: Date) {
  let before: Date | null = null
  for (let minutes = -180; minutes <= 180; minutes += 13) {
    const after = new Date(change.getTime() + minutes * 60_000 + 345)
    const next = nextPlannedTime(timing, after)
    assert.ok(next && next > after)
    // What is next stays next until it is there.
    if (before && before > after) assert.equal(next.getTime(), before.getTime())
    before = next
  }
}

test('months, weekdays, their last and their nearest days are those of the calendar', () => {
  const [from, until] = ['2026-01-01T00:00:00Z', '2026-03-31T23:59:59Z']
  holds({
    zone: 'UTC',
    from,
    until,
    expected: {
      '0 9 L * *': '01-31 09:00:00, 02-28 09:00:00, 03-31 09:00:00',
      '0 9 LW * *': '01-30 09:00:00, 02-27 09:00:00, 03-31 09:00:00',
      '0 9 15W * *': '01-15 09:00:00, 02-16 09:00:00, 03-16 09:00:00',
      '0 9 * * fri#2': '01-09 09:00:00, 02-13 09:00:00, 03-13 09:00:00',
      '0 9 * * 5L': '01-30 09:00:00, 02-27 09:00:00, 03-27 09:00:00',
      '0 9 * feb SAT-SUN':
        '02-01 09:00:00, 02-07 09:00:00, 02-08 09:00:00, 02-14 09:00:00, 02-15 09:00:00, 02-21 09:00:00, 02-22 09:00:00, 02-28 09:00:00',
      // As everywhere: a day of the month or one of the week.
      '0 9 1 * 1':
        '01-01 09:00:00, 01-05 09:00:00, 01-12 09:00:00, 01-19 09:00:00, 01-26 09:00:00, 02-01 09:00:00, 02-02 09:00:00, 02-09 09:00:00, 02-16 09:00:00, 02-23 09:00:00, 03-01 09:00:00, 03-02 09:00:00, 03-09 09:00:00, 03-16 09:00:00, 03-23 09:00:00, 03-30 09:00:00',
      '@monthly': '01-01 00:00:00, 02-01 00:00:00, 03-01 00:00:00',
      '@YEARLY': '01-01 00:00:00',
    },
  })
  const leapDay = nextPlannedTime({ cron: '0 0 29 2 *', timeZone: 'Asia/Tokyo' }, new Date(from))
  assert.equal(leapDay?.toISOString(), '2028-02-28T15:00:00.000Z')
})

const daysOfMonth = ['*', '1', '2', '1,3', '15', '28-31', '29', '30', '31', 'L', '1,L', 'LW', '1W', '15W']
const daysOfWeek = ['*', '0', '1', '2-6', '5', '1#5', '0#1,1#5', '6#2', '5L', '0L,1#1']
const months = ['*', '2', '2,3', '4-6', '12,1']

test('whatever days an expression names, it fires on these and on no others, for four years', () => {
  const days = Array.from({ length: 4 * 365 + 1 }, (_, i) => new Date(Date.UTC(2026, 0, 1 + i, 9, 30)))
  for (const month of months) {
    for (const dayOfMonth of daysOfMonth) {
      for (const dayOfWeek of daysOfWeek) {
        const cron = `30 9 ${dayOfMonth} ${month} ${dayOfWeek}`
        const expected = days.filter((day) => isNamed({ dayOfMonth, month, dayOfWeek }, day))
        const planned = plannedTimes(
          { cron, timeZone: 'UTC' },
          '2026-01-01T00:00:00Z',
          '2029-12-31T23:59:59Z',
        )
        assert.deepEqual(
          planned,
          expected.map((day) => day.toISOString()),
          cron,
        )
      }
    }
  }
})

test('the last planned time of a span is found, also in years of seconds', () => {
  const last = (cron: string, from: string, until: string) =>
    lastPlannedTime({ cron, timeZone: 'Europe/Berlin' }, new Date(from), new Date(until)).toISOString()
  const from = '2020-01-01T01:00:00.000Z'
  assert.equal(last('* * * * * *', from, '2026-07-01T12:34:56.789Z'), '2026-07-01T12:34:56.000Z')
  assert.equal(last('* * 2 * * *', from, '2026-07-01T12:00:00.000Z'), '2026-07-01T00:59:59.000Z')
  assert.equal(last('0 2 * * *', from, '2026-07-01T00:00:00.000Z'), '2026-07-01T00:00:00.000Z')
  assert.equal(last('0 2 * * *', from, '2026-06-30T23:59:59.999Z'), '2026-06-30T00:00:00.000Z')
  assert.equal(last('0 2 * * *', from, from), from)
  assert.equal(last('0 2 1 1 *', from, '2020-12-31T22:00:00Z'), from)
})

test('an expression that is wrong, or never comes true, is refused with what would fit', () => {
  const problemOf = (cron: string) => findCronProblem({ cron, timeZone: 'UTC' }, new Date())
  const good = [
    '* * * * *',
    ' 0  0 * * * ',
    '* * * * * *',
    '@daily',
    '1-5/2,7 0 L,15 JAN-mar,12 mon#1,5L',
    '0 0 * * 7',
  ]
  for (const cron of good) assert.equal(problemOf(cron), null, cron)
  const bad: Readonly<Record<string, RegExp>> = {
    '': /five fields/,
    '* * * *': /five fields/,
    '* * * * * * 2030': /five fields/,
    '@reboot': /@hourly/,
    '60 * * * *': /"60" for the minute, which takes 0 to 59/,
    '0 24 * * *': /"24" for the hour, which takes 0 to 23/,
    '0 5* * * *': /"5\*" for the hour/,
    '0 0 0 * *': /"0" for the day of the month, which takes 1 to 31/,
    '0 0 * 13 *': /"13" for the month, which takes 1 to 12 or jan to dec/,
    '0 0 * * monday': /"monday" for the day of the week/,
    '0 0 * * 1#6': /"1#6" for the day of the week/,
    '5/5 * * * *': /"5\/5" for the minute/,
    '*/0 * * * *': /"\*\/0" for the minute/,
    '10-5 * * * *': /"10-5" for the minute/,
    '1,,2 * * * *': /"" for the minute/,
    '0 0 1W,LW * *': /not understood/,
    '0 0 30 2 *': /never comes true/,
    '0 0 31 4,6,9,11 *': /never comes true/,
  }
  for (const [cron, expected] of Object.entries(bad)) assert.match(problemOf(cron) ?? 'fine', expected, cron)
})

test('time zones are known by all their names, and offsets are none', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Calcutta', 'US/Eastern', 'Etc/GMT+5'])
    assert.ok(isTimeZone(name), name)
  for (const name of ['', 'Mars/Olympus', '+02:00', 'Berlin', 'UTC ', '../etc', '\0'])
    assert.ok(!isTimeZone(name), name)
})

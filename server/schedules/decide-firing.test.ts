import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideFiring, type DueSchedule } from './decide-firing.ts'

const everyMinute: DueSchedule = {
  cron: '* * * * *',
  timeZone: 'UTC',
  overlap: 'skip',
  missed: 'skip',
  nextAt: new Date('2026-06-01T12:00:00Z'),
  isBusy: false,
}

/** Times as HH:MM:SS. */
function decide(schedule: Partial<DueSchedule>, now: string, countMax = 5_000) {
  const clock = (time: Date | null) => time?.toISOString().slice(11, 19) ?? null
  const { firings, nextAt } = decideFiring(
    { ...everyMinute, ...schedule },
    new Date(`2026-06-01T${now}Z`),
    countMax,
  )
  const texts = firings.map((firing) => {
    const { outcome, plannedAt } = firing
    const rest = firing.outcome === 'missed' ? ` to ${clock(firing.throughAt)}: ${firing.count}` : ''
    return `${outcome} ${clock(plannedAt)}${rest}`
  })
  return { firings: texts, next: clock(nextAt) }
}

test('what is due fires, and the next planned time is next', () => {
  assert.deepEqual(decide({}, '12:00:00.000'), { firings: ['fired 12:00:00'], next: '12:01:00' })
})

test('up to a minute late it still fires, and what was planned since is next', () => {
  const late = { firings: ['fired 12:00:00'], next: '12:00:10' }
  assert.deepEqual(decide({ cron: '*/10 * * * * *' }, '12:01:00.000'), late)
})

test('later than a minute all planned times are missed, as one', () => {
  const missed = { firings: ['missed 12:00:00 to 12:01:00: 2'], next: '12:02:00' }
  assert.deepEqual(decide({}, '12:01:00.001'), missed)
  assert.deepEqual(decide({}, '15:30:59.999'), {
    firings: ['missed 12:00:00 to 15:30:00: 211'],
    next: '15:31:00',
  })
  assert.deepEqual(decide({ cron: '0 12 * * *' }, '12:05:00'), {
    firings: ['missed 12:00:00 to 12:00:00: 1'],
    next: '12:00:00',
  })
})

test('with missed: once, the latest fires and those before it are missed', () => {
  assert.deepEqual(decide({ missed: 'once' }, '15:30:59'), {
    firings: ['missed 12:00:00 to 15:29:00: 210', 'fired 15:30:00'],
    next: '15:31:00',
  })
  assert.deepEqual(decide({ missed: 'once', cron: '0 12 * * *' }, '23:59:59'), {
    firings: ['fired 12:00:00'],
    next: '12:00:00',
  })
})

test('while the run before it is not over, a planned time is skipped, unless it shall queue', () => {
  const skipped = { firings: ['skipped 12:00:00'], next: '12:01:00' }
  assert.deepEqual(decide({ isBusy: true }, '12:00:00'), skipped)
  const fired = { firings: ['fired 12:00:00'], next: '12:01:00' }
  assert.deepEqual(decide({ isBusy: true, overlap: 'queue' }, '12:00:00'), fired)
  const late = ['missed 12:00:00 to 12:04:00: 5', 'skipped 12:05:00']
  assert.deepEqual(decide({ isBusy: true, missed: 'once' }, '12:05:10').firings, late)
})

test('of very many missed times it is not said how many, and deciding takes no longer', () => {
  const everySecond = { cron: '* * * * * *', nextAt: new Date('2016-01-01T00:00:00Z') }
  const before = performance.now()
  const { firings, next } = decide(everySecond, '12:00:00', 100)
  assert.deepEqual(firings, ['missed 00:00:00 to 12:00:00: null'])
  assert.equal(next, '12:00:01')
  assert.ok(performance.now() - before < 500)
  assert.deepEqual(decide({}, '13:39:00', 100).firings, ['missed 12:00:00 to 13:39:00: 100'])
  assert.deepEqual(decide({}, '13:40:00', 100).firings, ['missed 12:00:00 to 13:40:00: null'])
})

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { fireTogether, schedules } from '../schedules/fire-together.ts'
import { binsOf, drawBins, summarize } from '../schedules/lag-histogram.ts'
import { openClockWorld, type ClockWorld } from './schedules/open-clock-world.ts'
import { ScheduledVal } from './schedules/scheduled-val.ts'

const hour = 3_600
const everySecond = { cron: '* * * * * *', overlap: 'queue' }

describe(
  "while the database's clock is put forward and back, under two servers",
  { concurrency: false },
  () => {
    let world: ClockWorld

    before(async () => {
      world = await openClockWorld()
    })
    after(async () => {
      await world[Symbol.asyncDispose]()
    })

    /** Every run has a planned time of its own. */
    async function assertEachOnce(val: ScheduledVal): Promise<readonly number[]> {
      await val.stop()
      const times = await val.plannedTimesOfRuns()
      assert.equal(new Set(times).size, times.length, 'a planned time fired twice')
      return times
    }

    test('put back by ten seconds, no second fires twice and none is left out', async () => {
      const val = await ScheduledVal.create(world, everySecond)
      await val.untilFiredAgain(5)
      await world.clock.setAhead(-10)
      // Seconds from before it was made, then those that have fired already, then new ones.
      await val.untilFiredAgain(10)
      const times = await assertEachOnce(val)
      await world.clock.setAhead(0)
      assert.deepEqual(
        times,
        times.map((_, i) => (times[0] ?? 0) + i),
      )
    })

    test('put back by an hour, it goes on with the times of then; put forward again, what lies between is missed', async () => {
      const val = await ScheduledVal.create(world, everySecond)
      await val.untilFiredAgain(3)
      await world.clock.setAhead(-hour)
      await val.untilFiredAgain(3)
      await world.clock.setAhead(0)
      await val.untilFiredAgain(3)
      const times = await assertEachOnce(val)
      const firings = await val.firings()
      const [missed, ...others] = firings.filter(({ outcome }) => outcome === 'missed')
      assert.deepEqual(others, [])
      const missedSeconds = (missed?.throughAt ?? 0) - (missed?.plannedAt ?? 0)
      assert.ok(Math.abs(missedSeconds - hour) < 30, `missed ${missedSeconds} s`)
      assert.equal(missed?.count, missedSeconds + 1)
      const since = times.filter((time) => time > (missed?.throughAt ?? 0))
      assert.deepEqual(
        since,
        since.map((_, i) => (missed?.throughAt ?? 0) + 1 + i),
      )
      assert.ok(since.length >= 3)
    })

    test('put forward by an hour, the times between are missed; with missed: once, one run makes up for them', async () => {
      const skipping = await ScheduledVal.create(world, { cron: '*/10 * * * * *', overlap: 'queue' })
      const once = await ScheduledVal.create(world, {
        cron: '*/10 * * * * *',
        overlap: 'queue',
        missed: 'once',
      })
      await world.clock.setAhead(hour)
      for (const val of [skipping, once]) {
        await val.until('the missed row', async () =>
          (await val.firings()).some(({ outcome }) => outcome === 'missed'),
        )
      }
      await once.untilFiredAgain(1)
      await skipping.untilFiredAgain(1)
      await Promise.all([assertEachOnce(skipping), assertEachOnce(once)])
      await world.clock.setAhead(0)
      const summaries = await Promise.all(
        [skipping, once].map(async (val) => {
          const firings = await val.firings()
          const at = firings.findIndex(({ outcome }) => outcome === 'missed')
          const [missed, next] = firings.slice(at)
          return { missed, gap: (next?.plannedAt ?? 0) - (missed?.throughAt ?? 0), next }
        }),
      )
      for (const { missed, gap, next } of summaries) {
        assert.ok(missed?.count && Math.abs(missed.count - hour / 10) <= 3, `${missed?.count} were missed`)
        assert.deepEqual([next?.outcome, gap], ['fired', 10])
      }
    })

    test('put forward by a day by mistake and back again, what it passed over fires when it comes', async () => {
      const val = await ScheduledVal.create(world, { cron: '*/10 * * * * *', overlap: 'queue' })
      await val.untilFiredAgain(1)
      await world.clock.setAhead(24 * hour)
      await val.until('the missed row', async () =>
        (await val.firings()).some(({ outcome }) => outcome === 'missed'),
      )
      await world.clock.setAhead(0)
      await val.untilFiredAgain(2)
      const times = (await assertEachOnce(val)).filter((time) => time < Date.now() / 1_000 + hour)
      assert.ok(times.length >= 2)
      assert.deepEqual(
        times,
        times.map((_, i) => (times[0] ?? 0) + 10 * i),
        'a planned time was left out',
      )
    })
  },
)

test('20,000 schedules that are due at once fire once each, although one of two servers is killed meanwhile', async () => {
  const { lagsMs, firedBeforeKill, counts } = await fireTogether()
  console.log(`killed one of two servers after ${firedBeforeKill} of ${schedules}`)
  console.log(drawBins(binsOf(lagsMs)))
  console.table([summarize(lagsMs)])
  assert.ok(firedBeforeKill < schedules, 'all had fired before the server was killed')
  assert.deepEqual(counts, {
    firings: schedules,
    runs: schedules,
    queued: schedules,
    valsWithRuns: schedules,
    stillDue: 0,
  })
})

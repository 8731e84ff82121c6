import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RunnerWatch } from './runner-watch.ts'

const silenceMsMax = 30_000
const gapMsMax = 6_000
const lookMs = 2_000

/** Looks every two seconds, at what `beatOf` says of each moment, and returns when somebody was called gone first. */
function firstGoneMs(
  watch: RunnerWatch,
  { fromMs = 0, untilMs, beatOf }: { fromMs?: number; untilMs: number; beatOf: (nowMs: number) => string },
): number | null {
  for (let nowMs = fromMs; nowMs <= untilMs; nowMs += lookMs) {
    if (watch.look([{ runner_id: 'a', beat: beatOf(nowMs) }], nowMs).length > 0) return nowMs
  }
  return null
}

const openWatch = () => new RunnerWatch({ silenceMsMax, gapMsMax })

test('a runner whose beat does not change for longer than it may is gone, and not before', () => {
  const goneMs = firstGoneMs(openWatch(), { untilMs: 60_000, beatOf: () => '7' })
  assert.equal(goneMs, silenceMsMax + lookMs)
})

test('a runner whose beat changes in time is never gone, whatever it counts', () => {
  const beats: Record<string, (nowMs: number) => string> = {
    slowly: (nowMs) => String(Math.floor(nowMs / silenceMsMax)),
    backwards: (nowMs) => String(1e9 - Math.floor(nowMs / 10_000)),
    'to and fro': (nowMs) => String(Math.floor(nowMs / 10_000) % 2),
  }
  for (const [how, beatOf] of Object.entries(beats)) {
    assert.equal(firstGoneMs(openWatch(), { untilMs: 600_000, beatOf }), null, how)
  }
})

test('silence is counted for each runner by itself, from its own last change on', () => {
  const watch = openWatch()
  const gone: [number, string][] = []
  for (let nowMs = 0; nowMs <= 60_000; nowMs += lookMs) {
    const beats = [
      { runner_id: 'silent', beat: '1' },
      { runner_id: 'alive', beat: String(nowMs) },
      { runner_id: 'dying', beat: String(Math.min(nowMs, 20_000)) },
    ]
    for (const { runner_id } of watch.look(beats, nowMs)) {
      if (!gone.some(([, id]) => id === runner_id)) gone.push([nowMs, runner_id])
    }
  }
  assert.deepEqual(gone, [
    [32_000, 'silent'],
    [52_000, 'dying'],
  ])
})

test('whoever did not look for a while begins anew: a pause of its own is nobody’s silence', () => {
  const watch = openWatch()
  assert.equal(firstGoneMs(watch, { untilMs: 28_000, beatOf: () => '1' }), null)
  const backMs = 28_000 + gapMsMax + 1
  const goneMs = firstGoneMs(watch, { fromMs: backMs, untilMs: backMs + 60_000, beatOf: () => '1' })
  assert.equal(goneMs, backMs + silenceMsMax + lookMs)
})

test('looks that come late, but not too late, count', () => {
  const watch = openWatch()
  let goneMs: number | null = null
  for (let nowMs = 0; goneMs === null && nowMs < 60_000; nowMs += gapMsMax) {
    if (watch.look([{ runner_id: 'a', beat: '1' }], nowMs).length > 0) goneMs = nowMs
  }
  assert.equal(goneMs, 36_000)
})

test('starting over forgets what was seen', () => {
  const watch = openWatch()
  assert.equal(firstGoneMs(watch, { untilMs: 30_000, beatOf: () => '1' }), null)
  watch.startOver()
  assert.equal(firstGoneMs(watch, { fromMs: 32_000, untilMs: 62_000, beatOf: () => '1' }), null)
  assert.equal(firstGoneMs(watch, { fromMs: 64_000, untilMs: 64_000, beatOf: () => '1' }), 64_000)
})

test('a runner that was forgotten and comes back is new', () => {
  const watch = openWatch()
  assert.equal(firstGoneMs(watch, { untilMs: 28_000, beatOf: () => '1' }), null)
  assert.deepEqual(watch.look([], 30_000), [])
  assert.equal(firstGoneMs(watch, { fromMs: 32_000, untilMs: 60_000, beatOf: () => '1' }), null)
})

test('whatever the times of looks and beats are, nobody is gone who was seen to change within the time', () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 9_000 }),
    beats: fc.boolean(),
    startsOver: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const watch = openWatch()
      let nowMs = 0
      let beat = 0
      let [changedMs, lookedMs] = [0, -Infinity]
      for (const { afterMs, beats, startsOver } of steps) {
        nowMs += afterMs
        const isNew = nowMs - lookedMs > gapMsMax
        if (startsOver) watch.startOver()
        if (beats) beat += 1
        if (beats || isNew || startsOver) changedMs = nowMs
        lookedMs = nowMs
        const isGone = watch.look([{ runner_id: 'a', beat: String(beat) }], nowMs).length > 0
        assert.equal(isGone, nowMs - changedMs > silenceMsMax)
      }
    }),
  )
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import { HeldRuns } from './held-runs.ts'

/** A run that counts how often it was stopped. */
function hold(runs: HeldRuns, id: string, claimNumber = 1) {
  const run = { stops: 0 }
  const held = runs.add(id, { valId: 'v', claimNumber, stop: () => (run.stops += 1) })
  return { run, held }
}

test('a run is ours from its claim until a server says that it is not, also after its report', () => {
  const runs = new HeldRuns()
  hold(runs, 'a')
  assert.deepEqual([runs.ids(), runs.underWay], [['a'], 1])
  runs.noteReported('a')
  assert.deepEqual([runs.ids(), runs.underWay], [['a'], 0])
  assert.equal(runs.noteGone('a'), true)
  assert.deepEqual([runs.ids(), runs.underWay], [[], 0])
})

test('a report that is noted twice, or of a run that is unknown, counts for nothing', () => {
  const runs = new HeldRuns()
  hold(runs, 'a')
  hold(runs, 'b')
  for (const id of ['a', 'a', 'unknown']) runs.noteReported(id)
  assert.equal(runs.underWay, 1)
})

test('a run that is called gone while it runs is stopped, and stays ours until it is reported and gone', () => {
  const runs = new HeldRuns()
  const { run } = hold(runs, 'a')
  assert.equal(runs.noteGone('a'), true)
  assert.deepEqual([run.stops, runs.ids(), runs.underWay], [1, ['a'], 1])
  runs.noteReported('a')
  runs.noteGone('a')
  assert.deepEqual([run.stops, runs.ids(), runs.underWay], [1, [], 0])
})

test('canceling stops what runs, and not what was reported or never was ours', () => {
  const runs = new HeldRuns()
  const [running, reported] = [hold(runs, 'running'), hold(runs, 'reported')]
  runs.noteReported('reported')
  for (const id of ['running', 'reported', 'unknown']) runs.stop(id)
  assert.deepEqual([running.run.stops, reported.run.stops], [1, 0])
})

test('a run that was handed back is no longer ours', () => {
  const runs = new HeldRuns()
  const { held } = hold(runs, 'a')
  runs.release('a', held)
  assert.deepEqual([runs.ids(), runs.underWay], [[], 0])
})

test('a run that came back before its hand back was answered is ours again', () => {
  const runs = new HeldRuns()
  const first = hold(runs, 'a', 1)
  const second = hold(runs, 'a', 2)
  runs.release('a', first.held)
  assert.deepEqual([runs.ids(), runs.underWay], [['a'], 1])
  runs.stop('a')
  assert.deepEqual([first.run.stops, second.run.stops], [0, 1])
})

test('what a server said before a later claim brought a run back does not stop it', () => {
  const runs = new HeldRuns()
  const first = hold(runs, 'a', 1)
  const lastClaim = 1
  const second = hold(runs, 'a', 2)
  runs.release('a', first.held)
  assert.equal(runs.noteGone('a', lastClaim), false)
  assert.deepEqual([second.run.stops, runs.ids()], [0, ['a']])
  assert.equal(runs.noteGone('a', 2), true)
  assert.equal(second.run.stops, 1)
})

test('a reported run whose record never shows is given up after very many answers, and what runs never', () => {
  const runs = new HeldRuns()
  hold(runs, 'runs')
  hold(runs, 'reported')
  runs.noteReported('reported')
  for (let beats = 0; beats < limits.reportedBeatsMax; beats++) runs.noteHeard()
  assert.deepEqual(runs.ids(), ['runs', 'reported'])
  runs.noteHeard()
  assert.deepEqual(runs.ids(), ['runs'])
})

test('vals of which many were claimed and have not begun are told, until these begin, end or go back', () => {
  const runs = new HeldRuns()
  const stop = () => {}
  const held = ['a', 'b', 'c', 'd'].map((id) => runs.add(id, { valId: 'hot', claimNumber: 1, stop }))
  runs.add('e', { valId: 'other', claimNumber: 1, stop })
  const [a = assert.fail(), b = assert.fail()] = held
  assert.deepEqual([runs.valsWaiting(4), runs.valsWaiting(1)], [['hot'], ['hot', 'other']])
  assert.equal(runs.noteBegun(a), 3)
  assert.equal(runs.noteBegun(a), 3, 'it begins once')
  assert.deepEqual([runs.valsWaiting(4), runs.valsWaiting(3)], [[], ['hot']])
  runs.release('b', b)
  runs.noteReported('c')
  runs.noteReported('a')
  assert.deepEqual([runs.valsWaiting(2), runs.valsWaiting(1)], [[], ['hot', 'other']])
  runs.noteReported('d')
  assert.deepEqual(runs.valsWaiting(1), ['other'])
})

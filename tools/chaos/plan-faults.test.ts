import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Fault } from './faults.ts'
import { planFaults } from './plan-faults.ts'
import { Random } from './random.ts'

function plan(seed: number, targets: readonly string[], rounds: number) {
  const faults = targets.map((target, index): Fault => ({
    name: `${target}${index}`,
    target,
    strike: async () => undefined,
  }))
  return planFaults(faults, new Random(seed), [10, 20])
    .take(rounds)
    .map(({ calmMs, strikes }) => {
      assert.ok(calmMs >= 10 && calmMs < 20)
      return strikes.map(({ fault, delayMs, random }) => ({ ...fault, delayMs, drawn: random.next() }))
    })
    .toArray()
}

const targets = ['a', 'a', 'b', 'c', 'd', 'd']

test('the same seed plans the same again, and another one otherwise', () => {
  const told = (seed: number) => JSON.stringify(plan(seed, targets, 20))
  assert.equal(told(1), told(1))
  assert.notEqual(told(1), told(2))
})

test('each fault comes before any comes again, and two at a time have different targets', () => {
  for (let seed = 0; seed < 50; seed++) {
    const rounds = plan(seed, targets, 30)
    const names = rounds.flat().map(({ name }) => name)
    for (let from = 0; from + targets.length <= names.length; from += targets.length) {
      assert.equal(new Set(names.slice(from, from + targets.length)).size, targets.length)
    }
    assert.ok(rounds.every(([one, other]) => one && one.target !== other?.target))
    assert.ok(rounds.some((strikes) => strikes.length === 2))
  }
})

test('where all faults have one target, one comes at a time', () => {
  const rounds = plan(1, ['nats', 'nats'], 10)
  assert.ok(rounds.every((strikes) => strikes.length === 1))
})

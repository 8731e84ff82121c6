import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos } from '../chaos/run-chaos.ts'
import { newSeed } from '../chaos/settings.ts'

test('two minutes in which everything breaks lose no run, execute none twice and skip no planned time', async () => {
  const problems = await runChaos({ seconds: 120, seed: newSeed(), natsNodes: 1, logs: null })
  assert.deepEqual(problems.slice(0, 20), [])
})

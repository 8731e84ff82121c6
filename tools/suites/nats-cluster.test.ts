import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runChaos } from '../chaos/run-chaos.ts'
import { newSeed } from '../chaos/settings.ts'

test('with three NATS servers, killing one and cutting off another loses nothing', async () => {
  const problems = await runChaos({ seconds: 45, seed: newSeed(), natsNodes: 3, logs: null })
  assert.deepEqual(problems.slice(0, 20), [])
})

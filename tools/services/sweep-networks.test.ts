import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { runCommand } from '../processes/run-command.ts'
import { sweepNetworks } from './sweep-networks.ts'

test('the networks of processes that are gone are removed, and those of living ones are not', async () => {
  const names = { namespace: 'valley-swept-', link: 'vswept' }
  const { pid: gone } = spawnSync('true')
  for (const pid of [gone, process.pid]) {
    await runCommand('ip', ['netns', 'add', `${names.namespace}${pid}-1`])
    await runCommand('ip', ['link', 'add', `${names.link}${pid}`, 'type', 'bridge'])
  }
  try {
    await sweepNetworks(names)
    assert.deepEqual(await list('netns', names.namespace), [`${names.namespace}${process.pid}-1`])
    assert.deepEqual(await list('link', names.link), [`${names.link}${process.pid}`])
  } finally {
    await runCommand('ip', ['netns', 'delete', `${names.namespace}${process.pid}-1`])
    await runCommand('ip', ['link', 'delete', `${names.link}${process.pid}`])
  }
})

async function list(what: 'netns' | 'link', prefix: string): Promise<string[]> {
  const output = await runCommand('ip', ['-oneline', what, 'list'])
  return output.match(new RegExp(`${prefix}[\\d-]+`, 'g')) ?? []
}

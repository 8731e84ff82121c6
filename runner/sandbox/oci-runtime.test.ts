import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findRunner, findTraces } from './testing/find-traces.ts'
import { openTestDriver, startInside } from './testing/open-test-driver.ts'

test('gVisor: a val sees its kernel instead of ours, and works', { timeout: 60_000 }, async () => {
  await using host = await openTestDriver({ kind: 'runsc' })
  await using inside = await startInside(host.driver)
  await writeFile(join(inside.sandbox.valFolder, 'main.ts'), 'export const own: number = 1')
  const answer = await inside.run(`export default async () => {
    const { own } = await import('file:///val/main.ts')
    const { default: isOdd } = await import('npm:is-odd@3')
    Deno.writeTextFileSync('/tmp/a', 'b')
    let written = 'no'
    try { Deno.writeTextFileSync('/val/main.ts', ''); written = 'yes' } catch {}
    return [own, isOdd(3), Deno.readTextFileSync('/tmp/a'), written]
  }`)
  assert.deepEqual(answer, [1, true, 'b', 'no'])
  assert.ok(((await inside.sandbox.readMemoryBytes()) ?? 0) > 10_000_000)
})

test('gVisor: ends are told apart', { timeout: 60_000 }, async () => {
  await using host = await openTestDriver({ kind: 'runsc' })
  await using full = await startInside(host.driver)
  const code = 'export default () => { const a = []; for (;;) a.push(new Uint8Array(2 ** 20).fill(1)) }'
  await assert.rejects(() => full.run(code), /It ended: out_of_memory/)
  await using leaving = await startInside(host.driver)
  await assert.rejects(() => leaving.run('export default () => Deno.exit(3)'), /It ended: exited/)
  await using removed = await startInside(host.driver)
  await removed.sandbox.remove()
  assert.equal(await removed.sandbox.ended, 'killed')
})

test('gVisor: a slot serves one sandbox after the other, network included', { timeout: 60_000 }, async () => {
  await using host = await openTestDriver({ kind: 'runsc' })
  for (let round = 0; round < 2; round += 1) {
    await using inside = await startInside(host.driver)
    // That there is no such name is an answer, too, and comes from outside.
    const ask = `Deno.resolveDns('valley.invalid', 'A').catch((error) => error.name)`
    assert.equal(await inside.run(`export default () => ${ask}`), 'NotFound')
  }
})

test('gVisor: a runner that was killed with -9 leaves nothing behind', { timeout: 60_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-sweep-'))
  const holder = new URL('testing/hold-sandboxes.ts', import.meta.url).pathname
  const runner = spawn(process.execPath, [holder, 'runsc', folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(runner.stdout, 'data')
  const names = await findRunner(folder)
  assert.ok((await findTraces(names, folder)).some((trace) => trace.startsWith('process')))
  runner.kill('SIGKILL')
  await once(runner, 'exit')
  const next = await openTestDriver({ kind: 'runsc', folder })
  await next[Symbol.asyncDispose]()
  assert.deepEqual(await findTraces(names, folder), [])
  await rm(folder, { recursive: true })
})

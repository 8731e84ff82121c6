import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestDriver, startInside } from './testing/open-test-driver.ts'

const host = await openTestDriver({ kind: 'process' })
after(() => host[Symbol.asyncDispose]())

test('it is said loudly that only Deno holds the vals', () => {
  assert.deepEqual(host.observed, [['sandboxIsWeak']])
})

test('Deno refuses files, programs and addresses of the host', async () => {
  await using inside = await startInside(host.driver)
  const answer = await inside.run(`export default async () => {
    const tries = {
      file: () => Deno.readTextFileSync('/etc/passwd'),
      run: () => new Deno.Command('ls').outputSync(),
      environment: () => { if (Object.keys(Deno.env.toObject()).some((name) => /USER|SHELL/.test(name))) return 'seen'; throw new Error() },
      loopback: () => fetch('http://127.0.0.1:1234/'),
      name: () => fetch('http://localhost:1234/'),
      hex: () => fetch('http://0x7f000001:1234/'),
      mapped: () => fetch('http://[::ffff:127.0.0.1]:1234/'),
      private: () => fetch('http://10.0.0.1/'),
      metadata: () => fetch('http://169.254.169.254/'),
    }
    const worked = []
    for (const [name, attempt] of Object.entries(tries)) {
      try { await attempt(); worked.push(name) } catch {}
    }
    return worked
  }`)
  assert.deepEqual(answer, [])
})

test('its ends and its memory are told', async () => {
  await using full = await startInside(host.driver)
  const code = 'export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(Math.random())) }'
  await assert.rejects(() => full.run(code), /It ended: out_of_memory/)
  await using leaving = await startInside(host.driver)
  await assert.rejects(() => leaving.run('export default () => Deno.exit(0)'), /It ended: exited/)
  await using staying = await startInside(host.driver)
  assert.equal(await staying.run('export default () => 1'), 1)
  assert.ok(((await staying.sandbox.readMemoryBytes()) ?? 0) > 10_000_000)
  await staying.sandbox.remove()
  assert.equal(await staying.sandbox.ended, 'killed')
  assert.ok(!(await readdir(join(host.folder, 'sandboxes'))).includes(staying.sandbox.id))
})

test('what a runner that was killed with -9 left behind is ended by the next', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-sweep-'))
  const holder = new URL('testing/hold-sandboxes.ts', import.meta.url).pathname
  const runner = spawn(process.execPath, [holder, 'process', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(runner.stdout, 'data')
  const [id = ''] = await readdir(join(folder, 'sandboxes'))
  const pid = Number(await readFile(join(folder, 'sandboxes', id, 'pid'), 'utf8'))
  assert.ok(lives(pid))
  runner.kill('SIGKILL')
  await once(runner, 'exit')
  await using next = await openTestDriver({ kind: 'process', folder })
  assert.equal(next.observed.length, 2)
  for (let waitedMs = 0; lives(pid) && waitedMs < 5_000; waitedMs += 20) await sleep(20)
  assert.ok(!lives(pid))
  await rm(folder, { recursive: true })
})

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

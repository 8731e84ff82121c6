import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { listCgroupProcesses, listChildCgroups } from './cgroups.ts'
import { SandboxError } from './sandbox-error.ts'
import { findRunner, findTraces } from './testing/find-traces.ts'
import { openTestDriver, startInside, testLimits } from './testing/open-test-driver.ts'

const host = await openTestDriver({ kind: 'runc' })
after(() => host[Symbol.asyncDispose]())

test('Deno is not root, has no capability, and is behind the filter', async () => {
  await using inside = await startInside(host.driver)
  // Deno itself refuses to look into /proc, so the kernel is asked from outside.
  await inside.run('export default () => 1')
  const status = await readStatus(inside.sandbox.id)
  assert.match(status, /^NoNewPrivs:\t1$/m)
  assert.match(status, /^Seccomp:\t2$/m)
  for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
    assert.match(status, new RegExp(`^${set}:\\t0{16}$`, 'm'))
  }
  const uid = Number(/^Uid:\t(\d+)/m.exec(status)?.[1])
  assert.ok(uid > 0x7000_0000)
})

test('two sandboxes are two users', async () => {
  await using one = await startInside(host.driver)
  await using other = await startInside(host.driver)
  const uids = await Promise.all(
    [one, other].map(async ({ sandbox }) => /^Uid:\t(\d+)/m.exec(await readStatus(sandbox.id))?.[1]),
  )
  assert.notEqual(uids[0], uids[1])
})

test('nothing is inside but Deno, its libraries, the bootstrap and how to resolve names', async () => {
  await using inside = await startInside(host.driver)
  await inside.run('export default () => 1')
  const root = join('/proc', String(await findPid(inside.sandbox.id)), 'root')
  const names = (await readdir(root)).toSorted().join(' ')
  assert.equal(names, 'app bin dev etc lib lib64 proc sock tmp val')
  assert.deepEqual(await readdir(join(root, 'bin')), ['deno'])
  assert.deepEqual(await readdir(join(root, 'app')), ['main.js'])
  assert.deepEqual((await readdir(join(root, 'etc'))).toSorted(), [
    'hosts',
    'nsswitch.conf',
    'resolv.conf',
    'ssl',
  ])
  await assert.rejects(() => writeFile(join(root, 'app', 'main.js'), 'x'), { code: 'EROFS' })
  await assert.rejects(() => writeFile(join(root, 'val', 'main.js'), 'x'), { code: 'EROFS' })
})

test('a val reads what was put into its folder, and can neither change it nor see another', async () => {
  await using inside = await startInside(host.driver)
  await using other = await startInside(host.driver)
  await writeFile(join(inside.sandbox.valFolder, 'main.ts'), 'export const own: number = 1')
  await writeFile(join(other.sandbox.valFolder, 'secret.ts'), 'export const secret: number = 2')
  const answer = await inside.run(`export default async () => {
    const { own } = await import('file:///val/main.ts')
    const files = [...Deno.readDirSync('/val')].map(({ name }) => name)
    let written = 'no'
    try { Deno.writeTextFileSync('/val/main.ts', '') ; written = 'yes' } catch {}
    return { own, files, written }
  }`)
  assert.deepEqual(answer, { own: 1, files: ['main.ts'], written: 'no' })
})

test('no subprocess, no native code, nothing about the host', async () => {
  await using inside = await startInside(host.driver)
  const answer = await inside.run(`export default async () => {
    const tries = {
      run: () => new Deno.Command('/bin/deno').outputSync(),
      ffi: () => Deno.dlopen('libc.so.6', {}),
      hostname: () => Deno.hostname(),
      interfaces: () => Deno.networkInterfaces(),
      proc: () => Deno.readTextFileSync('/proc/self/status'),
      resolv: () => Deno.readTextFileSync('/etc/resolv.conf'),
      symlink: () => Deno.symlinkSync('/etc', '/tmp/etc'),
    }
    const answers = {}
    for (const [name, attempt] of Object.entries(tries)) {
      try { attempt(); answers[name] = 'worked' } catch (error) { answers[name] = error.name }
    }
    return { ...answers, asked: (await Deno.permissions.request({ name: 'run' })).state }
  }`)
  assert.deepEqual(answer, {
    run: 'NotCapable',
    ffi: 'NotCapable',
    hostname: 'NotCapable',
    interfaces: 'NotCapable',
    proc: 'NotCapable',
    resolv: 'NotCapable',
    symlink: 'NotCapable',
    asked: 'denied',
  })
})

test(
  'what vals do every day works: packages, WebAssembly, workers, timers, /tmp',
  { timeout: 60_000 },
  async () => {
    await using inside = await startInside(host.driver)
    const answer = await inside.run(`export default async () => {
    const { default: isOdd } = await import('npm:is-odd@3')
    const wasm = await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))
    const worker = new Worker('data:application/javascript,postMessage(3)', { type: 'module' })
    const fromWorker = await new Promise((resolve) => { worker.onmessage = ({ data }) => resolve(data) })
    worker.terminate()
    Deno.writeTextFileSync('/tmp/a', 'b')
    Deno.mkdirSync('/tmp/c')
    Deno.renameSync('/tmp/a', '/tmp/c/a')
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync('/tmp/db')
    database.exec('create table t (x)')
    await new Promise((resolve) => setTimeout(resolve, 5))
    return [isOdd(3), wasm.instance !== undefined, fromWorker, Deno.readTextFileSync('/tmp/c/a')]
  }`)
    assert.deepEqual(answer, [true, true, 3, 'b'])
  },
)

test('a bomb of array buffers ends as out of memory', async () => {
  await using inside = await startInside(host.driver)
  const code = 'export default () => { const a = []; for (;;) a.push(new Uint8Array(2 ** 20).fill(1)) }'
  await assert.rejects(() => inside.run(code), /It ended: out_of_memory/)
})

test('a full JavaScript heap ends as out of memory too, and the output says so', async () => {
  await using inside = await startInside(host.driver)
  const code = 'export default () => { const a = []; for (;;) a.push(new Array(1e5).fill(Math.random())) }'
  await assert.rejects(() => inside.run(code), /It ended: out_of_memory/)
})

test('a val that exits ends as exited, one that is removed as killed, and removing twice is once', async () => {
  await using one = await startInside(host.driver)
  await assert.rejects(() => one.run('export default () => Deno.exit(3)'), /It ended: exited/)
  await using other = await startInside(host.driver)
  await Promise.all([other.sandbox.remove(), other.sandbox.remove()])
  assert.equal(await other.sandbox.ended, 'killed')
  await other.sandbox.remove()
})

test('a sandbox that is busy in an endless loop is removed all the same', async () => {
  await using inside = await startInside(host.driver)
  const run = assert.rejects(() => inside.run('export default () => { for (;;); }'), /It ended: killed/)
  const startedAt = performance.now()
  await inside.sandbox.remove()
  assert.ok(performance.now() - startedAt < 5_000)
  await run
})

test('threads are bounded', async () => {
  await using narrow = await openTestDriver({ kind: 'runc', limits: { pidsMax: 16 } })
  const code = `export default () => Promise.all(Array.from({ length: 16 }, () => new Promise((resolve) => {
    const worker = new Worker('data:application/javascript,postMessage(1)', { type: 'module' })
    worker.onmessage = () => resolve(1)
  })))`
  await using held = await startInside(narrow.driver)
  await assert.rejects(() => held.run(code), /Resource temporarily unavailable/)
})

test('neither /tmp nor the socket folder can fill the disk', async () => {
  await using inside = await startInside(host.driver)
  const answer = (await inside.run(`export default () => {
    const fill = (folder) => {
      let bytes = 0
      try {
        for (let i = 0; i < 100; i += 1) {
          Deno.writeFileSync(folder + '/' + i, new Uint8Array(2 ** 20))
          bytes += 2 ** 20
        }
      } catch (error) { return [bytes, error.message] }
      return [bytes, 'never full']
    }
    return { temporary: fill('/tmp'), sockets: fill('/sock') }
  }`)) as Record<string, [number, string]>
  assert.match(answer['temporary']?.[1] ?? '', /No space left/)
  assert.ok((answer['temporary']?.[0] ?? Infinity) <= testLimits.temporaryBytesMax)
  assert.match(answer['sockets']?.[1] ?? '', /No space left/)
  assert.equal(answer['sockets']?.[0], 0)
})

test('a link in the socket folder does not lead the runner to another socket', async () => {
  await using inside = await startInside(host.driver)
  const { socketFolder } = inside.sandbox
  await symlink(join(host.folder, 'lock.sock'), join(socketFolder, 'http.sock'))
  const connection = createConnection(join(socketFolder, 'http.sock'))
  connection.once('connect', () => connection.destroy(new Error('It led there.')))
  const [error] = (await once(connection, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ELOOP')
})

test('a slot is empty when the next sandbox gets it', async () => {
  const first = await startInside(host.driver)
  const { socketFolder, valFolder } = first.sandbox
  await writeFile(join(valFolder, 'left.ts'), '')
  await first.run(`export default () => Deno.writeTextFileSync('/sock/left', '')`)
  await first[Symbol.asyncDispose]()
  await using second = await startInside(host.driver)
  assert.equal(second.sandbox.socketFolder, socketFolder)
  assert.deepEqual(await readdir(valFolder), [])
  assert.ok(!(await readdir(socketFolder)).includes('left'))
})

test('memory is counted', async () => {
  await using inside = await startInside(host.driver)
  await inside.run('export default () => { globalThis.kept = new Uint8Array(50 * 2 ** 20).fill(1) }')
  const bytes = await inside.sandbox.readMemoryBytes()
  assert.ok(bytes !== null && bytes > 50 * 2 ** 20 && bytes < testLimits.memoryBytesMax, String(bytes))
})

test('an id is given to one sandbox at a time', async () => {
  const { driver } = host
  await using taken = await startInside(driver)
  await assert.rejects(() => driver.start(taken.sandbox.id, () => Promise.resolve()), SandboxError)
  assert.equal(await taken.run('export default () => 1'), 1)
})

test('a sandbox that cannot start leaves nothing behind', async () => {
  const cgroups = async () => listChildCgroups((await findRunner(host.folder)).cgroup)
  const before = await cgroups()
  const failing = () => Promise.reject(new Error('cannot listen'))
  await assert.rejects(() => host.driver.start('fails', failing), /Sandbox fails did not start/)
  assert.deepEqual(await cgroups(), before)
})

test('a runner that was killed with -9 leaves nothing behind once the next has opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'valley-sweep-'))
  const runner = spawn(
    process.execPath,
    [new URL('testing/hold-sandboxes.ts', import.meta.url).pathname, 'runc', folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await once(runner.stdout, 'data')
  const names = await findRunner(folder)
  assert.ok((await findTraces(names, folder)).some((trace) => trace.startsWith('process')))
  runner.kill('SIGKILL')
  await once(runner, 'exit')
  const next = await openTestDriver({ kind: 'runc', folder })
  assert.deepEqual(await findRunner(folder), names)
  assert.equal(next.observed[0]?.[0], 'leftoversSwept')
  const traces = await findTraces(names, folder)
  assert.deepEqual(
    traces.filter((trace) => /process|cgroup|slots|vly/.test(trace)),
    [],
  )
  await next[Symbol.asyncDispose]()
  assert.deepEqual(await findTraces(names, folder), [])
  await rm(folder, { recursive: true })
})

test('two runners work side by side and a disposed one takes nothing of the other', async () => {
  const second = await openTestDriver({ kind: 'runc' })
  await using here = await startInside(host.driver)
  await using there = await startInside(second.driver)
  assert.equal(await here.run('export default () => 1'), 1)
  assert.equal(await there.run('export default () => 2'), 2)
  const names = await findRunner(second.folder)
  assert.notEqual(names.number, (await findRunner(host.folder)).number)
  await second[Symbol.asyncDispose]()
  assert.equal(await there.sandbox.ended, 'killed')
  assert.deepEqual(await findTraces(names, second.folder), [])
  await using again = await startInside(host.driver)
  assert.equal(await again.run('export default () => 3'), 3)
  await assert.rejects(() => second.driver.start('late', () => Promise.resolve()), SandboxError)
})

test('two runners cannot share a state folder', async () => {
  await assert.rejects(() => openTestDriver({ kind: 'runc', folder: host.folder }), SandboxError)
})

async function readStatus(id: string): Promise<string> {
  return readFile(`/proc/${await findPid(id)}/status`, 'utf8')
}

async function findPid(id: string): Promise<number> {
  const { cgroup } = await findRunner(host.folder)
  const [pid] = await listCgroupProcesses(join(cgroup, id))
  if (pid === undefined) throw new Error(`Nobody is in ${id}.`)
  return pid
}

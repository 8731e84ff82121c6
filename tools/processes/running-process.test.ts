import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { LogFile } from './log-file.ts'
import { startProcess, type ProcessPlan } from './running-process.ts'

test('a process is ready with its line, not before', async () => {
  await using folder = await openTemporaryFolder()
  const running = await startProcess(plan(folder.path, 'echo one; echo ready; exec sleep 60'))
  assert.equal(running.readyLine, 'ready')
  assert.deepEqual(await running.stop(), { code: null, signal: 'SIGTERM' })
})

test('a process that ends before it is ready is explained by its last lines', async () => {
  await using folder = await openTemporaryFolder()
  const failing = startProcess(plan(folder.path, 'echo out of luck >&2; exit 3'))
  await assert.rejects(failing, /Test ended with code 3.*out of luck/s)
})

test('a process that is never ready is ended when its time is up', async () => {
  await using folder = await openTemporaryFolder()
  const slow = startProcess({ ...plan(folder.path, 'exec sleep 60'), readyTimeoutMs: 50 })
  await assert.rejects(slow, /was not ready after 50 ms/)
})

test('a process that ignores its stop signal is killed when its time is up', async () => {
  await using folder = await openTemporaryFolder()
  const deaf = {
    ...plan(folder.path, 'trap "" TERM; echo ready; while :; do sleep 0.1; done'),
    stopTimeoutMs: 100,
  }
  const running = await startProcess(deaf)
  assert.equal((await running.stop()).signal, 'SIGKILL')
})

test('a process ends with the one that started it, even when that one is killed with -9', async () => {
  await using folder = await openTemporaryFolder()
  const source = `import('${path.join(import.meta.dirname, 'running-process.ts')}').then(async (module) => {
    const isReady = (line) => line === 'ready'
    const running = await module.startProcess({ ...${JSON.stringify(plan(folder.path, readyForever))}, isReady })
    console.log(running.pid)
  })`
  const parent = spawn(process.execPath, ['--eval', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [pid] = (await once(createInterface(parent.stdout), 'line')) as [string]
  parent.kill('SIGKILL')
  await waitUntilGone(Number(pid))
})

test('a log file is moved aside when it is full, so that two of its size are all there is', async () => {
  await using folder = await openTemporaryFolder()
  const file = path.join(folder.path, 'a.log')
  using log = new LogFile(file, 10)
  for (const line of ['first', 'second', 'third', 'fourth', 'fifth']) log.write(line)
  assert.equal(await readFile(`${file}.1`, 'utf8'), 'third\nfourth\n')
  assert.equal(await readFile(file, 'utf8'), 'fifth\n')
})

const readyForever = 'echo ready; exec sleep 60'

function plan(folder: string, shell: string): ProcessPlan {
  return {
    name: 'Test',
    command: '/bin/sh',
    args: ['-c', shell],
    folder,
    env: { PATH: process.env['PATH'] },
    account: null,
    logPath: path.join(folder, 'test.log'),
    isReady: (line) => line === 'ready',
    readyTimeoutMs: 10_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
  }
}

/** A zombie counts as gone: whoever inherited it may take its time. */
async function waitUntilGone(pid: number): Promise<void> {
  const deadline = Date.now() + 5_000
  const isRunning = async () =>
    /^State:\s+[^ZX]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))
  while (await isRunning()) assert.ok(Date.now() < deadline, `process ${pid} is still running`)
}

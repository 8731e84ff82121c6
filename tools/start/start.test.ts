import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { repositoryFolder } from '../repository.ts'
import { findFreePort } from '../services/find-free-port.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'

test('everything starts from nothing, shows its token once, and survives an end of any kind', async () => {
  await using folder = await openTemporaryFolder()
  const port = String(await findFreePort())
  const env = { VALLEY_DATA: folder.path, PORT: port, DATABASE_URL: '', NATS_URL: '' }

  const first = start(env)
  const token = /VALLEY_TOKEN=(\S+)/.exec(await first.waitForWelcome())?.[1]
  assert.equal(await whoAmI(port, token), 'me')
  const twin = start(env)
  assert.equal(await twin.end(), 1)
  assert.match(twin.output(), new RegExp(`already running in ${folder.path}, at http://localhost:${port}`))
  first.child.kill('SIGINT')
  assert.equal(await first.end(), 0)

  const second = start(env)
  assert.doesNotMatch(await second.waitForWelcome(), /VALLEY_TOKEN/)
  assert.equal(await whoAmI(port, token), 'me')
  second.child.kill('SIGKILL')

  const third = start(env)
  await third.waitForWelcome()
  assert.equal(await whoAmI(port, token), 'me')
  process.kill(await findServerPid(folder.path), 'SIGKILL')
  assert.equal(await third.end(), 1)
  assert.match(third.output(), /The server was ended by SIGKILL/)
})

test('a port that is taken is named, with what to do', async () => {
  await using folder = await openTemporaryFolder()
  await using taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  assert.ok(address !== null && typeof address === 'object')
  const free = { PORT: await findFreePort(), VALS_PORT: await findFreePort() }
  for (const setting of ['PORT', 'VALS_PORT', 'RUNNER_STATUS_PORT']) {
    const ports = Object.entries({ ...free, [setting]: address.port }).map(([name, port]) => [
      name,
      String(port),
    ])
    const refused = start({ VALLEY_DATA: folder.path, ...Object.fromEntries(ports) })
    assert.equal(await refused.end(), 1)
    const advice = `Port ${address.port} is in use.* ${setting}=${address.port + 10} npm start`
    assert.match(refused.output(), new RegExp(advice))
  }
})

function start(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, [path.join(repositoryFolder, 'tools/start.ts')], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const output = () => lines.join('\n')
  const stdout = createInterface(child.stdout).on('line', (line) => lines.push(line))
  createInterface(child.stderr).on('line', (line) => lines.push(line))
  const ended = once(child, 'close').then(([code]) => code as number | null)

  async function waitForWelcome(): Promise<string> {
    const signal = AbortSignal.timeout(90_000)
    while (!output().includes('Stop it with Ctrl-C')) {
      await Promise.race([once(stdout, 'line', { signal }), ended.then(() => assert.fail(output()))])
    }
    return output()
  }
  return { child: child as ChildProcess, output, waitForWelcome, end: async () => ended }
}

async function whoAmI(port: string, token: string | undefined): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`http://127.0.0.1:${port}/v1/me`, {
    headers,
    signal: AbortSignal.timeout(10_000),
  })
  return ((await response.json()) as { username?: string }).username
}

/** From the last line in which the server said where it listens. */
async function findServerPid(folder: string): Promise<number> {
  const log = await readFile(path.join(folder, 'server.log'), 'utf8')
  const line = log.split('\n').findLast((line) => line.includes('"listening"'))
  return (JSON.parse(line ?? '{}') as { pid: number }).pid
}

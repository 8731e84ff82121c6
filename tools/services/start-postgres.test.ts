import assert from 'node:assert/strict'
import { readFile, readdir, stat, watch } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { openTemporaryFolder } from './open-temporary-folder.ts'
import { runSql } from './run-sql.ts'
import { startPostgres } from './start-postgres.ts'

test('PostgreSQL killed with -9 comes back in the same folder on the same port with its rows', async () => {
  await using folder = await openTemporaryFolder()
  await using postgres = await startPostgres({ folder: folder.path, durable: true })
  const { url, pid } = postgres
  await runSql(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (1), (2)')
  await postgres.kill()
  await assert.rejects(runSql(url, 'SELECT 1'), /refused/)
  await postgres.restart()
  assert.equal(postgres.url, url)
  assert.notEqual(postgres.pid, pid)
  assert.equal(await runSql(url, 'SELECT sum(n) FROM kept'), '3')
})

test('PostgreSQL starts again although a query outlived its killed postmaster', async () => {
  await using folder = await openTemporaryFolder()
  await using postgres = await startPostgres({ folder: folder.path, durable: false })
  // A tight loop never looks whether its postmaster is still alive.
  const query = runSql(postgres.url, 'DO $$ BEGIN LOOP END LOOP; END $$').catch(() => 'cut off')
  await waitForQuery(postgres.url)
  process.kill(postgres.pid, 'SIGKILL')
  await postgres.restart()
  assert.equal(await runSql(postgres.url, 'SELECT 1'), '1')
  assert.equal(await query, 'cut off')
})

test('a later start in the same folder takes the same port and password', async () => {
  await using folder = await openTemporaryFolder()
  const first = await startPostgres({ folder: folder.path, durable: false })
  await first.stop()
  await using second = await startPostgres({ folder: folder.path, durable: false })
  assert.equal(second.url, first.url)
})

test('a start ends the PostgreSQL that a killed run left in its folder', async () => {
  await using folder = await openTemporaryFolder()
  await using left = await startPostgres({ folder: folder.path, durable: false })
  await using postgres = await startPostgres({ folder: folder.path, durable: false })
  assert.notEqual(postgres.pid, left.pid)
  assert.equal(postgres.url, left.url)
  assert.equal(await runSql(postgres.url, 'SELECT 1'), '1')
})

test('PostgreSQL listens on the loopback alone, asks for the password and hides it from other users', async () => {
  await using folder = await openTemporaryFolder()
  await using postgres = await startPostgres({ folder: folder.path, durable: false })
  assert.equal(await runSql(postgres.url, 'SHOW listen_addresses'), '127.0.0.1')
  const wrong = new URL(postgres.url)
  wrong.password = 'wrong'
  await assert.rejects(runSql(wrong.href, 'SELECT 1'), /password authentication failed/)
  const passwordFile = path.join(folder.path, 'postgres.password')
  assert.equal((await stat(passwordFile)).mode & 0o777, 0o600)
  assert.ok(postgres.url.includes(await readFile(passwordFile, 'utf8')))
})

test('a start that fails says what PostgreSQL said', async () => {
  await using folder = await openTemporaryFolder()
  await using postgres = await startPostgres({ folder: folder.path, durable: false })
  await using other = await openTemporaryFolder()
  const onTakenPort = startPostgres({ folder: other.path, durable: false, port: postgres.port })
  await assert.rejects(onTakenPort, /PostgreSQL ended with code 1.*Address already in use/s)
})

test('a start that is called off leaves nothing half made', async () => {
  await using folder = await openTemporaryFolder()
  const stop = new AbortController()
  const starting = startPostgres({ folder: folder.path, durable: false, signal: stop.signal })
  await Promise.all([
    assert.rejects(starting, { name: 'AbortError' }),
    waitForFile(folder.path, 'postgres.new').then(() => stop.abort()),
  ])
  assert.ok(!(await readdir(folder.path)).includes('postgres'))
  await using postgres = await startPostgres({ folder: folder.path, durable: false })
  assert.equal(await runSql(postgres.url, 'SELECT 1'), '1')
})

async function waitForQuery(url: string): Promise<void> {
  const deadline = Date.now() + 10_000
  const busy = `SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO%'`
  while ((await runSql(url, busy)) !== '1') assert.ok(Date.now() < deadline, 'the query never began')
}

async function waitForFile(folder: string, name: string): Promise<void> {
  for await (const { filename } of watch(folder, { signal: AbortSignal.timeout(10_000) })) {
    if (filename === name) return
  }
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { limits } from '../limits.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { openDatabase } from './open-database.ts'
import { statement } from './statement.ts'

const selectOne = statement<object, { one: number }>(() => sql<{ one: number }>`SELECT 1 AS one`)

test('a pool with a full queue refuses by rejecting, so that nobody is surprised by a throw', async () => {
  await using server = await openTestServer()
  await using database = openDatabase({ url: server.databaseUrl, connectionsMax: 1, onIdleError: () => {} })
  const held = database.pool.query('SELECT pg_sleep(0.5)')
  const waiting = Array.from({ length: limits.poolWaitersMax }, () => selectOne(database.db, {}))
  const refused = selectOne(database.db, {})
  await assert.rejects(refused, { name: 'Fault', code: 'unavailable' })
  await Promise.all([held, ...waiting])
})

test('a database that only statements were executed on leaves no connection open, so that a command ends at once', async () => {
  await using server = await openTestServer()
  const { pool } = await (async () => {
    await using database = openDatabase({ url: server.databaseUrl, connectionsMax: 1, onIdleError: () => {} })
    await selectOne(database.db, {})
    assert.equal(database.pool.totalCount, 1)
    return database
  })()
  assert.equal(pool.totalCount, 0)
})

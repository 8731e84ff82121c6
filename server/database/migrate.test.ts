import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { openEmptyDatabase } from '../testing/open-empty-database.ts'
import { migrate } from './migrate.ts'

const migrations = (await readdir(new URL('migrations', import.meta.url))).toSorted()

async function query(url: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(text)).rows as unknown[]
  } finally {
    await client.end()
  }
}

test('an empty database gets every migration once, in order, however many processes begin at once', async () => {
  await using database = await openEmptyDatabase()
  const applied = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)])
  assert.deepEqual(
    applied.toSorted((a, b) => a.length - b.length),
    [[], [], migrations],
  )
  const rows = await query(database.url, 'SELECT name FROM migrations ORDER BY number')
  assert.deepEqual(
    rows,
    migrations.map((name) => ({ name })),
  )
  assert.deepEqual(await migrate(database.url), [])
})

test('a migration that was changed after it had been applied is refused', async () => {
  await using database = await openEmptyDatabase()
  await migrate(database.url)
  await query(database.url, "UPDATE migrations SET hash = 'of another text' WHERE number = 2")
  await assert.rejects(migrate(database.url), {
    message: /^Migration 0002-\S+ was changed after it had been/,
  })
})

test('a migration that fails leaves nothing of itself behind', async () => {
  await using database = await openEmptyDatabase()
  await query(database.url, 'CREATE TABLE likes (mine text)')
  await assert.rejects(migrate(database.url), { message: /^Migration 0001-\S+ failed and was rolled back/ })
  assert.deepEqual(await query(database.url, 'SELECT name FROM migrations'), [])
  assert.deepEqual(await query(database.url, "SELECT to_regclass('users') AS users"), [{ users: null }])
})

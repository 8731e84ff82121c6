import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, beforeEach, test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { newId } from '../database/ids.ts'
import { limits } from '../limits.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { newKeyText, parseKeysOrNull } from './keys.ts'
import { upsertVariable } from './queries.ts'
import { rotateKeys } from './rotate-keys.ts'
import { openValueOrNull, sealValue } from './seal-value.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const { db } = server
beforeEach(async () => db.deleteFrom('variables').execute())

const texts = { old: newKeyText('old'), new: newKeyText('new') }
const [oldKey = assert.fail(), newKey = assert.fail()] = parseKeysOrNull(`${texts.old},${texts.new}`) ?? []

async function insertVariables(count: number, key = oldKey) {
  const owner_id = newId()
  const rows = Array.from({ length: count }, (_, i) => ({
    ...sealValue(key, { owner_id, holder_id: owner_id, name: `V${i}` }, `value ${i}`),
    id: newId(),
  }))
  await db.insertInto('variables').values(rows).execute()
  return rows
}

async function readVariables() {
  return db.selectFrom('variables').selectAll().orderBy('id').execute()
}

test('after a rotation every value opens with the first key alone, and is what it was', async () => {
  const before = await insertVariables(limits.rotationBatchRows * 2 + 50)
  const already = await insertVariables(3, newKey)
  const rotation = await rotateKeys(db, [newKey, oldKey])
  assert.deepEqual(rotation, { resealed: before.length, unreadable: 0, keysInUse: ['new'] })
  const now = await readVariables()
  assert.equal(now.length, before.length + already.length)
  for (const variable of now) {
    assert.equal(openValueOrNull([newKey], variable), variable.name.replace('V', 'value '))
  }
  assert.deepEqual(
    now.map(({ id }) => id),
    [...before, ...already].map(({ id }) => id).toSorted(),
    'no write took place, so that no revision changes',
  )
  assert.equal((await rotateKeys(db, [newKey])).resealed, 0)
})

test('a rotation that is ended half way goes on from there when it is started again', async () => {
  const rows = await insertVariables(limits.rotationBatchRows * 2 + 50)
  const stopAt = rows.map(({ id }) => id).toSorted()[limits.rotationBatchRows + 10] ?? assert.fail()
  await sql`CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$`.execute(
    db,
  )
  await sql`CREATE TRIGGER stop BEFORE UPDATE ON variables FOR EACH ROW
    WHEN (old.id = ${sql.lit(stopAt)}) EXECUTE FUNCTION stop()`.execute(db)
  await assert.rejects(rotateKeys(db, [newKey, oldKey]), /stopped/)
  const done = (await readVariables()).filter(({ key_id }) => key_id === 'new')
  assert.equal(done.length, limits.rotationBatchRows)
  for (const variable of await readVariables()) {
    assert.equal(openValueOrNull([newKey, oldKey], variable), variable.name.replace('V', 'value '))
  }
  await sql`DROP TRIGGER stop ON variables`.execute(db)
  const { resealed, keysInUse } = await rotateKeys(db, [newKey, oldKey])
  assert.equal(resealed, rows.length - done.length)
  assert.deepEqual(keysInUse, ['new'])
})

test('what cannot be opened is counted, left as it is, and does not keep the others from it', async () => {
  const [lostKey = assert.fail()] = parseKeysOrNull(newKeyText('lost')) ?? []
  const lost = await insertVariables(2, lostKey)
  await insertVariables(5)
  const [moved = assert.fail()] = await insertVariables(1)
  await db.updateTable('variables').set({ name: 'MOVED' }).where('id', '=', moved.id).execute()
  const rotation = await rotateKeys(db, [newKey, oldKey])
  assert.deepEqual(rotation, { resealed: 5, unreadable: 3, keysInUse: ['lost', 'new', 'old'] })
  const left = (await readVariables()).filter(({ key_id }) => key_id === 'lost')
  assert.deepEqual(
    left.map(({ sealed_value }) => sealed_value),
    lost.map(({ sealed_value }) => sealed_value),
  )
})

test('a value that is set while it is being sealed anew stays', async () => {
  const [row = assert.fail()] = await insertVariables(1)
  const underWay: Promise<unknown>[] = []
  await db.transaction().execute(async (hold) => {
    await sql`SELECT FROM variables WHERE id = ${row.id} FOR UPDATE`.execute(hold)
    underWay.push(rotateKeys(db, [newKey, oldKey]))
    await waitUntil('the rotation has read the value and waits for its row', async () => {
      const { rows } = await sql`SELECT FROM pg_stat_activity
        WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(db)
      return rows.length === 1
    })
    await upsertVariable(hold, { ...sealValue(oldKey, row, 'set meanwhile'), id: newId() })
  })
  await Promise.all(underWay)
  const [now = assert.fail()] = await readVariables()
  assert.equal(openValueOrNull([newKey, oldKey], now), 'set meanwhile')
})

test("the operator's command tells how far it came, and fails while another key is in use", async () => {
  await insertVariables(4)
  const [lostKey = assert.fail()] = parseKeysOrNull(newKeyText('lost')) ?? []
  const [lost = assert.fail()] = await insertVariables(1, lostKey)
  const run = async (ENVIRONMENT_KEYS: string) => {
    const admin = new URL('../admin.ts', import.meta.url).pathname
    const env = { ...process.env, DATABASE_URL: server.databaseUrl, ENVIRONMENT_KEYS }
    return promisify(execFile)(process.execPath, [admin, 'rotate-environment-keys'], { env })
  }
  const keys = `${texts.new},${texts.old}`
  await assert.rejects(run(keys), ({ code, stdout }: { code?: number; stdout?: string } & Error) => {
    assert.match(stdout ?? '', /^4 values .* key new\.\n1 values cannot be opened .*\nStill in use: lost\./)
    return code === 1
  })
  await db.deleteFrom('variables').where('id', '=', lost.id).execute()
  const { stdout } = await run(keys)
  assert.match(stdout, /^0 values .*\nNo other key is in use any more/)
})

import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '../database/open-database.ts'
import { limits } from '../limits.ts'
import { newIds } from '../queue/testing/waiting-runs.ts'
import { cloneDatabase } from '../testing/open-test-server.ts'
import { OwnerTurns } from './owner-turns.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
// Without a server, whose deliverer would take them.
const url = await cloneDatabase(opened)
const { db } = opened.use(openDatabase({ url, connectionsMax: 1, onIdleError: () => {} }))
beforeEach(() => sql`DELETE FROM alerts`.execute(db))

const nobody = new Set<string>()

/** As if raised, of vals that are not there. */
async function insertDeliveries(ownerIds: readonly string[], { count = 1, dueInMs = -1_000 } = {}) {
  await sql`
    WITH made AS (
      INSERT INTO alerts (val_id, owner_id, url, quiet_ms, id, key_id, sealed_value)
      SELECT gen_random_uuid(), owner_id, 'https://hooks.example.com', 0, gen_random_uuid(), 'none', ''
      FROM unnest(${ownerIds}::uuid[]) AS owner_id RETURNING val_id, owner_id
    )
    INSERT INTO deliveries (id, owner_id, val_id, run, silenced_until, due_at, attempts_left)
    SELECT gen_random_uuid(), owner_id, val_id, '{}', now(), now() + make_interval(secs => ${dueInMs} / 1000.0), 5
    FROM made, generate_series(1, ${count})`.execute(db)
}

test('everybody has a turn before anybody has a second, however many deliveries one has', async () => {
  const owners = newIds(41)
  await insertDeliveries(owners.slice(20, 21), { count: 5_000, dueInMs: -3_600_000 })
  await insertDeliveries(owners.filter((_, at) => at !== 20))
  const turns = new OwnerTurns()
  const seen: string[] = []
  while (seen.length < owners.length) {
    seen.push(...(await turns.next(db, { limit: 8, except: nobody })))
  }
  assert.deepEqual(seen, owners)
  assert.deepEqual(await turns.next(db, { limit: 8, except: nobody }), owners.slice(0, 8), 'and round again')
})

test('whoever is busy, or has nothing due, is passed over, and those behind them are reached', async () => {
  const owners = newIds(limits.deliveringOwnersWalkedMax + 40)
  await insertDeliveries(owners.slice(0, -2), { dueInMs: 60_000 })
  await insertDeliveries(owners.slice(-2))
  const [busy = '', last = ''] = owners.slice(-2)
  const turns = new OwnerTurns()
  assert.deepEqual(await turns.next(db, { limit: 8, except: new Set([busy]) }), [last])
})

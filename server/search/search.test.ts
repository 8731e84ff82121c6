import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { BasicVal } from '@valley/contract/vals.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

async function search(query: string, caller: TestCaller = anyone): Promise<readonly string[]> {
  const { data } = await readList<BasicVal>(caller, `/v1/search/vals?query=${encodeURIComponent(query)}`)
  return data.map(({ id }) => id)
}

test('a val is found by its name, its readme and its code', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, {
    name: 'zebraCrossing',
    readme: 'Counts *giraffes*.',
    code: 'export const hippopotamus = "crocodile"',
  })
  for (const query of [
    'zebraCrossing',
    'giraffes',
    'hippopotamus',
    'crocodile',
    'GIRAFFES',
    'Counts crocodile',
  ]) {
    assert.deepEqual(await search(query), [id], query)
  }
  assert.deepEqual(await search('elephant'), [])
  assert.deepEqual(await search('giraffes elephant'), [], 'every word has to occur')
})

test('parts of camelCase and snake_case names are words of their own', async () => {
  const alice = await newCaller(server, 'alice')
  const camel = await createVal(alice, { name: 'fetchTramTimes', code: 'function parseStopTable() {}' })
  const snake = await createVal(alice, { name: 'ferry_departure_board' })
  for (const query of ['tram', 'times', 'tram times', 'stop', 'parseStopTable', 'table']) {
    assert.deepEqual(await search(query), [camel.id], query)
  }
  for (const query of ['ferry', 'departure', 'ferry_departure', 'board ferry']) {
    assert.deepEqual(await search(query), [snake.id], query)
  }
})

test('a piece of a name of three characters or more finds it, and so does the beginning of the last word', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { name: 'bandwidthMonitor', readme: 'quicksilver' })
  for (const query of ['dwi', 'andwidthMon', 'NITOR', 'quick', 'bandwidth quicksil']) {
    assert.deepEqual(await search(query), [id], query)
  }
  assert.deepEqual(await search('silver'), [], 'pieces are of names only')
})

test('vals of exactly the name asked for come first, then the newest', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const exact = await createVal(alice, { name: 'lighthouse' })
  const older = await createVal(alice, { name: 'lighthouseKeeper' })
  const newer = await createVal(alice, { name: 'other', readme: 'a lighthouse' })
  const exactToo = await createVal(bob, { name: 'LightHouse' })
  assert.deepEqual(await search('lighthouse'), [exactToo.id, exact.id, newer.id, older.id])
})

test('unlisted and private vals are found by their owner only', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const ids: string[] = []
  for (const privacy of ['public', 'unlisted', 'private'] as const) {
    ids.unshift((await createVal(alice, { name: `periscope_${privacy}`, privacy })).id)
  }
  assert.deepEqual(await search('periscope', alice), ids)
  assert.deepEqual(await search('periscope', bob), [ids[2]])
  assert.deepEqual(await search('periscope'), [ids[2]])
  assert.deepEqual(await search('periscope_private', bob), [])
})

test('search follows every change of a val at once', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'anvil', code: 'hammerOne' })
  const path = `/v1/vals/${val.id}`
  await saveCode(alice, val, 'hammerTwo')
  assert.deepEqual(await search('hammerOne'), [], 'old versions are not searched')
  assert.deepEqual(await search('hammerTwo'), [val.id])
  await alice.delete(`${path}/versions/2`)
  assert.deepEqual(await search('hammerOne'), [val.id])
  await alice.put(path, { name: 'bellows', readme: 'tongs' })
  assert.deepEqual(
    [await search('anvil'), await search('bellows'), await search('tongs')],
    [[], [val.id], [val.id]],
  )
  await alice.put(path, { privacy: 'private' })
  assert.deepEqual(await search('bellows'), [])
  await alice.put(path, { privacy: 'public' })
  assert.deepEqual(await search('bellows'), [val.id])
  await alice.delete(path)
  assert.deepEqual(await search('bellows', alice), [])
})

test('words of other scripts are found', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { readme: 'Grüße aus Köln. Привет! 日本語', code: 'const größe = 1' })
  for (const query of ['Grüße', 'köln', 'größe', 'привет', '日本語']) {
    assert.deepEqual(await search(query), [id], query)
  }
})

test('odd characters in a query are no syntax: they find nothing or what they surround', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { name: 'windmill', readme: '100% wind_power' })
  const odd = [
    "'",
    '"',
    '\\',
    '%',
    '_',
    '(',
    ')',
    '&',
    '|',
    '!',
    ':*',
    '<->',
    '🎉',
    '--',
    ';',
    '   ',
    "' OR 1=1 --",
  ]
  for (const query of odd) assert.deepEqual(await search(query), [], query)
  for (const query of [
    "'windmill'",
    '(windmill',
    'windmill:*',
    '%windmill\\',
    'windmill | wind',
    'wind_power',
  ]) {
    assert.deepEqual(await search(query), [id], query)
  }
  assert.deepEqual(await search('windmill & !nothing'), [], 'both are words')
  assert.deepEqual(await search('%%%'), [], 'a percent sign is no wildcard')
  assert.deepEqual(await search('w_ndmill'), [], 'an underscore is no wildcard')
})

test('a query has 1 to 256 characters', async () => {
  assert.deepEqual(await search('q'.repeat(256)), [])
  for (const query of ['?query=', '', `?query=${'q'.repeat(257)}`, '?query=%00']) {
    const { issues } = assertFault(await anyone.get(`/v1/search/vals${query}`), 'invalid_request')
    assert.equal(issues?.[0]?.path, 'query.query')
  }
})

test('a val is found by code that was saved while its readme was being changed', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice, { name: 'raced', code: 'const before = 1' })
  let change: Promise<{ status: number }> | undefined
  await server.db.transaction().execute(async (save) => {
    await sql`
      WITH c AS (INSERT INTO codes VALUES (sha256('const walrus = 1'), 'const walrus = 1') RETURNING hash),
      v AS (UPDATE vals SET version = 2, last_version = 2, code_hash = c.hash FROM c WHERE id = ${id}
        RETURNING vals.id, vals.owner_id, vals.code_hash)
      INSERT INTO versions SELECT v.owner_id, v.id, 2, v.code_hash, now() FROM v`.execute(save)
    change = alice.put(`/v1/vals/${id}`, { readme: 'changed' })
    await waitUntil('the change waits for the save', async () => {
      const { rows } = await sql`
        SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`.execute(
        server.db,
      )
      return rows.length > 0
    })
  })
  assert.equal((await change)?.status, 204)
  assert.deepEqual(await search('walrus'), [id])
})

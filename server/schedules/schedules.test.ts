import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import type { Schedule } from '@valley/contract/schedules.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function put(caller: TestCaller, valId: string, schedule: object): Promise<Schedule> {
  const { status, body, text } = await caller.put<Schedule>(`/v1/vals/${valId}/schedule`, schedule)
  assert.equal(status, 200, text)
  return body
}

async function get(caller: TestCaller, valId: string): Promise<Schedule> {
  const { status, body, text } = await caller.get<Schedule>(`/v1/vals/${valId}/schedule`)
  assert.equal(status, 200, text)
  return body
}

test('a schedule has defaults, is planned at once, read back, changed and deleted; again is fine', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  assertFault(await alice.get(`/v1/vals/${id}/schedule`), 'not_found')
  const { nextRunAt, ...created } = await put(alice, id, { cron: '0 0 1 1 *' })
  assert.deepEqual(created, {
    cron: '0 0 1 1 *',
    timeZone: 'UTC',
    overlap: 'skip',
    missed: 'skip',
    enabled: true,
    lastRunAt: null,
    lastMissedAt: null,
  })
  assert.equal(nextRunAt, `${new Date().getUTCFullYear() + 1}-01-01T00:00:00.000Z`)
  assert.deepEqual(await get(alice, id), { ...created, nextRunAt })

  const everything = {
    cron: '@daily',
    timeZone: 'Asia/Kolkata',
    overlap: 'queue',
    missed: 'once',
    enabled: true,
  }
  const changed = await put(alice, id, everything)
  assert.deepEqual({ ...changed, ...everything }, changed)
  assert.match(changed.nextRunAt ?? '', /T18:30:00\.000Z$/)
  for (let i = 0; i < 2; i++) assert.equal((await alice.delete(`/v1/vals/${id}/schedule`)).status, 204)
  assertFault(await alice.get(`/v1/vals/${id}/schedule`), 'not_found')
})

test('a disabled schedule plans nothing, and an enabled one plans again', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  assert.equal((await put(alice, id, { cron: '* * * * *', enabled: false })).nextRunAt, null)
  assert.notEqual((await put(alice, id, { cron: '* * * * *' })).nextRunAt, null)
  assert.equal((await put(alice, id, { cron: '* * * * *', enabled: false })).nextRunAt, null)
})

test('PUT of the same again keeps what is planned, even if it is overdue; PUT of a change plans anew', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  await put(alice, id, { cron: '0 0 1 1 *' })
  const { rows } = await sql<{ next_at: Date }>`
    UPDATE schedules SET next_at = next_at - interval '1 day' WHERE val_id = ${id} RETURNING next_at`.execute(
    server.db,
  )
  const moved = rows[0]?.next_at.toISOString()
  assert.equal((await put(alice, id, { cron: '0 0 1 1 *' })).nextRunAt, moved)
  assert.notEqual((await put(alice, id, { cron: '0 0 1 1 *', missed: 'once' })).nextRunAt, moved)
})

test('an expression or a time zone that does not fit is refused, and the answer says what does', async () => {
  const alice = await newCaller(server, 'alice')
  const { id } = await createVal(alice)
  const refused: readonly (readonly [schedule: object, path: string, message: RegExp])[] = [
    [{ cron: '61 * * * *' }, 'body.cron', /"61" for the minute, which takes 0 to 59/],
    [{ cron: 'every day' }, 'body.cron', /five fields/],
    [{ cron: '0 0 30 2 *' }, 'body.cron', /never comes true/],
    [{ cron: '' }, 'body.cron', /./],
    [{ cron: '* '.repeat(200) }, 'body.cron', /200/],
    [{}, 'body.cron', /./],
    [{ cron: '@daily', timeZone: 'Europe/Atlantis' }, 'body.timeZone', /such as UTC or Europe\/Berlin/],
    [{ cron: '@daily', timeZone: '+02:00' }, 'body.timeZone', /such as UTC or Europe\/Berlin/],
    [{ cron: '@daily', overlap: 'both' }, 'body.overlap', /./],
    [{ cron: '@daily', missed: 'all' }, 'body.missed', /./],
    [{ cron: '@daily', enabled: 'yes' }, 'body.enabled', /./],
  ]
  for (const [schedule, path, message] of refused) {
    const { issues } = assertFault(await alice.put(`/v1/vals/${id}/schedule`, schedule), 'invalid_request')
    assert.equal(issues?.[0]?.path, path, JSON.stringify(schedule))
    assert.match(issues[0].message, message)
  }
  assertFault(await alice.get(`/v1/vals/${id}/schedule`), 'not_found')
})

test('whoever does not own a val finds no schedule of it, whatever its privacy', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  for (const privacy of ['public', 'unlisted', 'private'] as const) {
    const { id } = await createVal(alice, { privacy })
    const set = await put(alice, id, { cron: '@yearly' })
    assertFault(await bob.get(`/v1/vals/${id}/schedule`), 'not_found')
    assertFault(await bob.put(`/v1/vals/${id}/schedule`, { cron: '@daily' }), 'not_found')
    assertFault(await bob.delete(`/v1/vals/${id}/schedule`), 'not_found')
    assert.deepEqual(await get(alice, id), set)
  }
})

test('a schedule that is set while its val is deleted does not stay', async () => {
  const alice = await newCaller(server, 'alice')
  for (let i = 0; i < 5; i++) {
    const { id } = await createVal(alice)
    await Promise.all([
      ...['@daily', '@hourly', '@weekly'].map(async (cron) => alice.put(`/v1/vals/${id}/schedule`, { cron })),
      alice.delete(`/v1/vals/${id}`),
    ])
    assertFault(await alice.put(`/v1/vals/${id}/schedule`, { cron: '@daily' }), 'not_found')
    const { rows } = await sql`
      SELECT FROM schedules s WHERE val_id = ${id} AND NOT EXISTS (
        SELECT FROM deleted_vals d WHERE d.val_id = s.val_id)`.execute(server.db)
    assert.equal(rows.length, 0, 'what is left is in the care of upkeep')
  }
})

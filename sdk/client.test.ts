import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RunSource, RunStatus } from '@valley/contract/runs.ts'
import { newId } from '@valley/server/database/ids.ts'
import { openTestServer, type TestServer, type TestUser } from '@valley/server/testing/open-test-server.ts'
import { type Client, type ClientOptions, createClient, etagOf, isValleyError } from './client.ts'
import { routes } from './routes.ts'
import { shortTour, tourOf } from './testing/short-tour.ts'

/** Every test has its own names in one world of two users. */
let server: TestServer
let alice: TestUser
let bob: TestUser
const sent = new Set<string>()

before(async () => {
  server = await openTestServer()
  alice = await server.createUser('alice')
  bob = await server.createUser('bob')
})

after(() => server[Symbol.asyncDispose]())

function clientOf(user: TestUser | null, options: Partial<ClientOptions> = {}): Client {
  return createClient({ baseUrl: server.url, token: user?.token, fetch: notingFetch, ...options })
}

async function notingFetch(url: URL, init: RequestInit) {
  sent.add(`${init.method} ${url.pathname}`)
  return server.fetch(url, init)
}

test('a val is created, read by id and by name, changed, and deleted', async () => {
  const { vals } = clientOf(alice)
  const made = await vals.create({ name: 'walk', code: 'export default 1', readme: 'First.' })
  assert.deepEqual([made.name, made.version, made.privacy, made.type], ['walk', 1, 'public', 'script'])
  assert.deepEqual(await vals.get(made.id), made)
  assert.deepEqual(await vals.getByName('alice', 'WALK'), made)
  await vals.update(made.id, { readme: null, privacy: 'unlisted' })
  const changed = await vals.get(made.id)
  assert.deepEqual([changed.readme, changed.privacy, changed.version], [null, 'unlisted', 1])
  await vals.delete(made.id)
  await assert.rejects(vals.get(made.id), { code: 'not_found', status: 404 })
})

test('put creates a val by its name and then saves it, and the same again changes nothing', async () => {
  const { vals, request } = clientOf(alice)
  const first = await request('putVal', { body: { name: 'put', code: '1' } })
  assert.equal(first.status, 201)
  const second = await vals.put({ name: 'put', code: '2' })
  const again = await vals.put({ name: 'put', code: '2' })
  assert.deepEqual([second.id, second.version, again], [first.body.id, 2, second])
})

test('versions are saved, listed, read as a module, and deleted', async () => {
  const { vals } = clientOf(alice)
  const { id } = await vals.create({ name: 'versions', code: 'export default 1' })
  const saved = await vals.versions.create(id, { code: 'export default 2' })
  assert.equal(saved.version, 2)
  const page = await vals.versions.list(id)
  assert.deepEqual(
    page.data.map(({ version }) => version),
    [2, 1],
  )
  assert.equal((await vals.versions.get(id, 1)).code, 'export default 1')
  assert.equal(await vals.module(id), 'export default 2')
  assert.equal(await vals.module(id, { version: 1 }), 'export default 1')
  await vals.versions.delete(id, 2)
  assert.equal((await vals.get(id)).version, 1)
  await assert.rejects(vals.versions.delete(id, 1), { code: 'last_version' })
})

test('a write with a val as ifMatch fails once somebody else has saved', async () => {
  const { vals } = clientOf(alice)
  const read = await vals.create({ name: 'careful', code: '1' })
  const saved = await vals.versions.create(read.id, { code: '2' }, { ifMatch: read })
  const stale = [
    () => vals.put({ name: 'careful', code: '3' }, { ifMatch: read }),
    () => vals.update(read.id, { readme: 'x' }, { ifMatch: read }),
    () => vals.versions.create(read.id, { code: '3' }, { ifMatch: read }),
    () => vals.versions.delete(read.id, 1, { ifMatch: read }),
    () => vals.delete(read.id, { ifMatch: etagOf(read) }),
  ]
  for (const write of stale) await assert.rejects(write, { code: 'precondition_failed', status: 412 })
  await vals.delete(read.id, { ifMatch: saved })
})

test('an answer that was compressed on its way can be used as ifMatch', async () => {
  const { vals } = clientOf(alice)
  const read = await vals.create({ name: 'large', code: `// ${'x'.repeat(50_000)}` })
  await vals.update(read.id, { readme: 'x' }, { ifMatch: await vals.get(read.id) })
})

test('request tells by 304 that a val has not changed', async () => {
  const { vals, request } = clientOf(alice)
  const val = await vals.create({ name: 'unchanged', code: '1' })
  const input = { params: { val_id: val.id } }
  const same = await request('getVal', input, { ifNoneMatch: val })
  assert.deepEqual([same.status, same.body], [304, undefined])
  await vals.update(val.id, { readme: 'x' })
  const changed = await request('getVal', input, { ifNoneMatch: val })
  assert.deepEqual([changed.status, changed.body?.readme], [200, 'x'])
})

test('a list is followed to its end over the links of the server', async () => {
  const { vals, me, users } = clientOf(bob)
  const names = ['one', 'two', 'three', 'four', 'five']
  for (const name of names) await vals.create({ name, code: '1' })
  for (const list of [vals.list, me.vals.list]) {
    const all = await Array.fromAsync(list({ limit: 2 }), ({ name }) => name)
    assert.deepEqual(all, names.toReversed())
  }
  const seen = await Array.fromAsync(
    clientOf(alice).users.vals.list(bob.id, { limit: 2 }),
    ({ name }) => name,
  )
  assert.deepEqual(seen, names.toReversed())
  const second = await (await users.vals.list(bob.id, { limit: 2 })).next()
  const back = await second?.prev()
  assert.deepEqual(
    back?.data.map(({ name }) => name),
    ['five', 'four'],
  )
})

test('comments are made, listed by both sides, changed, and deleted', async () => {
  const [mine, hers] = [clientOf(bob), clientOf(alice)]
  const { id } = await hers.vals.create({ name: 'commented', code: '1' })
  const made = await mine.vals.comments.create(id, 'Nice')
  const changed = await mine.comments.update(made.id, 'Very nice')
  assert.deepEqual([changed.id, changed.comment], [made.id, 'Very nice'])
  const onVal = await hers.vals.comments.list(id)
  const received = await hers.me.comments.list({ relationship: 'received', until: new Date() })
  const given = await mine.me.comments.list({ relationship: 'given', since: new Date(0) })
  assert.deepEqual([onVal.data, received.data, given.data], [[changed], [changed], [changed]])
  await hers.comments.delete(made.id)
  assert.deepEqual((await hers.vals.comments.list(id)).data, [])
})

test('likes are added, listed, and taken back, each as often as one likes', async () => {
  const { id } = await clientOf(alice).vals.create({ name: 'liked', code: '1' })
  const { likes } = clientOf(bob).me
  await likes.add(id)
  await likes.add(id)
  const page = await likes.list()
  assert.deepEqual(
    page.data.map((val) => val.id),
    [id],
  )
  await likes.remove(id)
  await likes.remove(id)
  assert.deepEqual((await likes.list()).data, [])
})

test('profiles are read by id and by name, and the own one is changed', async () => {
  const { me, users } = clientOf(alice)
  const changed = await me.update({ bio: 'I write small programs.' })
  assert.deepEqual(await me.get(), changed)
  const { email, createdAt, ...seen } = changed
  assert.deepEqual([email, Number.isNaN(Date.parse(createdAt))], ['alice@example.com', false])
  assert.deepEqual(await users.get(alice.id), seen)
  assert.deepEqual(await users.getByName('alice'), seen)
})

test('a token is made with fewer scopes, is listed without its secret, and is worth nothing once deleted', async () => {
  const { tokens } = clientOf(alice).me
  const { token, ...shown } = await tokens.create({ name: 'laptop', scopes: ['val:read'] })
  const limited = createClient({ baseUrl: server.url, token })
  await limited.me.vals.list()
  await assert.rejects(limited.vals.create({ code: '1' }), { code: 'forbidden_scope' })
  const listed = (await tokens.list()).data.find(({ id }) => id === shown.id)
  assert.deepEqual(Object.keys(listed ?? {}).toSorted(), Object.keys(shown).toSorted())
  await tokens.delete(shown.id)
  await assert.rejects(limited.me.vals.list(), { code: 'unauthenticated', status: 401 })
})

test('runs are filtered by outcome, source and time', async () => {
  const { vals, me } = clientOf(alice)
  const { id: val_id } = await vals.create({ name: 'runs', code: '1' })
  const record = async (source: RunSource, status: RunStatus) => {
    const id = newId()
    const row = { id, owner_id: alice.id, val_id, parent_id: null, version: 1, source, status }
    await server.db
      .insertInto('runs')
      .values({ ...row, started_at: null, ended_at: null, error: null })
      .execute()
    return id
  }
  const [succeeded, failed] = [await record('http', 'succeeded'), await record('api', 'failed')]
  const idsOf = async (filter: Parameters<typeof me.runs.list>[0]) => {
    const lists = [me.runs.list(filter), vals.runs.list(val_id, filter)]
    const [all, ofVal] = await Promise.all(lists.map((list) => Array.fromAsync(list, ({ id }) => id)))
    assert.deepEqual(all, ofVal)
    return all
  }
  assert.deepEqual(await idsOf({ limit: 1 }), [failed, succeeded])
  assert.deepEqual(await idsOf({ error: true }), [failed])
  assert.deepEqual(await idsOf({ error: false }), [succeeded])
  assert.deepEqual(await idsOf({ source: ['http', 'schedule'] }), [succeeded])
  assert.deepEqual(await idsOf({ since: new Date(Date.now() + 60_000) }), [])
  assert.deepEqual(await idsOf({ until: new Date(Date.now() + 60_000), limit: 1 }), [failed, succeeded])
})

test('references show who imports the own vals', async () => {
  const used = await clientOf(alice).vals.create({ name: 'used', code: '1' })
  const user = await clientOf(bob).vals.create({ name: 'user', code: '1' })
  const row = { owner_id: bob.id, val_id: user.id, depends_on_owner_id: alice.id, depends_on_id: used.id }
  await server.db
    .insertInto('val_references')
    .values({ id: newId(), ...row })
    .execute()
  const page = await clientOf(alice).me.references.list({ since: new Date(0) })
  assert.deepEqual(
    page.data.map(({ reference, dependsOn }) => [reference.name, dependsOn.name]),
    [['user', 'used']],
  )
})

test('search finds by words, also without a token', async () => {
  const { id } = await clientOf(alice).vals.create({
    name: 'zebra',
    code: '1',
    readme: 'Stripes & spots + more',
  })
  for (const client of [clientOf(alice), clientOf(null)]) {
    const page = await client.search.vals('stripes & spots +', { limit: 5 })
    assert.deepEqual(
      page.data.map((val) => val.id),
      [id],
    )
  }
})

test('without a token, what everyone may see can be read and nothing else', async () => {
  const { id } = await clientOf(alice).vals.create({ name: 'open', code: '1' })
  const anyone = clientOf(null)
  assert.equal((await anyone.vals.get(id)).name, 'open')
  await assert.rejects(anyone.vals.delete(id), { code: 'unauthenticated' })
})

test('a POST whose answer was lost is repeated and still makes one val', async () => {
  let attempts = 0
  const losingFirst: ClientOptions['fetch'] = async (url, init) => {
    const response = await server.fetch(url, init)
    if (++attempts === 1) throw new TypeError('The connection was cut.')
    return response
  }
  const { vals } = clientOf(alice, { fetch: losingFirst })
  const made = await vals.create({ name: 'once', code: '1' })
  assert.deepEqual([made.name, attempts], ['once', 2])
})

test('the same idempotency key gives the first answer again, and another request with it is refused', async () => {
  const { vals } = clientOf(alice)
  const first = await vals.create({ code: '1' }, { idempotencyKey: 'k1' })
  assert.deepEqual(await vals.create({ code: '1' }, { idempotencyKey: 'k1' }), first)
  const other = vals.create({ code: '2' }, { idempotencyKey: 'k1' })
  await assert.rejects(other, { code: 'idempotency_key_reused' })
})

test('what the server says about an error arrives in it', async () => {
  const { vals } = clientOf(alice)
  await vals.create({ name: 'taken', code: '1' })
  const taken = await vals.create({ name: 'Taken', code: '1' }).catch((error: unknown) => error)
  assert.ok(isValleyError(taken, 'name_taken'))
  assert.ok(taken.requestId)
  assert.equal(taken.headers?.get('x-should-retry'), 'false')
  const invalid = await vals.create({ name: '1x', code: '' }).catch((error: unknown) => error)
  assert.ok(isValleyError(invalid, 'invalid_request'))
  assert.deepEqual(invalid.issues.map(({ path }) => path).toSorted(), ['body.code', 'body.name'])
})

test('the tour that other runtimes take works in this one', async () => {
  assert.deepEqual(await shortTour({ baseUrl: server.url, token: alice.token }), tourOf('alice'))
})

test('environment variables are set for all vals and for one, listed without their values, and deleted', async () => {
  const { vals, me } = clientOf(alice)
  const { id } = await vals.create({ name: 'env', code: '1' })
  await me.env.set('SHARED', 'for all')
  await vals.env.set(id, 'OWN', 'for one')
  const [mine, its] = [await me.env.list(), await vals.env.list(id)]
  assert.deepEqual(
    [mine.data.map(({ name }) => name), its.data.map(({ name }) => name)],
    [['SHARED'], ['OWN']],
  )
  assert.deepEqual(Object.keys(its.data[0] ?? {}), ['name', 'updatedAt'])
  await assert.rejects(vals.env.set(id, 'PATH', 'x'), { code: 'invalid_request' })
  for (let i = 0; i < 2; i++) {
    await me.env.delete('SHARED')
    await vals.env.delete(id, 'OWN')
  }
  assert.deepEqual([...(await me.env.list()).data, ...(await vals.env.list(id)).data], [])
})

test('a run is read by its id, and a val is watched until one has seen enough', async () => {
  const { vals, runs } = clientOf(alice)
  const { id } = await vals.create({ name: 'watched', code: '1' })
  await assert.rejects(runs.get(newId()), { code: 'not_found' })
  for await (const { event, data } of vals.tail(id, { lastEventId: 'of another time' })) {
    assert.deepEqual([event, Object.keys(data)], ['gap', ['message']])
    break
  }
})

test('a val has a schedule until it is deleted', async () => {
  const { vals } = clientOf(alice)
  const { id } = await vals.create({ name: 'scheduled', code: '1' })
  const schedule = await vals.schedule.put(id, { cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' })
  assert.ok(schedule.nextRunAt !== null && Date.parse(schedule.nextRunAt) > Date.now())
  assert.deepEqual(await vals.schedule.get(id), schedule)
  await assert.rejects(vals.schedule.put(id, { cron: 'at nine' }), { code: 'invalid_request' })
  for (let i = 0; i < 2; i++) await vals.schedule.delete(id)
  await assert.rejects(vals.schedule.get(id), { code: 'not_found' })
})

test('a val is run, with a bound on how often, and a run that waits is canceled', async () => {
  const { vals, runs, me } = clientOf(alice)
  const { id } = await vals.create({ name: 'run', code: '1' })
  const retry = { attempts: 2, backoffSeconds: 1 }
  assert.deepEqual(await vals.retry.set(id, retry), retry)
  assert.deepEqual(await vals.retry.get(id), retry)
  const queued = await vals.run(id, { args: [1, { two: 2 }], wait: 1 })
  assert.deepEqual([queued.status, queued.args, queued.source], ['queued', [1, { two: 2 }], 'api'])
  const canceled = await runs.cancel(queued.id)
  assert.deepEqual([canceled.status, (await runs.get(queued.id)).status], ['canceled', 'canceled'])
  assert.equal((await vals.run(id)).status, 'queued')
  assert.deepEqual((await me.usage()).queuedRuns, { used: 1, limit: 100_000 })
})

test('the webhook of a val is named, read without its secret, and deleted', async () => {
  const { vals } = clientOf(alice)
  const { id } = await vals.create({ name: 'alerts', code: '1' })
  const webhook = { url: 'https://hooks.example.com', quietSeconds: 60 }
  const { secret, ...alerts } = await vals.alerts.put(id, webhook)
  assert.match(secret ?? '', /^whsec_/)
  assert.deepEqual(await vals.alerts.get(id), alerts)
  assert.deepEqual(alerts, { ...webhook, lastAlertAt: null, lastDelivery: null })
  for (let times = 0; times < 2; times++) await vals.alerts.delete(id)
  await assert.rejects(vals.alerts.get(id), { code: 'not_found' })
})

test('the compiler refuses what an operation does not take', () => {
  const { vals, me, request } = clientOf(alice)
  const neverCalled = async (val: Awaited<ReturnType<typeof vals.get>>) => {
    // @ts-expect-error deleting is idempotent by itself
    await vals.delete(val.id, { idempotencyKey: 'k' })
    // @ts-expect-error a profile has no ETag
    await me.update({ bio: null }, { ifMatch: val })
    // @ts-expect-error a list item has no ETag
    await vals.delete(val.id, { ifMatch: (await vals.list()).data[0] })
    // @ts-expect-error there is no such filter
    await me.runs.list({ sources: ['http'] })
    // @ts-expect-error there is no such source
    await me.runs.list({ source: ['cron'] })
    // @ts-expect-error the platform's operations are not the API's
    await request('getHealth', {})
    // @ts-expect-error an answer that goes on cannot be awaited
    await request('tailVal', { params: { val_id: val.id } })
    // @ts-expect-error only a GET with an ETag can be unchanged
    await request('getMe', {}, { ifNoneMatch: val })
  }
  assert.ok(neverCalled)
})

test('every operation of the API was called in this file', () => {
  const missed = Object.entries(routes).filter(([, { method, path }]) => {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    return ![...sent].some((request) => pattern.test(request))
  })
  assert.deepEqual(missed, [])
})

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, test } from 'node:test'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { runAsAdmin } from '../testing/open-empty-database.ts'
import { openRelay } from '../testing/open-relay.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)

interface Readiness {
  readonly ready: boolean
  readonly database: string
  readonly bus: string
}

async function readiness(): Promise<Readiness> {
  return (await anyone.get<Readiness>('/readyz')).body
}

test('healthz says that the process is alive', async () => {
  const { status, body } = await anyone.get('/healthz')
  assert.equal(status, 200)
  assert.deepEqual(body, { ok: true })
})

test('readyz reports database and bus', async () => {
  await waitUntil('the bus is up', async () => (await readiness()).bus === 'up')
  assert.deepEqual(await readiness(), { ready: true, database: 'up', bus: 'up' })
})

test('readyz fails without the database, while healthz does not, and both are well when it is back', async () => {
  await using shut = await openTestServer({ LOG_LEVEL: 'silent' })
  const caller = callAs(shut, null)
  const name = new URL(shut.databaseUrl).pathname.slice(1)
  await runAsAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await runAsAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  const answer = await caller.get('/readyz')
  assertFault(answer, 'unavailable')
  assert.equal(answer.headers.get('retry-after'), '1')
  assert.equal((await caller.get('/healthz')).status, 200)
  await runAsAdmin(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
  await waitUntil('the database is back', async () => (await caller.get('/readyz')).status === 200)
})

test('the service is ready and answers while the bus is down', async () => {
  await using relay = await openRelay(new URL(process.env['TEST_NATS_URL'] ?? ''))
  await using alone = await openTestServer({ NATS_URL: `nats://127.0.0.1:${relay.port}` })
  const alice = await newCaller(alone, 'alice')
  const busState = async () => (await alice.get<Readiness>('/readyz')).body.bus
  await waitUntil('the bus is up', async () => (await busState()) === 'up')
  await relay.cut()
  await waitUntil('the bus is down', async () => (await busState()) === 'down')
  assert.equal((await alice.get<Readiness>('/readyz')).status, 200)
  assert.equal((await alice.post('/v1/vals', { code: '1' })).status, 201)
  assert.equal((await alice.put('/v1/me', { bio: 'alone' })).status, 200)
})

test('metrics have the requests by operation and status, and the state of the pool', async () => {
  await anyone.get('/v1/me')
  const { status, headers, text } = await anyone.get('/metrics')
  assert.equal(status, 200)
  assert.match(headers.get('content-type') ?? '', /^text\/plain/)
  assert.match(text, /^valley_request_seconds_count\{operation="getMe",status="401"\} [1-9]/m)
  assert.match(text, /^valley_request_seconds_bucket\{le="0\.01",operation="getMe",status="401"\} \d/m)
  for (const name of ['valley_pool_connections', 'valley_pool_waiting', 'valley_callers_cached']) {
    assert.match(text, new RegExp(`^${name} \\d`, 'm'))
  }
})

test('openapi.json is the committed document', async () => {
  const { body } = await anyone.get('/openapi.json')
  const file = new URL(import.meta.resolve('@valley/contract/openapi.ts').replace(/\.ts$/, '.json'))
  assert.deepEqual(body, JSON.parse(await readFile(file, 'utf8')))
})

test('docs is a page whose every file comes from the server itself', async () => {
  const page = await anyone.get('/docs')
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
  const files = [...page.text.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, file = '']) => file)
  assert.equal(files.length, 3)
  for (const file of files) {
    assert.ok(file.startsWith('/docs/'), file)
    const { status, headers, text } = await anyone.get(file)
    assert.equal(status, 200, file)
    const type = file.endsWith('.css') ? 'text/css' : 'text/javascript'
    assert.equal(headers.get('content-type'), `${type}; charset=utf-8`)
    assert.notEqual(text, '')
  }
})

test('the bare address leads to the documents, whose page runs no script from elsewhere', async () => {
  const response = await server.fetch(`${server.url}/`, { redirect: 'manual' })
  assert.equal(response.status, 302)
  assert.equal(response.headers.get('location'), '/docs')
  const { headers } = await anyone.get('/docs')
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'self'/)
})

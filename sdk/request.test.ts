import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientOptions, createClient, etagOf, isValleyError, ValleyError } from './client.ts'
import { done, fault, hangUp, json, scriptedServer, silence, type Step } from './testing/scripted-server.ts'

const val = { id: 'v1', name: 'hello', code: '1', version: 1 }

const breakOff: Step = (response) => {
  response.writeHead(200, { 'content-length': '1000' }).write('{"id":', () => response.destroy())
}

const endless: Step = (response) => {
  response.writeHead(200).write('{')
}

const notModified: Step = (response) => {
  response.writeHead(304, { etag: '"1"' }).end()
}

async function serverAndClient(steps: readonly [Step, ...Step[]], options: Partial<ClientOptions> = {}) {
  const server = await scriptedServer(...steps)
  const client = createClient({ baseUrl: server.baseUrl, token: 'vly_secret', ...options })
  return { server, client, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

test('a GET whose connection is cut is sent again', async () => {
  await using world = await serverAndClient([hangUp, hangUp, json(200, val)])
  assert.deepEqual(await world.client.vals.get('v1'), val)
  assert.equal(world.server.received.length, 3)
})

test('an answer that breaks off in its body is a lost one, and the GET is sent again', async () => {
  await using world = await serverAndClient([breakOff, json(200, val)])
  assert.deepEqual(await world.client.vals.get('v1'), val)
})

test('a POST is sent again with the same Idempotency-Key and body', async () => {
  await using world = await serverAndClient([hangUp, fault(503, 'unavailable'), json(201, val)])
  await world.client.vals.create({ code: '1' })
  const { received } = world.server
  assert.equal(received.length, 3)
  assert.equal(new Set(received.map(({ headers }) => headers['idempotency-key'])).size, 1)
  assert.match(String(received[0]?.headers['idempotency-key']), /^[0-9a-f]{32}$/)
  assert.deepEqual(new Set(received.map(({ body }) => body)), new Set(['{"code":"1"}']))
})

test('two POSTs have two keys, and a key of the caller is used as it is', async () => {
  await using world = await serverAndClient([json(201, val)])
  await world.client.vals.create({ code: '1' })
  await world.client.vals.create({ code: '1' })
  await world.client.vals.create({ code: '1' }, { idempotencyKey: 'mine' })
  const keys = world.server.received.map(({ headers }) => headers['idempotency-key'])
  assert.equal(new Set(keys).size, 3)
  assert.equal(keys[2], 'mine')
})

test('a PUT with If-Match is not sent again after a lost answer: it would fail on its own change', async () => {
  await using world = await serverAndClient([hangUp, fault(412, 'precondition_failed')])
  const update = world.client.vals.update('v1', { privacy: 'private' }, { ifMatch: '"1"' })
  await assert.rejects(update, { code: 'network' })
  assert.equal(world.server.received.length, 1)
  assert.equal(world.server.received[0]?.headers['if-match'], '"1"')
})

test('a 429 is sent again whatever the request: nothing has happened', async () => {
  await using world = await serverAndClient([fault(429, 'rate_limited'), done])
  await world.client.vals.delete('v1', { ifMatch: '"1"' })
  assert.equal(world.server.received.length, 2)
})

test('a DELETE that finds nothing on a retry has done its work', async () => {
  await using world = await serverAndClient([hangUp, fault(404, 'not_found')])
  assert.equal(await world.client.vals.delete('v1'), undefined)
})

test('a DELETE that finds nothing after it was merely turned away says so', async () => {
  await using world = await serverAndClient([fault(429, 'rate_limited'), fault(404, 'not_found')])
  await assert.rejects(world.client.vals.delete('v1'), { code: 'not_found' })
})

test('an error that would come again is not retried', async () => {
  await using world = await serverAndClient([fault(500, 'internal')])
  await assert.rejects(world.client.vals.get('v1'), { code: 'internal' })
  await assert.rejects(world.client.vals.create({ code: '' }), { code: 'internal' })
  assert.equal(world.server.received.length, 2)
})

test('x-should-retry: false is obeyed', async () => {
  await using world = await serverAndClient([fault(503, 'unavailable', { 'x-should-retry': 'false' })])
  await assert.rejects(world.client.vals.get('v1'), { code: 'unavailable' })
  assert.equal(world.server.received.length, 1)
})

test('retriesMax bounds the attempts, and the last error is passed on', async () => {
  await using world = await serverAndClient([fault(503, 'unavailable')], { retriesMax: 1 })
  await assert.rejects(world.client.vals.get('v1'), { code: 'unavailable', status: 503 })
  assert.equal(world.server.received.length, 2)
})

test('Retry-After is waited for, as seconds', async () => {
  await using world = await serverAndClient([
    fault(503, 'unavailable', { 'retry-after': '1' }),
    json(200, val),
  ])
  const startedAt = performance.now()
  await world.client.vals.get('v1')
  assert.ok(performance.now() - startedAt >= 990)
})

test('Retry-After is understood as a date', async () => {
  const inTwoMinutes = new Date(Date.now() + 120_000).toUTCString()
  await using world = await serverAndClient([fault(429, 'rate_limited', { 'retry-after': inTwoMinutes })])
  const error = await world.client.vals.get('v1').catch((error: unknown) => error)
  assert.ok(isValleyError(error, 'rate_limited'))
  assert.ok(error.retryAfterMs !== undefined && Math.abs(error.retryAfterMs - 120_000) < 5_000)
  assert.equal(world.server.received.length, 1, 'too long a pause is the decision of the caller')
})

test('an attempt that takes longer than timeoutMs ends as a timeout and is sent again', async () => {
  await using world = await serverAndClient([silence, json(200, val)], { timeoutMs: 60 })
  assert.deepEqual(await world.client.vals.get('v1'), val)
  assert.equal(world.server.received.length, 2)
})

test('timeoutMs also bounds a body that never ends', async () => {
  await using world = await serverAndClient([endless], { retriesMax: 0 })
  await assert.rejects(world.client.vals.get('v1', { timeoutMs: 60 }), { code: 'timeout', status: undefined })
})

test('the signal ends an attempt at once, with its own reason', async () => {
  const reason = new Error('enough')
  const controller = new AbortController()
  await using world = await serverAndClient([() => controller.abort(reason)], { retriesMax: 0 })
  await assert.rejects(world.client.vals.get('v1', { signal: controller.signal }), reason)
  assert.equal(world.server.received.length, 1)
})

test('the signal ends the wait between two attempts', async () => {
  await using world = await serverAndClient([fault(503, 'unavailable', { 'retry-after': '30' })])
  const startedAt = performance.now()
  const call = world.client.vals.get('v1', { signal: AbortSignal.timeout(200) })
  await assert.rejects(call, { name: 'TimeoutError' })
  assert.ok(performance.now() - startedAt < 5_000)
  assert.equal(world.server.received.length, 1)
})

test('a call with an aborted signal sends nothing', async () => {
  await using world = await serverAndClient([json(200, val)])
  await assert.rejects(world.client.vals.get('v1', { signal: AbortSignal.abort() }), { name: 'AbortError' })
  assert.equal(world.server.received.length, 0)
})

test('a server that is not there is a network error that says why', async () => {
  const server = await scriptedServer(silence)
  await server[Symbol.asyncDispose]()
  const client = createClient({ baseUrl: server.baseUrl, retriesMax: 0 })
  const error = await client.me.get().catch((error: unknown) => error)
  assert.ok(isValleyError(error, 'network'))
  assert.match(error.message, /GET http:\/\/127\.0\.0\.1:\d+\/v1\/me got no answer: .*ECONNREFUSED/)
  assert.ok(error.cause instanceof Error)
})

test('a redirect is not followed, so the token stays where it was sent', async () => {
  await using foreign = await scriptedServer(json(200, val))
  const redirect: Step = (response) => {
    response.writeHead(307, { location: `${foreign.baseUrl}/v1/vals/v1` }).end()
  }
  await using world = await serverAndClient([redirect])
  await assert.rejects(world.client.vals.get('v1'), {
    code: 'unexpected_answer',
    message: /redirect to http/,
  })
  assert.equal(foreign.received.length, 0)
})

test('a token is sent as a bearer, and none where there is none', async () => {
  await using world = await serverAndClient([json(200, val)])
  await world.client.vals.get('v1')
  await createClient({ baseUrl: world.server.baseUrl }).vals.get('v1')
  const sent = world.server.received.map(({ headers }) => headers.authorization)
  assert.deepEqual(sent, ['Bearer vly_secret', undefined])
})

test('a val carries its ETag unseen, and as ifMatch it stands for what was read', async () => {
  await using world = await serverAndClient([json(200, val, { etag: '"1-2-3"' }), done])
  const read = await world.client.vals.get('v1')
  assert.deepEqual(Reflect.ownKeys(read), Reflect.ownKeys(val))
  assert.equal(etagOf(read), '"1-2-3"')
  await world.client.vals.update('v1', { readme: null }, { ifMatch: read })
  assert.equal(world.server.received[1]?.headers['if-match'], '"1-2-3"')
})

test('a copy without an ETag as ifMatch is refused instead of dropping the condition', async () => {
  await using world = await serverAndClient([json(200, val, { etag: '"1"' }), done])
  const copy = { ...(await world.client.vals.get('v1')) }
  await assert.rejects(world.client.vals.delete('v1', { ifMatch: copy }), {
    name: 'TypeError',
    message: /ETag/,
  })
  assert.equal(world.server.received.length, 1)
})

test('request answers 304 without a body when nothing has changed', async () => {
  await using world = await serverAndClient([notModified])
  const answer = await world.client.request('getVal', { params: { val_id: 'v1' } }, { ifNoneMatch: '"1"' })
  assert.deepEqual([answer.status, answer.body, answer.headers.get('etag')], [304, undefined, '"1"'])
  assert.equal(world.server.received[0]?.headers['if-none-match'], '"1"')
})

test('every failure is a ValleyError that keeps what the server said', async () => {
  const issues = [{ path: 'body.name', message: 'must start with a letter' }]
  const body = { code: 'invalid_request', message: 'Fix the name.', requestId: 'r7', issues }
  await using world = await serverAndClient([json(400, body)])
  const error = await world.client.vals.create({ code: '1' }).catch((error: unknown) => error)
  assert.ok(error instanceof ValleyError)
  const { code, status, message, requestId } = error
  assert.deepEqual(
    [code, status, message, requestId, error.issues],
    [body.code, 400, body.message, 'r7', issues],
  )
  assert.ok(isValleyError(error, 'name_taken', 'invalid_request'))
  assert.ok(!isValleyError(error, 'name_taken'))
})

test('a base URL without http is refused at once', () => {
  assert.throws(() => createClient({ baseUrl: 'localhost:3000' }), { message: /http:\/\/ or https:\/\// })
})

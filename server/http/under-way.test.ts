import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test } from 'node:test'
import { assertFault } from '../testing/assert-fault.ts'
import { callAs, newCaller } from '../testing/call-as.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { waitUntil } from '../testing/wait-until.ts'

test('a caller with too many requests under way is told so, and nobody else notices', async () => {
  await using server = await openTestServer({ REQUESTS_AT_ONCE_MAX: '2' })
  const alice = await newCaller(server, 'alice')
  const bob = await newCaller(server, 'bob')
  const code = JSON.stringify({ code: 'export default 1' })
  const open = [1, 2].map(() => {
    const headers = {
      authorization: `Bearer ${alice.user.token}`,
      'content-type': 'application/json',
      'content-length': code.length,
    }
    const held = request(`${server.url}/v1/vals`, { method: 'POST', headers })
    held.flushHeaders()
    return held
  })
  await waitUntil('both places are taken', async () => (await alice.get('/v1/me')).status === 429)
  const refused = await alice.get('/v1/me')
  assertFault(refused, 'rate_limited')
  assert.equal(refused.headers.get('retry-after'), '1')
  assert.equal((await bob.get('/v1/me')).status, 200)
  assert.equal((await callAs(server, null).get('/healthz')).status, 200)
  for (const held of open) {
    held.end(code)
    const [answer] = (await once(held, 'response')) as [{ statusCode: number; resume(): void }]
    answer.resume()
    assert.equal(answer.statusCode, 201)
  }
  await waitUntil('a place is free', async () => (await alice.get('/v1/me')).status === 200)
})

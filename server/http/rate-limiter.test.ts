import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertFault } from '../testing/assert-fault.ts'
import { type Answer, callAs, newCaller } from '../testing/call-as.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const perMinute = 5
const server = await openTestServer({
  RATE_LIMIT_PER_MINUTE: String(perMinute),
  RATE_LIMIT_ANONYMOUS_PER_MINUTE: String(perMinute),
  TRUST_PROXY: 'true',
})
after(() => server[Symbol.asyncDispose]())
const anyone = callAs(server, null)
const from = (address: string) => ({ 'x-forwarded-for': address })

function allowanceOf({ headers }: Answer<unknown>) {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((part) =>
    Number(headers.get(`ratelimit-${part}`) ?? Number.NaN),
  )
  return { limit, remaining, reset: reset ?? Number.NaN }
}

test('every answer tells what is left, and beyond the limit it is 429 with the time to wait', async () => {
  const alice = await newCaller(server, 'alice')
  for (let remaining = perMinute - 1; remaining >= 0; remaining--) {
    const answer = await alice.get('/v1/me')
    assert.equal(answer.status, 200)
    assert.partialDeepStrictEqual(allowanceOf(answer), { limit: perMinute, remaining })
    assert.ok(allowanceOf(answer).reset > 0 && allowanceOf(answer).reset <= 60)
  }
  const refused = await alice.get('/v1/me')
  assertFault(refused, 'rate_limited')
  assert.partialDeepStrictEqual(allowanceOf(refused), { limit: perMinute, remaining: 0 })
  const retryAfter = Number(refused.headers.get('retry-after'))
  assert.ok(retryAfter >= 1 && retryAfter <= 60 / perMinute, `${retryAfter}`)
})

test("one token's requests do not count against another's", async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  for (let i = 0; i < perMinute; i++) await alice.get('/v1/me')
  assertFault(await alice.get('/v1/me'), 'rate_limited')
  assert.equal((await bob.get('/v1/me')).status, 200)
})

test('refused requests count too, and carry the headers', async () => {
  const alice = await newCaller(server, 'alice')
  const refused = await alice.get('/v1/vals/none')
  assertFault(refused, 'not_found')
  assert.partialDeepStrictEqual(allowanceOf(refused), { remaining: perMinute - 1 })
})

test('requests without a token count against their address', async () => {
  for (let i = 0; i < perMinute; i++) {
    assert.equal((await anyone.get('/v1/search/vals?query=a', from('192.0.2.1'))).status, 200)
  }
  const refused = await anyone.get('/v1/search/vals?query=a', from('192.0.2.1'))
  assertFault(refused, 'rate_limited')
  assert.ok(refused.headers.has('retry-after'))
  assert.equal((await anyone.get('/v1/search/vals?query=a', from('192.0.2.2'))).status, 200)
})

test('guessing tokens uses up the allowance of the address, which a good token has beside it', async () => {
  const alice = await newCaller(server, 'alice')
  const guess = callAs(server, `${alice.user.token}x`)
  for (let i = 0; i < perMinute; i++) {
    assertFault(await guess.get('/v1/me', from('192.0.2.3')), 'unauthenticated')
  }
  assertFault(await guess.get('/v1/me', from('192.0.2.3')), 'rate_limited')
  assert.equal((await alice.get('/v1/me', from('192.0.2.3'))).status, 200)
})

test("a forged X-Forwarded-For does not help: only the trusted proxy's entry counts", async () => {
  for (let i = 0; i < perMinute; i++) await anyone.get('/v1/me', from(`198.51.100.${i}, 192.0.2.4`))
  assertFault(await anyone.get('/v1/me', from('203.0.113.9, 192.0.2.4')), 'rate_limited')
})

test('what operators ask is not limited', async () => {
  for (let i = 0; i < perMinute * 2; i++) {
    assert.equal((await anyone.get('/healthz', from('192.0.2.5'))).status, 200)
  }
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Val } from '@valley/contract/vals.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import type { List } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

/** The base of every address in the answers to a read and to a list. */
async function baseUrlsFor(caller: TestCaller, headers: Record<string, string>): Promise<readonly string[]> {
  const { id } = await createVal(caller)
  await createVal(caller)
  const val = (await caller.get<Val>(`/v1/vals/${id}`, headers)).body
  const { status, body: list } = await caller.get<List<Val>>('/v1/me/vals?limit=1', headers)
  assert.equal(status, 200, JSON.stringify(headers))
  const { self, next = assert.fail() } = list.links
  const urls = [val.url, val.links.self, val.links.versions, val.links.runs, val.links.module, self, next]
  return [...new Set(urls.map((url) => url.replace(/\/v(1)?\/.*$/, '')))]
}

const forwarded = { 'x-forwarded-host': 'vals.example.com', 'x-forwarded-proto': 'https' }

test('forwarded headers are not believed unless a proxy is trusted', async () => {
  await using server = await openTestServer()
  assert.deepEqual(await baseUrlsFor(await newCaller(server), forwarded), [server.url])
})

test('addresses in answers start with the configured public URL', async () => {
  await using server = await openTestServer({ PUBLIC_URL: 'https://valley.example.com/' })
  assert.deepEqual(await baseUrlsFor(await newCaller(server), forwarded), ['https://valley.example.com'])
})

test('behind a trusted proxy, addresses start with what the caller asked it for', async () => {
  await using server = await openTestServer({ TRUST_PROXY: 'true' })
  const alice = await newCaller(server, 'alice')
  const cases = [
    [forwarded, 'https://vals.example.com'],
    [{ ...forwarded, 'x-forwarded-proto': 'http' }, 'http://vals.example.com'],
    [{ 'x-forwarded-host': 'vals.example.com:8443' }, 'https://vals.example.com:8443'],
    [
      { ...forwarded, 'x-forwarded-host': 'forged.example.com, vals.example.com' },
      'https://vals.example.com',
    ],
    [{}, server.url],
  ] as const
  for (const [headers, base] of cases) assert.deepEqual(await baseUrlsFor(alice, headers), [base])
})

test('a forwarded host or protocol that cannot be one is passed over', async () => {
  await using server = await openTestServer({ TRUST_PROXY: 'true' })
  const alice = await newCaller(server, 'alice')
  const headers = [
    { ...forwarded, 'x-forwarded-proto': 'javascript' },
    ...['a b', 'evil.example.com/path', 'a@b', 'a:b:c', 'host:99999999', '['].map((host) => ({
      ...forwarded,
      'x-forwarded-host': host,
    })),
  ]
  for (const each of headers) {
    assert.deepEqual(await baseUrlsFor(alice, each), [server.url], JSON.stringify(each))
  }
})

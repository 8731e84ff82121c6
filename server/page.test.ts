import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Run } from '@valley/contract/runs.ts'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import { assertFault } from './testing/assert-fault.ts'
import { newCaller, type TestCaller } from './testing/call-as.ts'
import { createVal, saveCode } from './testing/create-val.ts'
import { followLinks, type List, readList, walkThereAndBack } from './testing/follow-links.ts'
import { insertReference, insertRun } from './testing/insert-rows.ts'
import { openTestServer } from './testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

const rowsPerList = 7

/** A user with that many rows in each list there is; the paths of the lists, and what tells rows apart. */
async function fillEveryList() {
  const alice = await newCaller(server, 'alice')
  const bob = await newCaller(server, 'bob')
  const vals: Val[] = []
  for (let i = 0; i < rowsPerList; i++) vals.push(await createVal(alice, { name: `page_${i}` }))
  const [val = assert.fail()] = vals
  for (const [i, each] of vals.entries()) {
    if (i > 0) await saveCode(alice, val, `export default ${i + 1}`)
    await alice.put(`/v1/me/likes/${each.id}`)
    await bob.post(`/v1/vals/${val.id}/comments`, { comment: `${i}` })
    await insertRun(server, val)
    await insertReference(server, { importer: each, imported: val })
    if (i > 0) await server.issueToken(alice.user)
  }
  const lists = {
    '/v1/me/vals': idOf,
    [`/v1/users/${alice.user.id}/vals`]: idOf,
    [`/v1/vals/${val.id}/versions`]: (item: { version: number }) => String(item.version),
    '/v1/me/runs': idOf,
    [`/v1/vals/${val.id}/runs`]: idOf,
    '/v1/me/likes': idOf,
    '/v1/me/comments': idOf,
    [`/v1/vals/${val.id}/comments`]: idOf,
    '/v1/me/references': (item: { reference: { id: string } }) => item.reference.id,
    '/v1/me/tokens': idOf,
    '/v1/search/vals?query=page_': idOf,
  }
  return { alice, vals, lists: Object.entries(lists) as [string, (item: unknown) => string][] }
}

const idOf = (item: { id: string }) => item.id
const encodeCursor = (text: string) => Buffer.from(text).toString('base64url')
const { alice, vals, lists } = await fillEveryList()

function withQuery(path: string, query: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${query}`
}

for (const [path, keyOf] of lists) {
  const name = path.replaceAll(/[0-9a-f-]{36}/g, '{id}')

  test(`following ${name} to its end and back shows each row once, newest first`, async () => {
    const whole = (await readList(alice, path)).data
    assert.equal(new Set(whole.map(keyOf)).size, rowsPerList)
    for (const limit of [1, 3, rowsPerList - 1]) {
      assert.deepEqual(await walkThereAndBack(alice, withQuery(path, `limit=${limit}`)), whole)
    }
  })

  test(`${name} takes limit and offset within their bounds and refuses others`, async () => {
    const whole = (await readList(alice, path)).data
    const page = await readList(alice, withQuery(path, 'limit=2&offset=3'))
    assert.deepEqual(page.data, whole.slice(3, 5))
    assert.deepEqual((await readList(alice, withQuery(path, 'limit=100&offset=0'))).data, whole)
    assert.deepEqual((await readList(alice, withQuery(path, `offset=${rowsPerList}`))).data, [])
    for (const bad of ['limit=0', 'limit=101', 'limit=-1', 'limit=ten', 'limit=1.5', 'limit=', 'offset=-1']) {
      const { issues } = assertFault(await alice.get(withQuery(path, bad)), 'invalid_request')
      assert.deepEqual(
        issues?.map(({ path: where }) => where),
        [`query.${bad.split('=')[0]}`],
      )
    }
  })

  test(`${name} refuses a cursor that is garbage`, async () => {
    const wellEncoded = ['o:', 'x:1', `o:${'9'.repeat(11)}`].map(encodeCursor)
    for (const cursor of ['', 'x', 'o', '%00', ...wellEncoded]) {
      const { issues } = assertFault(await alice.get(withQuery(path, `cursor=${cursor}`)), 'invalid_request')
      assert.equal(issues?.[0]?.path, 'query.cursor')
    }
  })
}

async function nextCursor(path: string): Promise<string> {
  const { links } = await readList(alice, withQuery(path, 'limit=1'))
  return new URL(links.next ?? assert.fail()).searchParams.get('cursor') ?? assert.fail()
}

test('a cursor of one list is refused by every other list', async () => {
  for (const [path] of lists) {
    const cursor = await nextCursor(path)
    for (const [other] of lists.filter(([candidate]) => candidate !== path)) {
      assertFault(await alice.get(withQuery(other, `cursor=${cursor}`)), 'invalid_request')
    }
  }
})

test('a cursor whose number is beyond every version is refused like any other garbage', async () => {
  const cursor = encodeCursor('o:9999999999')
  assertFault(await alice.get(`/v1/vals/${vals[0]?.id}/versions?cursor=${cursor}`), 'invalid_request')
})

test('links are absolute: self is what was asked for, next and prev are absent where there is none', async () => {
  const only = await readList(alice, '/v1/me/vals')
  assert.deepEqual(only.links, { self: `${server.url}/v1/me/vals` })
  const first = await readList(alice, '/v1/me/vals?limit=3')
  assert.equal(first.links.self, `${server.url}/v1/me/vals?limit=3`)
  assert.equal(first.links.prev, undefined)
  assert.ok(first.links.next?.startsWith(`${server.url}/v1/me/vals?`))
  const pages = await followLinks(alice, '/v1/me/vals?limit=3')
  assert.equal(pages.length, 3)
  assert.equal(pages.at(-1)?.links.next, undefined)
  const exact = await readList(alice, `/v1/me/vals?limit=${rowsPerList}`)
  assert.equal(exact.links.next, undefined, 'a page that is just full is not followed by an empty one')
})

test('a page has 20 items where no limit is given', async () => {
  const many = await newCaller(server)
  await Promise.all(Array.from({ length: 21 }, () => createVal(many)))
  assert.equal((await readList(many, '/v1/me/vals')).data.length, 20)
})

test('a page that was asked for by offset links to the one before and the one after it', async () => {
  const whole = (await readList<BasicVal>(alice, '/v1/me/vals')).data
  const page = await readList<BasicVal>(alice, '/v1/me/vals?limit=2&offset=3')
  assert.deepEqual((await readList(alice, page.links.next ?? assert.fail())).data, whole.slice(5, 7))
  assert.deepEqual((await readList(alice, page.links.prev ?? assert.fail())).data, whole.slice(1, 3))
})

test('following next neither repeats nor skips a row while new ones arrive and others go', async () => {
  const writer = await newCaller(server)
  const old: string[] = []
  for (let i = 0; i < 6; i++) old.push((await createVal(writer)).id)
  const seen: string[] = []
  for (let at: string | undefined = '/v1/me/vals?limit=2'; at !== undefined;) {
    const page: List<BasicVal> = await readList<BasicVal>(writer, at)
    seen.push(...page.data.map(({ id }) => id))
    await createVal(writer)
    await writer.delete(`/v1/vals/${page.data[0]?.id}`)
    at = page.links.next
  }
  assert.deepEqual(seen, old.toReversed())
})

test('links keep the other parameters of the list', async () => {
  const runner = await newCaller(server)
  const val = await createVal(runner)
  for (const source of ['api', 'http', 'api', 'http', 'api'] as const)
    await insertRun(server, val, { source })
  const since = '2020-01-01T00:00:00+02:00'
  const runs = await walkThereAndBack<Run>(runner, `/v1/me/runs?limit=1&source=api&since=${since}`)
  assert.deepEqual(
    runs.map(({ source }) => source),
    ['api', 'api', 'api'],
  )
})

/** Three runs a second apart, the newest first in the list. */
async function threeRuns(): Promise<{ runner: TestCaller; ids: string[]; times: Date[] }> {
  const runner = await newCaller(server)
  const val = await createVal(runner)
  const start = Date.now() - 10_000
  const times = [0, 1, 2].map((seconds) => new Date(start + seconds * 1_000))
  const ids: string[] = []
  for (const createdAt of times) ids.push(await insertRun(server, val, { createdAt }))
  return { runner, ids, times }
}

test('since is exclusive and until inclusive, to the millisecond', async () => {
  const { runner, ids, times } = await threeRuns()
  const between = async (since: number, until: number) => {
    const query = `since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}`
    return (await readList<Run>(runner, `/v1/me/runs?${query}`)).data.map(({ id }) => id)
  }
  const [first = 0, second = 0, third = 0] = times.map((time) => time.getTime())
  assert.deepEqual(await between(first, third), [ids[2], ids[1]])
  assert.deepEqual(await between(first - 1, third), [ids[2], ids[1], ids[0]])
  assert.deepEqual(await between(first, third - 1), [ids[1]])
  assert.deepEqual(await between(second, second), [])
  assert.deepEqual(await between(third, first), [])
})

test('since not before until is an empty page without links', async () => {
  const { runner } = await threeRuns()
  const path = '/v1/me/runs?since=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z'
  assert.deepEqual(await readList(runner, path), { data: [], links: { self: server.url + path } })
})

test('a time may have any offset, its + encoded or not', async () => {
  const { runner, ids, times } = await threeRuns()
  const moment = times[1] ?? assert.fail()
  const shifted = (hours: number) => new Date(moment.getTime() + hours * 3_600_000).toISOString().slice(0, -1)
  const same = [
    `${shifted(2)}%2B02:00`,
    `${shifted(2)}+02:00`,
    `${shifted(-5)}-05:00`,
    `${shifted(0)}%2B00:00`,
    `${shifted(0)}Z`,
  ]
  for (const since of same) {
    const { data } = await readList<Run>(runner, `/v1/me/runs?since=${since}`)
    assert.deepEqual(
      data.map(({ id }) => id),
      [ids[2]],
      since,
    )
  }
})

test('every way in which ISO 8601 writes a moment with an offset is taken', async () => {
  for (const since of ['2026-01-01T00:00Z', '2026-01-01T00:00:00%2B0200', '2026-01-01T00:00:00%2B02']) {
    assert.equal((await alice.get(`/v1/me/runs?since=${since}`)).status, 200, since)
  }
})

test('a time without an offset, or that is none, is refused', async () => {
  for (const bad of [
    '2026-01-01T00:00:00',
    '2026-01-01',
    'yesterday',
    '',
    '2026-13-01T00:00:00Z',
    '1700000000',
  ]) {
    for (const name of ['since', 'until']) {
      const { issues } = assertFault(await alice.get(`/v1/me/runs?${name}=${bad}`), 'invalid_request')
      assert.equal(issues?.[0]?.path, `query.${name}`)
    }
  }
})

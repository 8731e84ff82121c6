import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from './client.ts'
import { fault, json, scriptedServer, type Step } from './testing/scripted-server.ts'

/** Three pages of two, of which each names the next with this origin. */
function threePages(origin = 'http://never.example'): readonly [Step, Step, Step] {
  const page = (start: number, links: object) =>
    json(200, {
      data: [{ id: `${start}` }, { id: `${start + 1}` }],
      links: { self: `${origin}/v1/me/vals`, ...links },
    })
  const link = (cursor: string) => `${origin}/elsewhere/v1/me/vals?limit=2&cursor=${cursor}`
  return [
    page(1, { next: link('a') }),
    page(3, { next: link('b'), prev: link('p') }),
    page(5, { prev: link('a') }),
  ]
}

test('for await goes over every item of all pages, and asks for no page twice', async () => {
  await using server = await scriptedServer(...threePages())
  const ids: string[] = []
  for await (const { id } of createClient(server).me.vals.list({ limit: 2 })) ids.push(id)
  assert.deepEqual(ids, ['1', '2', '3', '4', '5', '6'])
  assert.deepEqual(
    server.received.map(({ url }) => url),
    ['/v1/me/vals?limit=2', '/v1/me/vals?limit=2&cursor=a', '/v1/me/vals?limit=2&cursor=b'],
  )
})

test('await gives the first page, from which next and prev lead on', async () => {
  await using server = await scriptedServer(...threePages())
  const first = await createClient(server).me.vals.list()
  assert.equal(await first.prev(), null)
  const second = await first.next()
  const third = await second?.next()
  assert.deepEqual(
    third?.data.map(({ id }) => id),
    ['5', '6'],
  )
  assert.equal(await third?.next(), null)
  await third?.prev()
  assert.equal(server.received.at(-1)?.url, '/v1/me/vals?limit=2&cursor=a')
})

test('a link to a foreign origin is followed on the base URL, and the token does not leave it', async () => {
  await using foreign = await scriptedServer(json(200, { data: [], links: {} }))
  await using server = await scriptedServer(...threePages(foreign.baseUrl))
  const list = createClient({ ...server, token: 'vly_secret' }).users.vals.list('u1')
  for await (const { id } of list) assert.ok(id)
  assert.equal(foreign.received.length, 0)
  assert.equal(server.received.length, 3)
  assert.ok(server.received.every(({ headers }) => headers.authorization === 'Bearer vly_secret'))
  assert.ok(server.received.every(({ url }) => url?.startsWith('/v1/users/u1/vals')))
})

test('the signal ends an iteration between two items', async () => {
  await using server = await scriptedServer(...threePages())
  const controller = new AbortController()
  const { signal } = controller
  const seen: string[] = []
  await assert.rejects(
    async () => {
      for await (const { id } of createClient(server).me.vals.list({}, { signal })) {
        seen.push(id)
        controller.abort()
      }
    },
    { name: 'AbortError' },
  )
  assert.deepEqual(seen, ['1'])
})

test('an iteration that is left early asks for no further page', async () => {
  await using server = await scriptedServer(...threePages())
  for await (const { id } of createClient(server).me.vals.list()) if (id === '2') break
  assert.equal(server.received.length, 1)
})

test('a page that fails rejects the await and the iteration alike', async () => {
  await using server = await scriptedServer(fault(401, 'unauthenticated'))
  const list = createClient(server).me.runs.list()
  await assert.rejects(list, { code: 'unauthenticated' })
  await assert.rejects(
    async () => {
      for await (const { id } of list) assert.fail(id)
    },
    { code: 'unauthenticated' },
  )
})

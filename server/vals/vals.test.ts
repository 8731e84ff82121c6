import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestServer } from '../testing/open-test-server.ts'

test('a private val answers 404 to everyone but its owner', async () => {
  await using server = await openTestServer()
  const alice = await server.createUser('alice')
  const bob = await server.createUser('bob')
  const created = await server.fetch(`${server.url}/v1/vals`, {
    method: 'POST',
    headers: { authorization: `Bearer ${alice.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'export default 1', privacy: 'private' }),
  })
  assert.equal(created.status, 201)
  const { id } = (await created.json()) as { id: string }
  const readAs = (token: string) =>
    server.fetch(`${server.url}/v1/vals/${id}`, { headers: { authorization: `Bearer ${token}` } })
  assert.equal((await readAs(alice.token)).status, 200)
  assert.equal((await readAs(bob.token)).status, 404)
  assert.equal((await server.fetch(`${server.url}/v1/vals/${id}`)).status, 404)
})

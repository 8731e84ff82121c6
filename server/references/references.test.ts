import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Reference } from '@valley/contract/references.ts'
import type { Val } from '@valley/contract/vals.ts'
import { newCaller, type TestCaller } from '../testing/call-as.ts'
import { createVal, readVal } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { insertReference } from '../testing/insert-rows.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

async function importersSeenBy(caller: TestCaller, query = ''): Promise<readonly string[]> {
  const { data } = await readList<Reference>(caller, `/v1/me/references${query}`)
  return data.map(({ reference }) => reference.id)
}

function endOf({ id, name, author }: Val) {
  return { id, name, username: author.username, author_id: author.id }
}

test('a reference names the val that imports, the val of mine that is imported, and when', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [imported, importer] = [await createVal(alice), await createVal(bob)]
  const createdAt = new Date(Date.now() - 60_000)
  await insertReference(server, { importer, imported, createdAt })
  const { data } = await readList<Reference>(alice, '/v1/me/references')
  const referencedAt = createdAt.toISOString()
  assert.deepEqual(data, [{ referencedAt, reference: endOf(importer), dependsOn: endOf(imported) }])
  assert.deepEqual(await importersSeenBy(bob), [], 'what my vals import is not in the list')
  assert.equal((await readVal(alice, imported)).referenceCount, 1)
})

test('a private importer is shown only to its owner; an unlisted one is shown', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const imported = await createVal(alice)
  const hers = await createVal(alice, { privacy: 'private' })
  const his = await createVal(bob, { privacy: 'private' })
  const unlisted = await createVal(bob, { privacy: 'unlisted' })
  for (const importer of [hers, his, unlisted]) await insertReference(server, { importer, imported })
  assert.deepEqual(await importersSeenBy(alice), [unlisted.id, hers.id])
})

test('references are listed newest first and bounded by since, until, limit and offset', async () => {
  const alice = await newCaller(server, 'alice')
  const imported = await createVal(alice)
  const start = Date.now() - 10_000
  const importers: string[] = []
  for (let i = 0; i < 3; i++) {
    const importer = await createVal(alice)
    await insertReference(server, { importer, imported, createdAt: new Date(start + i) })
    importers.unshift(importer.id)
  }
  const at = (i: number) => new Date(start + i).toISOString()
  assert.deepEqual(await importersSeenBy(alice), importers)
  assert.deepEqual(await importersSeenBy(alice, `?since=${at(0)}&until=${at(1)}`), [importers[1]])
  assert.deepEqual(await importersSeenBy(alice, '?limit=1&offset=2'), [importers[2]])
  assert.deepEqual(await importersSeenBy(alice, `?since=${at(1)}&until=${at(1)}`), [])
})

test('a reference goes with either of its vals', async () => {
  const [alice, bob] = [await newCaller(server, 'alice'), await newCaller(server, 'bob')]
  const [imported, other, importer] = [await createVal(alice), await createVal(alice), await createVal(bob)]
  const second = await createVal(bob)
  await insertReference(server, { importer, imported })
  await insertReference(server, { importer: second, imported: other })
  await bob.delete(`/v1/vals/${importer.id}`)
  assert.deepEqual(await importersSeenBy(alice), [second.id])
  await alice.delete(`/v1/vals/${other.id}`)
  assert.deepEqual(await importersSeenBy(alice), [])
})

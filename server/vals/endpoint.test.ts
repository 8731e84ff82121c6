import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal, readVal, saveCode } from '../testing/create-val.ts'
import { readList } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer({ VALS_URL: 'http://localhost:8081/' })
after(() => server[Symbol.asyncDispose]())

test('an http val shows where it answers in every answer that shows the val, a script nowhere', async () => {
  const alice = await newCaller(server, 'alice')
  const val = await createVal(alice, { name: 'My_Site', type: 'http' })
  const script = await createVal(alice, { name: 'script' })
  const endpoint = `http://${alice.user.username}--my-site.localhost:8081`
  await alice.put(`/v1/me/likes/${val.id}`)
  await alice.put(`/v1/me/likes/${script.id}`)
  const saved = await saveCode(alice, val, 'export default 2')
  const put = await alice.put<Val>('/v1/vals', { name: 'My_Site', code: 'export default 3' })
  const one = await alice.get<Val>(`/v1/vals/${val.id}/versions/1`)
  const byName = await alice.get<Val>(`/v1/alias/${alice.user.username}/my_site`)
  for (const shown of [val, saved, put.body, one.body, byName.body, await readVal(alice, val)]) {
    assert.equal(shown.links.endpoint, endpoint)
  }
  const lists = ['/v1/me/vals', `/v1/users/${alice.user.id}/vals`, '/v1/me/likes', '/v1/search/vals?query=s']
  for (const list of lists) {
    const { data } = await readList<BasicVal>(alice, list)
    assert.equal(data.find(({ id }) => id === val.id)?.links.endpoint, endpoint, list)
    assert.equal('endpoint' in (data.find(({ id }) => id === script.id)?.links ?? assert.fail(list)), false)
  }
  assert.equal('endpoint' in script.links, false)
})

test('an unlisted val is shown under its id, which cannot be guessed', async () => {
  const alice = await newCaller(server, 'alice')
  const { id, links } = await createVal(alice, { type: 'http', privacy: 'unlisted' })
  assert.equal(links.endpoint, `http://${id.replaceAll('-', '')}.localhost:8081`)
})

test('where vals have no domain, an http val is kept as ever and shows no endpoint', async () => {
  await using plain = await openTestServer()
  const { type, links } = await createVal(await newCaller(plain), { type: 'http' })
  assert.deepEqual({ type, hasEndpoint: 'endpoint' in links }, { type: 'http', hasEndpoint: false })
})

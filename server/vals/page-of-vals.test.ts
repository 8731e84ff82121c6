import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { limits } from '@valley/contract/limits.ts'
import type { BasicVal } from '@valley/contract/vals.ts'
import { newCaller } from '../testing/call-as.ts'
import { followLinks } from '../testing/follow-links.ts'
import { openTestServer } from '../testing/open-test-server.ts'

const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

const largest = 'x'.repeat(limits.codeCharsMax - 2)
const valsMade = 10

test('a page of large vals ends early, and its links lead through all of them both ways', async () => {
  const alice = await newCaller(server)
  const made: string[] = []
  for (let i = 0; i < valsMade; i++) {
    const { body } = await alice.post<BasicVal>('/v1/vals', { name: `large${i}`, code: `${largest}${i}` })
    await alice.put(`/v1/me/likes/${body.id}`)
    made.unshift(body.id)
  }
  for (const path of [
    '/v1/me/vals',
    `/v1/users/${alice.user.id}/vals`,
    '/v1/me/likes',
    '/v1/search/vals?query=large',
  ]) {
    const forth = await followLinks<BasicVal>(alice, path)
    const ids = forth.flatMap(({ data }) => data.map(({ id }) => id))
    assert.deepEqual(ids, made, path)
    for (const { data } of forth) {
      assert.ok(
        data.reduce((bytes, { code }) => bytes + code.length, 0) <
          limits.pageCodeBytesMax + limits.codeCharsMax,
      )
    }
    const back = await followLinks<BasicVal>(alice, forth.at(-1)?.links.self ?? '', 'prev')
    assert.deepEqual(
      back.toReversed().flatMap(({ data }) => data.map(({ id }) => id)),
      made,
      `${path} backwards`,
    )
  }
})

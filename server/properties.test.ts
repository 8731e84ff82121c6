import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { BasicVal, Val } from '@valley/contract/vals.ts'
import type { Version } from '@valley/contract/versions.ts'
import { openTestServer, type TestUser } from './testing/open-test-server.ts'
import { call, range } from './testing/properties/call.ts'
import { commands, userCount } from './testing/properties/commands.ts'
import { followWhileOthersWrite } from './testing/properties/follow-links.ts'
import { lists } from './testing/properties/lists.ts'
import { emptyModel } from './testing/properties/model.ts'

const parallel = 50
const server = await openTestServer()
after(() => server[Symbol.asyncDispose]())

let usersMade = 0
const newUsers = (count: number) => Promise.all(range(count).map(newUser))

function newUser(): Promise<TestUser> {
  usersMade += 1
  return server.createUser(`user${usersMade}`)
}

async function createVal(owner: TestUser, fields: object = {}): Promise<Val> {
  const body = { code: 'export default 0', ...fields }
  const answer = await call(server, { method: 'POST', to: '/v1/vals', as: owner, body })
  assert.equal(answer.status, 201)
  return answer.body as Val
}

async function listVals(owner: TestUser): Promise<readonly BasicVal[]> {
  const { body } = await call(server, { method: 'GET', to: '/v1/me/vals?limit=100', as: owner })
  return (body as { data: readonly BasicVal[] }).data
}

async function listVersionNumbers(reader: TestUser, { id }: { id: string }): Promise<readonly number[]> {
  const to = `/v1/vals/${id}/versions?limit=100`
  const { body } = await call(server, { method: 'GET', to, as: reader })
  return (body as { data: readonly Version[] }).data.map(({ version }) => version)
}

test('whatever several users do, every answer is the one that a plain model gives', async () => {
  await fc.assert(
    fc.asyncProperty(commands(), async (given) => {
      const users = await newUsers(userCount)
      await fc.asyncModelRun(() => ({ model: emptyModel(userCount), real: { server, users } }), given)
    }),
    { numRuns: 30 },
  )
})

test('parallel saves and deletions never give a version number twice, and the newest remaining is current', async () => {
  const action = fc.oneof(
    { weight: 3, arbitrary: fc.constant('save' as const) },
    { weight: 1, arbitrary: fc.constant('put' as const) },
    { weight: 2, arbitrary: fc.nat({ max: 12 }) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), async (actions) => {
      const owner = await newUser()
      const val = await createVal(owner, { name: 'shared' })
      const answers = await Promise.all(
        actions.map((what, index) => {
          const code = `export default ${index + 1}`
          const to = `/v1/vals/${val.id}/versions`
          if (typeof what === 'number')
            return call(server, { method: 'DELETE', to: `${to}/${what}`, as: owner })
          return what === 'save'
            ? call(server, { method: 'POST', to, as: owner, body: { code } })
            : call(server, { method: 'PUT', to: '/v1/vals', as: owner, body: { name: 'SHARED', code } })
        }),
      )
      const given = answers.filter(({ body }) => isVal(body)).map(({ body }) => (body as Val).version)
      const deleted = new Set(actions.filter((_, index) => answers[index]?.status === 204))
      assert.deepEqual(
        ascending(given),
        range(given.length).map((index) => index + 2),
      )
      const remaining = [1, ...given].filter((version) => !deleted.has(version))
      assert.deepEqual(await listVersionNumbers(owner, val), ascending(remaining).toReversed())
      const { body } = await call(server, { method: 'GET', to: `/v1/vals/${val.id}`, as: owner })
      assert.equal((body as Val).version, Math.max(...remaining))
    }),
    { numRuns: 12 },
  )
})

test('50 parallel POSTs of versions get 50 consecutive numbers', async () => {
  const owner = await newUser()
  const val = await createVal(owner)
  const answers = await Promise.all(
    range(parallel).map((index) =>
      call(server, {
        method: 'POST',
        to: `/v1/vals/${val.id}/versions`,
        as: owner,
        body: { code: `export default ${index + 1}` },
      }),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 201))
  const versions = answers.map(({ body }) => (body as Val).version)
  assert.deepEqual(
    ascending(versions),
    range(parallel).map((index) => index + 2),
  )
  assert.deepEqual(
    await listVersionNumbers(owner, val),
    range(parallel + 1)
      .map((index) => index + 1)
      .toReversed(),
  )
})

test('50 parallel PUTs of one new name with the same code make one val with one version', async () => {
  const owner = await newUser()
  const body = { name: 'one', code: 'export default 1' }
  const answers = await Promise.all(
    range(parallel).map(() => call(server, { method: 'PUT', to: '/v1/vals', as: owner, body })),
  )
  assert.deepEqual(ascending(answers.map(({ status }) => status)), [...Array(parallel - 1).fill(200), 201])
  const vals = await listVals(owner)
  assert.deepEqual(
    vals.map(({ name, version }) => [name, version]),
    [['one', 1]],
  )
})

test('50 parallel PUTs of one new name with 50 codes make one val with 50 versions', async () => {
  const owner = await newUser()
  const answers = await Promise.all(
    range(parallel).map((index) => {
      const body = { name: index % 2 === 0 ? 'many' : 'MANY', code: `export default ${index}` }
      return call(server, { method: 'PUT', to: '/v1/vals', as: owner, body })
    }),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 1)
  const versions = answers.map(({ body }) => (body as Val).version)
  assert.deepEqual(
    ascending(versions),
    range(parallel).map((index) => index + 1),
  )
  const [val, ...others] = await listVals(owner)
  assert.ok(val)
  assert.deepEqual(others, [])
  assert.equal(val.version, parallel)
  const current = answers.find(({ body }) => (body as Val).version === parallel)
  assert.ok(current)
  assert.equal(val.code, (current.body as Val).code)
  assert.equal((await listVersionNumbers(owner, val)).length, parallel)
})

test('of parallel creations of one name, in any spelling, exactly one is answered 201 and the others 409', async () => {
  const spelling = fc.constantFrom('hello', 'Hello', 'HELLO', 'world', 'World', 'other_1')
  await fc.assert(
    fc.asyncProperty(fc.array(spelling, { minLength: 2, maxLength: 24 }), async (names) => {
      const owner = await newUser()
      const answers = await Promise.all(
        names.map(async (name, index) => {
          const body = { name, code: `export default ${index}` }
          const { status } = await call(server, { method: 'POST', to: '/v1/vals', as: owner, body })
          return { status, name: name.toLowerCase() }
        }),
      )
      const created = answers.filter(({ status }) => status === 201).map(({ name }) => name)
      assert.ok(answers.every(({ status }) => status === 201 || status === 409))
      assert.deepEqual(created.toSorted(), [...new Set(names.map((name) => name.toLowerCase()))].toSorted())
      assert.equal((await listVals(owner)).length, created.length)
    }),
    { numRuns: 20 },
  )
})

test('parallel renames to one name leave exactly one val with it', async () => {
  const owner = await newUser()
  const vals = await Promise.all(range(20).map((index) => createVal(owner, { name: `val${index}` })))
  const answers = await Promise.all(
    vals.map(({ id }, index) =>
      call(server, {
        method: 'PUT',
        to: `/v1/vals/${id}`,
        as: owner,
        body: { name: index % 2 === 0 ? 'wanted' : 'Wanted' },
      }),
    ),
  )
  assert.deepEqual(ascending(answers.map(({ status }) => status)), [204, ...Array(19).fill(409)])
  const names = (await listVals(owner)).map(({ name }) => name.toLowerCase())
  assert.equal(new Set(names).size, vals.length)
})

test('likes and unlikes in parallel leave a count that is the number of users who like the val', async () => {
  const users = await newUsers(12)
  const action = fc.record({ user: fc.nat({ max: users.length - 1 }), likes: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 60 }), async (actions) => {
      const owner = await newUser()
      const val = await createVal(owner)
      const like = `/v1/me/likes/${val.id}`
      await Promise.all(
        actions.map(async ({ user, likes }) => {
          const as = users[user] ?? owner
          const { status } = await call(server, { method: likes ? 'PUT' : 'DELETE', to: like, as })
          assert.equal(status, 204)
        }),
      )
      const liked = await Promise.all(
        users.map(async (as) => {
          const { body } = await call(server, { method: 'GET', to: '/v1/me/likes?limit=100', as })
          return (body as { data: readonly BasicVal[] }).data.some(({ id }) => id === val.id)
        }),
      )
      const { body } = await call(server, { method: 'GET', to: `/v1/vals/${val.id}`, as: owner })
      assert.equal((body as Val).likeCount, liked.filter(Boolean).length)
    }),
    { numRuns: 8 },
  )
})

for (const [what, openList] of Object.entries(lists)) {
  test(`following links.next through ${what} while others write shows every older row exactly once`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 12 }), async (limit) => {
        const list = await openList({ server, newUser })
        await followWhileOthersWrite(server, list, limit)
      }),
      { numRuns: 4 },
    )
  })
}

function isVal(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'version' in body
}

function ascending(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((a, b) => a - b)
}

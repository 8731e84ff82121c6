import assert from 'node:assert/strict'
import { after, beforeEach, mock, test } from 'node:test'
import { type Bus, connectBus } from '@valley/bus/connect-bus.ts'
import type { Head, ReplyBody } from '@valley/bus/requests.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { limits } from '../limits.ts'
import { exampleHead } from '../testing/example-head.ts'
import { HeadCache, type HeadFound } from './head-cache.ts'

type Reply = ReplyBody<'resolveVal'>

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
// One of its own: elsewhere, servers of other tests would answer.
const nats = opened.use(await startNats({ folder: folder.path }))
const server = opened.use(openBus('server'))
const runner = opened.use(openBus('runner'))

/** What the server says, and how often it was asked. */
let answer: (label: string) => Promise<Reply>
let asked: string[] = []
let told = 0
server.serve('resolveVal', async ({ label }) => {
  asked.push(label)
  return answer(label)
})
runner.subscribe('valChanged', () => told++)
await until(() => server.state === 'up' && runner.state === 'up')

beforeEach(() => {
  asked = []
  answer = async () => found(1)
})

test('a val that is known is found at once, without asking', async () => {
  const heads = await openCache()
  assert.deepEqual(await heads.find('alice--hello'), foundHead(1))
  const again = heads.find('alice--hello')
  assert.ok(!(again instanceof Promise))
  assert.deepEqual(again, foundHead(1))
  assert.equal(asked.length, 1)
})

test('after a change it is asked for again, by everybody who comes, with one question', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  answer = async () => found(2)
  await change()
  const all = await Promise.all(Array.from({ length: 10 }, async () => heads.find('alice--hello')))
  assert.deepEqual(
    all,
    Array.from({ length: 10 }, () => foundHead(2)),
  )
  assert.equal(asked.length, 2)
})

test('an answer that was on its way when the val changed again is not taken for the newest', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  await change()
  const old = Promise.withResolvers<Reply>()
  answer = () => old.promise
  const finding = Promise.resolve(heads.find('alice--hello'))
  await until(() => asked.length === 2)
  await change()
  answer = async () => found(3)
  old.resolve(found(2))
  assert.deepEqual(await finding, foundHead(3))
})

test('that goes for the first answer as well', async () => {
  const heads = await openCache()
  const old = Promise.withResolvers<Reply>()
  answer = () => old.promise
  const finding = Promise.resolve(heads.find('alice--hello'))
  await until(() => asked.length === 1)
  await change()
  answer = async () => found(2)
  old.resolve(found(1))
  await finding
  assert.deepEqual(await heads.find('alice--hello'), foundHead(2))
})

test('a change of another val costs no question; one of its owner’s variables or name does', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  await change('01a1dd3a-0000-7000-8000-000000000000')
  await heads.find('alice--hello')
  assert.equal(asked.length, 1)
  for (const name of ['environmentChanged', 'callerChanged'] as const) {
    const before = asked.length
    server.publish(name, { userId: exampleHead.ownerId })
    await until(() => heads.find('alice--hello') instanceof Promise)
    assert.ok(asked.length >= before)
  }
})

test('what is missing is remembered, until anything changes', async () => {
  const heads = await openCache()
  answer = async () => ({ kind: 'missing' })
  assert.deepEqual(await heads.find('alice--none'), { kind: 'missing' })
  assert.deepEqual(heads.find('alice--none'), { kind: 'missing' })
  answer = async () => found(1)
  await change('01a1dd3a-0000-7000-8000-000000000000')
  assert.deepEqual(await heads.find('alice--none'), foundHead(1))
})

test('what was deleted is missing from then on', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  answer = async () => ({ kind: 'missing' })
  await change()
  assert.deepEqual(await heads.find('alice--hello'), { kind: 'missing' })
})

test('while the server cannot say, what is known goes on, and what is not is unavailable', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  answer = async () => ({ kind: 'unavailable' })
  await change()
  assert.deepEqual(await heads.find('alice--hello'), foundHead(1))
  const soonAfter = heads.find('alice--hello')
  assert.ok(!(soonAfter instanceof Promise), 'nobody asks again at once')
  assert.deepEqual(await heads.find('alice--other'), { kind: 'unavailable' })
  answer = async () => found(2)
  await until(() => heads.find('alice--hello') instanceof Promise)
  assert.deepEqual(await heads.find('alice--hello'), foundHead(2))
})

test('a head in use is renewed before anybody has to wait for it, and one that is too old is not used', async () => {
  const heads = await openCache()
  await heads.find('alice--hello')
  answer = async () => found(2)
  const nowMs = performance.now()
  const clock = mock.method(performance, 'now', () => nowMs + limits.headRefreshAgeMs + 100)
  assert.deepEqual(heads.find('alice--hello'), foundHead(1))
  await until(() => asked.length === 2)
  await until(() => sameVersion(heads.find('alice--hello'), 2))
  answer = async () => found(3)
  clock.mock.mockImplementation(() => nowMs + limits.headRefreshAgeMs + limits.headAgeMaxMs + 200)
  assert.deepEqual(await heads.find('alice--hello'), foundHead(3))
  clock.mock.restore()
})

function openBus(name: string): Bus {
  return connectBus({ url: nats.url, name, onChange: () => undefined, onBadMessage: () => undefined })
}

/** Once the server's word reaches the runner, so does everything after it. */
async function openCache(): Promise<HeadCache> {
  const heads = new HeadCache(runner)
  await change()
  return heads
}

async function change(valId = exampleHead.valId): Promise<void> {
  const before = told
  // Until the runner has subscribed, a hint is lost.
  await until(() => {
    if (told === before) server.publish('valChanged', { valId })
    return told > before
  })
}

function found(version: number): Reply {
  return { kind: 'found', head: headOf(version) }
}

function foundHead(version: number): HeadFound {
  return { kind: 'found', head: headOf(version) }
}

function headOf(version: number): Head {
  return { ...exampleHead, version }
}

function sameVersion(at: HeadFound | Promise<HeadFound>, version: number): boolean {
  return !(at instanceof Promise) && at.kind === 'found' && at.head.version === version
}

async function until(isTrue: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!isTrue()) {
    assert.ok(Date.now() < deadline, 'waited in vain')
    await new Promise((done) => setTimeout(done, 5))
  }
}

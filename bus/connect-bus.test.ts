import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { type Bus, connectBus } from './connect-bus.ts'
import { takeBatches } from './testing/take-batches.ts'
import type { StreamBody } from './streams.ts'
import type { Watched } from './watch-stream.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path }))

const seen: string[] = []

function openBus(url = nats.url): Bus {
  return connectBus({
    url,
    name: 'test',
    onChange: () => {},
    onBadMessage: (subject, error) => seen.push(`${subject}: ${String(error)}`),
    onTrouble: (doing, error) => seen.push(`${doing}: ${String(error)}`),
  })
}

async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await isTrue())) {
    assert.ok(Date.now() < deadline, `waited in vain: ${what}\n${seen.join('\n')}`)
    await pause(10)
  }
}

async function openTwo() {
  await using stack = new AsyncDisposableStack()
  const [one, other] = [stack.use(openBus()), stack.use(openBus())]
  await until('both are up', () => one.state === 'up' && other.state === 'up')
  const toClose = stack.move()
  return { one, other, [Symbol.asyncDispose]: () => toClose.disposeAsync() }
}

/** Whatever the test finds meanwhile, the next one has its NATS. */
async function withNatsKilled(work: () => Promise<void>): Promise<void> {
  await nats.kill()
  try {
    await work()
  } finally {
    await nats.restart()
  }
}

const question = { tokenHash: 'a'.repeat(64) }
const aBatch = () => ({ batchId: randomUUID(), reports: [] })

test('a request that nobody serves, or of a bus that is down, is null at once', async () => {
  await using buses = await openTwo()
  await using nowhere = openBus('nats://127.0.0.1:1')
  const startedAt = Date.now()
  for (const bus of [buses.one, nowhere]) {
    assert.equal(await bus.request('identifyCaller', question, { timeoutMs: 60_000 }), null)
  }
  assert.ok(Date.now() - startedAt < 5_000)
})

test('a patient request waits for a bus that comes up, within its time', async () => {
  await using buses = await openTwo()
  buses.other.serve('identifyCaller', async () => ({ kind: 'unknown' }))
  await until('it is served', async () => (await ask(buses.one)) !== null)
  await using starting = openBus()
  assert.equal(starting.state, 'down')
  const patiently = { timeoutMs: 2_000, patient: true }
  assert.deepEqual(await starting.request('identifyCaller', question, patiently), { kind: 'unknown' })
  await using nowhere = openBus('nats://127.0.0.1:1')
  const startedAtMs = performance.now()
  assert.equal(await nowhere.request('identifyCaller', question, { ...patiently, timeoutMs: 200 }), null)
  assert.ok(performance.now() - startedAtMs >= 190)
})

test('a request is answered by one server, and a failing answer is told as unavailable', async () => {
  await using buses = await openTwo()
  let answers = 0
  for (const bus of [buses.one, buses.other]) {
    bus.serve('identifyCaller', async () => {
      answers++
      if (answers === 2) throw new Error('on purpose')
      return { kind: 'unknown' }
    })
  }
  await until('it is served', async () => (await ask(buses.one)) !== null)
  assert.equal(answers, 1)
  assert.deepEqual(await ask(buses.one), { kind: 'unavailable' })
  assert.match(seen.at(-1) ?? '', /callers\.identify: Error: on purpose/)
})

const ask = (bus: Bus) => bus.request('identifyCaller', question, { timeoutMs: 2_000 })

test('a reply that is larger than NATS takes is told as unavailable, and observed', async () => {
  await using buses = await openTwo()
  const { payloadBytesMax } = buses.other
  assert.ok(payloadBytesMax >= 4 * 1024 * 1024)
  buses.other.serve('resolveVal', async () => ({ kind: 'missing', padding: 'x'.repeat(payloadBytesMax) }))
  const resolve = () => buses.one.request('resolveVal', { label: 'a' }, { timeoutMs: 2_000 })
  await until('it is served', async () => (await resolve()) !== null)
  assert.deepEqual(await resolve(), { kind: 'unavailable' })
  assert.match(seen.at(-1) ?? '', /vals\.resolve: .*max_payload/)
})

test('a request whose connection is lost is null long before its time is up', async () => {
  await using buses = await openTwo()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  buses.other.serve('identifyCaller', async () => {
    resolve()
    await pause(100)
    return { kind: 'unknown' }
  })
  await buses.other.request('identifyCaller', question, { timeoutMs: 2_000 })
  const startedAt = Date.now()
  const answer = buses.one.request('identifyCaller', question, { timeoutMs: 20_000 })
  await asked
  await withNatsKilled(async () => {
    assert.equal(await answer, null)
    assert.equal(await buses.one.publishToStream('RUNS', aBatch(), { messageId: 'while down' }), 'refused')
    assert.ok(Date.now() - startedAt < 5_000)
  })
})

test('a batch that is published twice is taken once, also when NATS is killed before it is taken', async () => {
  await using buses = await openTwo()
  const batch = aBatch()
  const publish = () => buses.one.publishToStream('RUNS', batch, { messageId: batch.batchId })
  await until('the stream is there', async () => (await publish()) === 'stored')
  assert.equal(await publish(), 'stored')
  await nats.kill()
  await nats.restart()
  await until('it is up again', () => buses.one.state === 'up' && buses.other.state === 'up')
  const taken: unknown[] = []
  const consumer = { stream: 'RUNS', name: 'recorder' } as const
  await using _ = takeBatches(buses.other, (each) => taken.push(each))
  await until('it is taken', async () => (await buses.one.lagOf(consumer)) === 0 && taken.length > 0)
  assert.deepEqual(taken, [batch])
})

test('what is given back is taken again', async () => {
  await using buses = await openTwo()
  const batch = aBatch()
  let takes = 0
  await using _ = buses.other.consume({
    stream: 'RUNS',
    name: 'recorder',
    take: async (messages) => {
      takes++
      for (const message of messages) {
        if (takes < 3) message.giveBack(10)
        else message.accept()
      }
    },
  })
  const publish = () => buses.one.publishToStream('RUNS', batch, { messageId: batch.batchId })
  await until('the stream is there', async () => (await publish()) === 'stored')
  await until('it is taken for the third time', () => takes === 3)
})

/** Collects what a watch brings until the signal ends it. */
async function collect(bus: Bus, valId: string, after?: Watched['position']) {
  const ending = new AbortController()
  const watch = (await bus.watch('TAIL', valId, { after, signal: ending.signal })) ?? assert.fail('no watch')
  const got: Watched[] = []
  const reading = (async () => {
    for await (const watched of watch.events) got.push(watched)
  })()
  return {
    got,
    end: async () => {
      ending.abort()
      await reading
    },
  }
}

function telling(valId: string, message: string): StreamBody<'TAIL'> {
  const at = new Date().toISOString()
  return { valId, events: [{ kind: 'log', runId: randomUUID(), at, level: 'info', message }] }
}

const messagesIn = (got: readonly Watched[]) =>
  got.map((watched) => {
    if (watched.kind === 'gap') return 'gap'
    const [event] = watched.body.events
    return event?.kind === 'log' ? event.message : 'run'
  })

test('a watch brings what is told about its val from then on, and can go on after any of it', async () => {
  await using buses = await openTwo()
  const valId = randomUUID()
  const first = await collect(buses.one, valId)
  for (const text of ['a', 'b', 'c']) {
    buses.other.tell('TAIL', telling(valId, text))
    buses.other.tell('TAIL', telling(randomUUID(), 'of another val'))
  }
  await until('all came', () => first.got.length === 3)
  assert.deepEqual(messagesIn(first.got), ['a', 'b', 'c'])
  await first.end()
  const second = await collect(buses.one, valId, first.got[0]?.position)
  await until('the rest came', () => second.got.length === 2)
  assert.deepEqual(messagesIn(second.got), ['b', 'c'])
  await second.end()
})

test('a watch outlives NATS: it says that there is a gap, and goes on', async () => {
  await using buses = await openTwo()
  const valId = randomUUID()
  const watch = await collect(buses.one, valId)
  await nats.kill()
  await nats.restart()
  await until('it is up again', () => buses.one.state === 'up' && buses.other.state === 'up')
  await until('it goes on', () => {
    buses.other.tell('TAIL', telling(valId, 'again'))
    return watch.got.length > 1
  })
  assert.deepEqual(messagesIn(watch.got).slice(0, 2), ['gap', 'again'])
  await watch.end()
})

test('a watch of a bus that is down is null', async () => {
  await using nowhere = openBus('nats://127.0.0.1:1')
  const { signal } = new AbortController()
  assert.equal(await nowhere.watch('TAIL', randomUUID(), { signal }), null)
})

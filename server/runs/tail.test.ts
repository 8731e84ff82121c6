import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { TailEvent } from '@valley/bus/run-report.ts'
import type { Val } from '@valley/contract/vals.ts'
import { createClient } from '@valley/sdk/client.ts'
import { openTemporaryFolder } from '@valley/tools/services/open-temporary-folder.ts'
import { startNats } from '@valley/tools/services/start-nats.ts'
import { v7 } from 'uuid'
import { limits } from '../limits.ts'
import { assertFault } from '../testing/assert-fault.ts'
import { newCaller } from '../testing/call-as.ts'
import { createVal } from '../testing/create-val.ts'
import { openTestServer } from '../testing/open-test-server.ts'
import { openRunnerBus } from '../testing/report-runs.ts'
import { waitUntil } from '../testing/wait-until.ts'

const opened = new AsyncDisposableStack()
after(() => opened.disposeAsync())
const folder = opened.use(await openTemporaryFolder())
const nats = opened.use(await startNats({ folder: folder.path }))
const server = opened.use(await openTestServer({ NATS_URL: nats.url, LOG_LEVEL: 'silent' }))
const runner = opened.use(openRunnerBus(nats.url))
await waitUntil('the bus is up', async () => runner.state === 'up')

type Caller = Awaited<ReturnType<typeof newCaller>>

function line(message: string): TailEvent {
  return { kind: 'log', runId: v7(), at: new Date().toISOString(), level: 'info', message }
}

function print(val: Val, ...messages: string[]): void {
  runner.tell('TAIL', { valId: val.id, events: messages.map(line) })
}

/** A tail as it comes over the wire, in blocks. */
async function openTail({ user }: Caller, { id }: Val, { on = server, lastEventId = '' } = {}) {
  const headers: Record<string, string> = lastEventId === '' ? {} : { 'last-event-id': lastEventId }
  const ending = new AbortController()
  const response = await fetch(`${on.url}/v1/vals/${id}/tail`, {
    headers: { authorization: `Bearer ${user.token}`, 'accept-encoding': 'gzip, br', ...headers },
    signal: ending.signal,
  })
  const blocks: string[] = []
  const state = { isOver: false }
  const reading = (async () => {
    let rest = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (rest + chunk).split('\n\n')
      rest = parts.pop() ?? ''
      blocks.push(...parts)
    }
  })()
  const over = reading.catch(() => {}).then(() => (state.isOver = true))
  return {
    response,
    blocks,
    state,
    messages: () => blocks.flatMap((block) => /"message":"(.*?)"/.exec(block)?.[1] ?? []),
    ids: () => blocks.flatMap((block) => /^id: (.*)$/m.exec(block)?.[1] ?? []),
    async leave() {
      ending.abort()
      await over
    },
  }
}

async function prepare() {
  const alice = await newCaller(server, 'alice')
  return { alice, val: await createVal(alice) }
}

test('a tail shows lines as they are printed and runs as they end, of its val only', async () => {
  const { alice, val } = await prepare()
  const tail = await openTail(alice, val)
  assert.equal(tail.response.status, 200)
  assert.equal(tail.response.headers.get('content-type'), 'text/event-stream')
  assert.equal(tail.response.headers.get('content-encoding'), null)
  const log = line('hello')
  const runId = v7()
  const ended = {
    version: 1,
    source: 'http',
    status: 'succeeded',
    error: null,
    runId,
    request: { method: 'GET', path: '/' },
    response: { status: 200 },
    timings: { queuedMs: 0, bootMs: 0, runMs: 1.5, cpuMs: null },
  } as const
  print(await createVal(alice), 'of another val')
  runner.tell('TAIL', { valId: val.id, events: [log, { kind: 'run', ...ended }] })
  await waitUntil('both came', async () => tail.blocks.length >= 3)
  const [start, first, second] = tail.blocks
  assert.match(start ?? '', /^retry: 1000\nid: \S+$/)
  const { kind: _, ...logData } = log
  assert.deepEqual(parse(first), { event: 'log', data: logData })
  assert.deepEqual(parse(second), { event: 'run', data: ended })
  await tail.leave()
})

function parse(block = '') {
  const [, event, data = ''] = /^event: (\w+)\nid: \S+\ndata: (.*)$/.exec(block) ?? []
  return { event, data: JSON.parse(data) as unknown }
}

test('a tail goes on after any of its events, with nothing missed and nothing doubled', async () => {
  const { alice, val } = await prepare()
  const tail = await openTail(alice, val)
  print(val, 'a', 'b', 'c')
  print(val, 'd')
  await waitUntil('all came', async () => tail.messages().length === 4)
  await tail.leave()
  print(val, 'e')
  const all = ['a', 'b', 'c', 'd', 'e']
  for (const [index, id] of tail.ids().entries()) {
    const resumed = await openTail(alice, val, { lastEventId: id })
    await waitUntil('the rest came', async () => resumed.messages().at(-1) === 'e')
    assert.deepEqual(resumed.messages(), all.slice(index))
    await resumed.leave()
  }
})

test('a position that is not known, or no longer, begins with a gap', async () => {
  const { alice, val } = await prepare()
  for (const id of ['nonsense', '1-1', '1-1-1']) {
    const tail = await openTail(alice, val, { lastEventId: id })
    await waitUntil('it says so', async () => tail.blocks.some((block) => block.startsWith('event: gap')))
    await tail.leave()
  }
})

test('the client’s tail goes on by itself when its connection is lost, nothing missed or doubled', async () => {
  const { alice, val } = await prepare()
  const open: AbortController[] = []
  const client = createClient({
    baseUrl: server.url,
    token: alice.user.token,
    fetch: async (url, init) => {
      const cut = new AbortController()
      const signal = AbortSignal.any([cut.signal, init.signal ?? cut.signal])
      const response = await fetch(url, { ...init, signal })
      open.push(cut)
      return response
    },
  })
  const ending = new AbortController()
  const got: string[] = []
  const reading = (async () => {
    for await (const { event, data } of client.vals.tail(val.id, {}, { signal: ending.signal })) {
      got.push(event === 'run' ? 'run' : data.message)
    }
  })()
  const printed: string[] = []
  for (let losses = 0; losses < 4; losses++) {
    await waitUntil('it is open', async () => open.length > losses)
    print(val, `${losses} seen`)
    await waitUntil('a line came', async () => got.at(-1) === `${losses} seen`)
    open.at(-1)?.abort()
    print(val, `${losses} while away`)
    printed.push(`${losses} seen`, `${losses} while away`)
  }
  await waitUntil('all came', async () => got.length >= printed.length)
  assert.deepEqual(got, printed)
  ending.abort(new Error('enough'))
  await assert.rejects(reading, /enough/)
})

test('a tail that is not the caller’s is refused by the client with the server’s error', async () => {
  const { val } = await prepare()
  const stranger = await newCaller(server, 'stranger')
  const client = createClient({ baseUrl: server.url, token: stranger.user.token })
  await assert.rejects(Array.fromAsync(client.vals.tail(val.id)), { code: 'not_found' })
})

test('a caller may have so many tails open, and another one once one of them has ended', async () => {
  const { alice, val } = await prepare()
  const tails = []
  for (let count = 0; count < limits.tailsOfCallerMax; count++) tails.push(await openTail(alice, val))
  const path = `/v1/vals/${val.id}/tail`
  assertFault(await alice.get(path), 'rate_limited')
  await tails.pop()?.leave()
  await waitUntil('there is room', async () => (await alice.get(path)).status === 200)
  await Promise.all(tails.map((tail) => tail.leave()))
})

test('a tail outlives that NATS is killed, and says that events may be missing', async () => {
  const { alice, val } = await prepare()
  const tail = await openTail(alice, val)
  await nats.kill()
  await waitUntil('a new one is refused', async () => {
    return (await alice.get(`/v1/vals/${val.id}/tail`)).status === 503
  })
  await nats.restart()
  await waitUntil('it goes on', async () => {
    print(val, 'again')
    return tail.messages().includes('again')
  })
  assert.ok(tail.blocks.some((block) => block.startsWith('event: gap')))
  assert.equal(tail.state.isOver, false)
  await tail.leave()
})

test('a server that stops ends its tails at once', async () => {
  const other = await openTestServer({ NATS_URL: nats.url })
  const alice = await newCaller(other, 'alice')
  const val = await createVal(alice)
  const path = `/v1/vals/${val.id}/tail`
  await waitUntil('the bus is up', async () => (await alice.get(path)).status === 200)
  const tail = await openTail(alice, val, { on: other })
  const startedAt = Date.now()
  await other[Symbol.asyncDispose]()
  await waitUntil('it is over', async () => tail.state.isOver)
  assert.ok(Date.now() - startedAt < limits.drainTimeoutMs / 2)
})

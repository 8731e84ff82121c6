import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { EventStream, type Piece } from '../event-stream.ts'
import { limits } from '../limits.ts'
import { waitUntil } from '../testing/wait-until.ts'
import { sendEvents, type SentEvent } from './send-events.ts'

const pieceBytes = 10_000

/** Serves events without end, and tells how many of them were taken to be sent. */
async function serveEndlessly() {
  const ending = new AbortController()
  const state = { taken: 0, isOver: false }
  async function* pieces(): AsyncGenerator<Piece<SentEvent>> {
    while (!ending.signal.aborted) {
      state.taken++
      yield { kind: 'event', event: { event: 'log', id: '1', data: 'x'.repeat(pieceBytes) } }
    }
  }
  const server = createServer((incoming, outgoing) => {
    const stream = new EventStream(pieces(), () => ending.abort())
    void sendEvents({ incoming, outgoing }, [], stream).then(() => (state.isOver = true))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, state, [Symbol.dispose]: () => void server.close() }
}

async function connectWithoutReading(port: number, method = 'GET') {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  await once(socket, 'connect')
  socket.pause()
  socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`)
  return socket
}

test('of a reader that does not read, no more is kept than the sockets hold, and it is cut off', async (t) => {
  using served = await serveEndlessly()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const socket = await connectWithoutReading(served.port)
  let before = -1
  while (served.state.taken === 0 || served.state.taken !== before) {
    before = served.state.taken
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  }
  assert.ok(served.state.taken * pieceBytes < 20_000_000, `${served.state.taken} pieces were taken`)
  t.mock.timers.tick(limits.eventStallMsMax)
  for (let turn = 0; turn < 1_000 && !served.state.isOver; turn++) await new Promise(setImmediate)
  assert.equal(served.state.isOver, true)
  socket.destroy()
})

test('events end when their reader leaves', async () => {
  using served = await serveEndlessly()
  const socket = await connectWithoutReading(served.port)
  await waitUntil('they began', async () => served.state.taken > 0)
  socket.destroy()
  await waitUntil('they end', async () => served.state.isOver)
})

test('HEAD gets the headers, and no event is taken for it', async () => {
  using served = await serveEndlessly()
  const socket = await connectWithoutReading(served.port, 'HEAD')
  await waitUntil('it is over', async () => served.state.isOver)
  assert.equal(served.state.taken, 0)
  socket.destroy()
})

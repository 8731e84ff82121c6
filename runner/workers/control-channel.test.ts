import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { limits } from '../limits.ts'
import type { FromWorker } from '../sandbox/bootstrap/control-message.ts'
import { ControlChannel } from './control-channel.ts'

const pong = (number: number) => `${JSON.stringify({ kind: 'pong', number })}\n`

test('messages are heard one by one, however they are cut on the way, also within a character', async () => {
  await using line = await openLine()
  const message: FromWorker = { kind: 'log', runId: null, level: 'info', message: 'grüße 😀' }
  const bytes = Buffer.from(`${JSON.stringify(message)}\n${pong(1)}`)
  for (const byte of bytes) {
    line.far.write(Buffer.of(byte))
    await new Promise(setImmediate)
  }
  await line.until(() => line.heard.length === 2)
  assert.deepEqual(line.heard, [message, { kind: 'pong', number: 1 }])
  assert.equal(line.nonsense, 0)
})

const garbage: Record<string, string> = {
  'no JSON': 'hello\n',
  'an empty line': '\n',
  'JSON that is no message': '{"kind":"reboot"}\n',
  'a message with a field of another kind': '{"kind":"pong","number":"1"}\n',
  'a level that does not exist': '{"kind":"log","runId":null,"level":"fatal","message":""}\n',
  'an array': '[]\n',
  'bytes that are no text': '\xff\xfe\n',
}

for (const [what, bytes] of Object.entries(garbage)) {
  test(`${what} ends the line, and nothing after it is heard`, async () => {
    await using line = await openLine()
    line.far.write(pong(1))
    line.far.write(Buffer.from(bytes + pong(2) + bytes, 'latin1'))
    await line.until(() => line.closed)
    assert.deepEqual(line.heard, [{ kind: 'pong', number: 1 }])
    assert.equal(line.nonsense, 1)
  })
}

test('a line without an end is not collected for ever', async () => {
  await using line = await openLine()
  line.far.write('x'.repeat(limits.controlLineBytesMax + 1))
  await line.until(() => line.closed)
  assert.equal(line.nonsense, 1)
})

test('what is sent arrives as lines, and after the end it is dropped', async () => {
  await using line = await openLine()
  line.channel.send({ kind: 'ping', number: 7 })
  const [bytes] = (await once(line.far, 'data')) as [Buffer]
  assert.equal(bytes.toString(), '{"kind":"ping","number":7}\n')
  line.channel.close()
  line.channel.send({ kind: 'ping', number: 8 })
  await line.until(() => line.closed)
  assert.equal(line.nonsense, 0)
})

async function openLine() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected = once(server, 'connection') as Promise<[Socket]>
  const far = createConnection((server.address() as AddressInfo).port, '127.0.0.1')
  far.on('error', () => undefined)
  const [near] = await connected
  const seen = { heard: [] as FromWorker[], nonsense: 0, closed: false }
  const channel = new ControlChannel(near, {
    onMessage: (message) => seen.heard.push(message),
    onNonsense: () => seen.nonsense++,
    onClose: () => (seen.closed = true),
  })
  return Object.assign(seen, {
    far,
    channel,
    async until(isTrue: () => boolean): Promise<void> {
      const deadline = Date.now() + 5_000
      while (!isTrue()) {
        assert.ok(Date.now() < deadline, 'waited in vain')
        await new Promise(setImmediate)
      }
    },
    async [Symbol.asyncDispose]() {
      far.destroy()
      near.destroy()
      server.close()
      await once(server, 'close')
    },
  })
}

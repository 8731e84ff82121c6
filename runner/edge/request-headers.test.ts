import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { requestHeaders } from './request-headers.ts'

const forwarding = { runId: 'the-run', trustProxy: false, protocol: 'https' } as const

test("a val sees the client's headers as they were spelled, and which run it is in", () => {
  const seen = headersOf(['Host', 'a.localhost', 'X-One', '1', 'X-One', '2', 'Cookie', 'a=1'])
  assert.deepEqual(seen.getAll('x-one'), ['1', '2'])
  assert.deepEqual(seen.getAll('cookie'), ['a=1'])
  assert.deepEqual(seen.getAll('host'), ['a.localhost'])
  assert.deepEqual(seen.getAll('valley-run'), ['the-run'])
  assert.deepEqual(seen.getAll('x-forwarded-proto'), ['https'])
})

test('of two hosts a val sees the one that chose it', () => {
  assert.deepEqual(headersOf(['Host', 'a.localhost', 'host', 'b.localhost']).getAll('host'), ['a.localhost'])
})

for (const name of [
  'Connection',
  'Keep-Alive',
  'Transfer-Encoding',
  'TE',
  'Trailer',
  'Upgrade',
  'Expect',
  'Proxy-Authorization',
  'X-Forwarded-Host',
  'X-Real-IP',
  'Forwarded',
  'Valley-Outcome',
]) {
  test(`${name} is not passed on`, () => {
    assert.deepEqual(headersOf(['Host', 'a', name, 'something']).getAll(name.toLowerCase()), [])
  })
}

test('a client cannot say which run it is, nor where it comes from', () => {
  const seen = headersOf(['Host', 'a', 'Valley-Run', 'forged', 'X-Forwarded-For', '8.8.8.8'])
  assert.deepEqual(seen.getAll('valley-run'), ['the-run'])
  assert.ok(!seen.getAll('x-forwarded-for').join().includes('8.8.8.8'))
})

test("what an operator's proxy says of where it comes from is believed, and kept", () => {
  const seen = headersOf(['Host', 'a', 'X-Forwarded-For', '8.8.8.8'], { ...forwarding, trustProxy: true })
  assert.match(seen.getAll('x-forwarded-for').join(), /^8\.8\.8\.8, /)
})

test('a token of ours stays with us, however it is spelled; any other authorization is the val’s', () => {
  for (const value of ['Bearer vly_abc', 'bearer vly_abc', 'BEARER   vly_abc']) {
    assert.deepEqual(headersOf(['Host', 'a', 'Authorization', value]).getAll('authorization'), [])
  }
  for (const value of ['Bearer abc', 'Basic dmx5Xw==', 'vly_abc']) {
    assert.deepEqual(headersOf(['Host', 'a', 'Authorization', value]).getAll('authorization'), [value])
  }
})

function headersOf(rawHeaders: string[], how: Parameters<typeof requestHeaders>[1] = forwarding) {
  const request = new IncomingMessage(new Socket())
  request.rawHeaders = rawHeaders
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    request.headers[rawHeaders[i]?.toLowerCase() ?? ''] ??= rawHeaders[i + 1]
  }
  const flat = requestHeaders(request, how)
  return {
    getAll: (name: string) => flat.filter((_, at) => at % 2 === 1 && flat[at - 1]?.toLowerCase() === name),
  }
}

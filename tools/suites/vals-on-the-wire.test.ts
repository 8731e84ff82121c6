import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { WebSocket } from 'undici'
import { waitUntil } from '@valley/server/testing/wait-until.ts'
import { connect, readUntil, sendRaw } from './vals/send-raw.ts'
import { openScene, type Scene } from './vals/scene.ts'
import { untilSteady } from './vals/until-steady.ts'

const mib = 1024 * 1024
const bodyBytesMax = 64 * mib
/** What sockets, streams and their buffers may hold on the way between a client and a val. */
const onTheWayBytesMax = 24 * mib

let scene: Scene
let host: (name: string) => string

before(async () => {
  scene = await openScene()
  host = (name) => `alice--${name}.localhost:${scene.port}`
  await scene.save('echo', echo)
  await scene.save('counted', counted)
})
after(async () => {
  await scene[Symbol.asyncDispose]()
})

/** Tells what it was asked, and the digest of what it was sent. */
const echo = `export default async (request: Request) => {
  const bytes = new Uint8Array(await request.arrayBuffer())
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()
  const { method, url } = request
  return Response.json({ method, url, headers: [...request.headers], length: bytes.length, digest })
}`

/** Knows how often it was called, except for telling it. */
const counted = `let calls = 0
export default async (request: Request) => {
  const { pathname } = new URL(request.url)
  if (pathname === "/count") return new Response(String(calls))
  calls++
  await request.arrayBuffer()
  return new Response("called")
}`

interface Echo {
  method: string
  url: string
  headers: [string, string][]
  length: number
  digest: string
}

const readEcho = ({ text }: { text: string }) => JSON.parse(text) as Echo
const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

describe('a request reaches its val as it was sent', () => {
  test('the method, also an unusual one, and the public address with path and query', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      const path = '/a%20b/%E2%82%AC/..%2f/c;d=1?x=1&x=2&empty=&y=%26+z#none'.replace('#none', '')
      const seen = readEcho(await scene.call('echo', path, { method }))
      assert.equal(seen.method, method)
      assert.equal(seen.url, `http://${host('echo')}${path}`)
    }
  })

  test('its headers, also repeated ones and ones beyond ASCII, and who is asking', async () => {
    const headers = [
      'x-one',
      'first',
      'x-one',
      'second',
      'x-latin',
      'café',
      'cookie',
      'a=1; b=2',
      'accept',
      '*/*',
    ]
    const seen = new Map(readEcho(await scene.call('echo', '/', { headers })).headers)
    assert.equal(seen.get('x-one'), 'first, second')
    assert.equal(seen.get('x-latin'), 'café')
    assert.equal(seen.get('cookie'), 'a=1; b=2')
    assert.equal(seen.get('host'), host('echo'))
    assert.equal(seen.get('x-forwarded-for'), '127.0.0.1')
    assert.equal(seen.get('x-forwarded-proto'), 'http')
    assert.match(seen.get('valley-run') ?? '', /^[0-9a-f-]{36}$/)
  })

  test('nobody but us can say which run it is or where it came from', async () => {
    const headers = {
      'valley-run': 'forged',
      'valley-outcome': 'threw',
      'x-forwarded-for': '8.8.8.8',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'elsewhere',
      forwarded: 'for=8.8.8.8',
      'x-real-ip': '8.8.8.8',
    }
    const { headers: seen } = readEcho(await scene.call('echo', '/', { headers }))
    assert.ok(!JSON.stringify(seen).includes('8.8.8.8'))
    assert.ok(!JSON.stringify(seen).includes('forged'))
    assert.equal(new Map(seen).get('x-forwarded-host'), undefined)
  })

  test('its body, byte by byte, with a length and without', async () => {
    const body = randomBytes(3 * mib)
    async function* inPieces() {
      for (let at = 0; at < body.length; at += 100_000) yield body.subarray(at, at + 100_000)
    }
    for (const sent of [body, inPieces()]) {
      const seen = readEcho(await scene.call('echo', '/', { method: 'POST', body: sent as Buffer }))
      assert.deepEqual([seen.length, seen.digest], [body.length, digestOf(body)])
    }
    assert.equal(readEcho(await scene.call('echo', '/', { method: 'POST', body: '' })).length, 0)
  })

  test('a body of 64 MiB passes, a larger one is 413, whether it tells its length or not', async () => {
    const code = `export default async (request: Request) => {
      let bytes = 0
      for await (const chunk of request.body!) bytes += chunk.length
      return new Response(String(bytes))
    }`
    await scene.save('measuring', code)
    const most = Buffer.alloc(bodyBytesMax, 'x')
    const { text } = await scene.call('measuring', '/', { method: 'POST', body: most })
    assert.equal(text, String(bodyBytesMax))
    const before = Number((await scene.call('counted', '/count')).text)
    const told = await postTooMuch([`content-length: ${bodyBytesMax + 1}`], '')
    const untold = await postTooMuch(['transfer-encoding: chunked'], `${mib.toString(16)}\r\n`)
    for (const heard of [told, untold]) {
      assert.match(heard, /^HTTP\/1\.1 413 /)
      assert.match(heard, /"code": "payload_too_large"/)
    }
    assert.ok(Number((await scene.call('counted', '/count')).text) <= before + 1)
  })

  test('a val that answers first is heard, also by a client that sends everything before it listens', async () => {
    await scene.save('hasty', 'export default () => new Response("no thanks", { status: 403 })')
    const body = Buffer.alloc(20 * mib)
    for (const [headers, sent] of [
      [`content-length: ${body.length}`, [body]],
      ['transfer-encoding: chunked', [`${body.length.toString(16)}\r\n`, body, '\r\n0\r\n\r\n']],
    ] as const) {
      const socket = await connect(scene.port)
      socket.pause()
      socket.write(`POST / HTTP/1.1\r\nhost: ${host('hasty')}\r\n${headers}\r\n\r\n`)
      for (const part of sent) socket.write(part)
      await waitUntil('all is sent', async () => socket.writableLength === 0)
      socket.resume()
      assert.match(await readUntil(socket, 'no thanks'), /^HTTP\/1\.1 403 /)
      socket.destroy()
    }
  })

  test('a body that is awaited with 100-continue comes after the go-ahead', async () => {
    const socket = await connect(scene.port)
    socket.write(
      `POST / HTTP/1.1\r\nhost: ${host('echo')}\r\ncontent-length: 5\r\nexpect: 100-continue\r\n\r\n`,
    )
    assert.match(await readUntil(socket, '\r\n\r\n'), /^HTTP\/1\.1 100 Continue/)
    socket.write('hello')
    assert.match(await readUntil(socket, '"length":5'), /^HTTP\/1\.1 200 OK/)
    socket.destroy()
  })

  test('whoever awaits the go-ahead for too much or for no val is refused without it', async () => {
    const ask = async (name: string, length: number) =>
      sendRaw(scene.port, [
        `POST / HTTP/1.1\r\nhost: ${host(name)}\r\ncontent-length: ${length}\r\nexpect: 100-continue\r\n\r\n`,
      ])
    assert.match(await ask('echo', bodyBytesMax + 1), /^HTTP\/1\.1 413 /)
    assert.match(await ask('there-is-none', 5), /^HTTP\/1\.1 404 /)
  })

  test('requests one after the other on one connection, and all at once, are answered in their order', async () => {
    const ask = (path: string, last = false) =>
      `GET ${path} HTTP/1.1\r\nhost: ${host('echo')}\r\n${last ? 'connection: close\r\n' : ''}\r\n`
    const heard = await sendRaw(scene.port, [ask('/1') + ask('/2') + ask('/3'), ask('/4'), ask('/5', true)])
    const urls = [...heard.matchAll(/"url":"[^"]*\/(\d)"/g)].map(([, path]) => path)
    assert.deepEqual(urls, ['1', '2', '3', '4', '5'])
  })

  test('an absolute address in the request line is that of its Host', async () => {
    const heard = await sendRaw(scene.port, [
      `GET http://elsewhere.example/x?y=1 HTTP/1.1\r\nhost: ${host('echo')}\r\nconnection: close\r\n\r\n`,
    ])
    assert.ok(heard.includes(`"url":"http://${host('echo')}/x?y=1"`), heard)
  })
})

describe('a request that two readers could read differently', () => {
  const tricks: Record<string, (at: string) => string> = {
    'a length and chunks': (at) =>
      `POST / HTTP/1.1\r\nhost: ${at}\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: ${at}\r\n\r\n`,
    'two lengths': (at) =>
      `POST / HTTP/1.1\r\nhost: ${at}\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\nabcde`,
    'a length with a sign': (at) => `POST / HTTP/1.1\r\nhost: ${at}\r\ncontent-length: +4\r\n\r\nabcd`,
    'chunked not as the last coding': (at) =>
      `POST / HTTP/1.1\r\nhost: ${at}\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    'an unknown spelling of chunked': (at) =>
      `POST / HTTP/1.1\r\nhost: ${at}\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a folded header': (at) => `GET / HTTP/1.1\r\nhost: ${at}\r\nx-one: a\r\n b\r\n\r\n`,
    'a space before the colon': (at) =>
      `POST / HTTP/1.1\r\nhost: ${at}\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n`,
    'a bare line feed in a header': (at) => `GET / HTTP/1.1\r\nhost: ${at}\r\nx-one: a\nx-two: b\r\n\r\n`,
    'a NUL in a header': (at) => `GET / HTTP/1.1\r\nhost: ${at}\r\nx-one: a\0b\r\n\r\n`,
    'no host': () => `GET / HTTP/1.1\r\n\r\n`,
    'bytes beyond ASCII in the path': (at) => `GET /é HTTP/1.1\r\nhost: ${at}\r\nconnection: close\r\n\r\n`,
  }
  for (const [what, write] of Object.entries(tricks)) {
    test(`with ${what} is 400 and never reaches the val`, async () => {
      const before = (await scene.call('counted', '/count')).text
      const heard = await sendRaw(scene.port, [write(host('counted'))])
      assert.match(heard, /^HTTP\/1\.1 400 /)
      assert.equal(heard.match(/HTTP\/1\.1 /g)?.length, 1, heard)
      assert.equal((await scene.call('counted', '/count')).text, before)
    })
  }

  test('with two hosts is for the first of them, and its val sees no other', async () => {
    const heard = await sendRaw(scene.port, [
      `GET / HTTP/1.1\r\nhost: ${host('echo')}\r\nhost: ${host('counted')}\r\nconnection: close\r\n\r\n`,
    ])
    assert.match(heard, /^HTTP\/1\.1 200 /)
    assert.ok(heard.includes(`"url":"http://${host('echo')}/"`))
    assert.ok(!heard.includes(host('counted')), heard)
  })

  test('with a bad chunk is broken off: its val never sees it whole, nor what follows as a request', async () => {
    const before = Number((await scene.call('counted', '/count')).text)
    const heard = await sendRaw(scene.port, [
      `POST / HTTP/1.1\r\nhost: ${host('counted')}\r\ntransfer-encoding: chunked\r\n\r\n`,
      `zz\r\nGET /smuggled HTTP/1.1\r\nhost: ${host('counted')}\r\n\r\n`,
    ])
    assert.ok(!heard.includes('called'), heard)
    assert.ok(Number((await scene.call('counted', '/count')).text) <= before + 1)
  })

  test('headers of more than 32 KiB are 431', async () => {
    const large = (chars: number) =>
      sendRaw(scene.port, [
        `GET / HTTP/1.1\r\nhost: ${host('counted')}\r\nconnection: close\r\nx-large: ${'x'.repeat(chars)}\r\n\r\n`,
      ])
    assert.match(await large(30_000), /^HTTP\/1\.1 200 /)
    assert.match(await large(40_000), /^HTTP\/1\.1 431 /)
  })
})

describe('an answer reaches its client as it was given', () => {
  test('every status, with its headers', async () => {
    const code = `export default (request: Request) => {
      const status = Number(new URL(request.url).pathname.slice(1))
      const body = status === 204 || status === 304 ? null : "body"
      return new Response(body, { status, headers: { "x-status": String(status), location: "/elsewhere" } })
    }`
    await scene.save('statuses', code)
    for (const status of [
      200, 201, 202, 206, 301, 302, 307, 308, 400, 401, 404, 418, 429, 500, 502, 503, 599,
    ]) {
      const answer = await scene.call('statuses', `/${status}`)
      assert.deepEqual(
        [answer.status, answer.headers['x-status'], answer.text],
        [status, String(status), 'body'],
      )
      assert.equal(answer.headers['location'], '/elsewhere')
    }
    for (const status of [204, 304]) {
      const answer = await scene.call('statuses', `/${status}`)
      assert.deepEqual([answer.status, answer.text], [status, ''])
    }
  })

  test('HEAD has the headers of GET and no body, and the connection goes on', async () => {
    await scene.save('head', 'export default () => new Response("twelve bytes", { headers: { "x-a": "b" } })')
    const ask = (method: string, last = false) =>
      `${method} / HTTP/1.1\r\nhost: ${host('head')}\r\n${last ? 'connection: close\r\n' : ''}\r\n`
    const heard = await sendRaw(scene.port, [ask('HEAD'), ask('GET', true)])
    assert.equal(heard.match(/content-length: 12/g)?.length, 2)
    assert.equal(heard.match(/twelve bytes/g)?.length, 1)
    assert.equal(heard.match(/x-a: b/g)?.length, 2)
  })

  test('each cookie for itself, for the val alone: without the domain that it named', async () => {
    const code = `export default () => {
      const headers = new Headers()
      headers.append("set-cookie", "a=1; Path=/; Domain=localhost; HttpOnly")
      headers.append("set-cookie", "b=domain=x; domain = .localhost;Secure")
      headers.append("set-cookie", "c=3")
      return new Response("", { headers })
    }`
    await scene.save('cookies', code)
    const { headers } = await scene.call('cookies')
    assert.deepEqual(headers['set-cookie'], ['a=1; Path=/; HttpOnly', 'b=domain=x;Secure', 'c=3'])
  })

  test('bytes, also compressed ones, and headers beyond ASCII', async () => {
    const packed = gzipSync('packed by the val')
    const code = `export default (request: Request) => new URL(request.url).pathname === "/all"
      ? new Response(Uint8Array.from({ length: 65536 }, (_, i) => i % 256))
      : new Response(Uint8Array.from(${JSON.stringify([...packed])}), {
          headers: { "content-encoding": "gzip", "x-latin": "caf\\u00e9" } })`
    await scene.save('bytes', code)
    const { bytes } = await scene.call('bytes', '/all')
    assert.deepEqual(bytes, Buffer.from(Array.from({ length: 65_536 }, (_, i) => i % 256)))
    const heard = await scene.call('bytes', '/packed', { headers: { 'accept-encoding': 'gzip' } })
    assert.equal(heard.headers['content-encoding'], 'gzip')
    assert.equal(gunzipSync(heard.bytes).toString(), 'packed by the val')
    const raw = await sendRaw(scene.port, [
      `GET / HTTP/1.1\r\nhost: ${host('bytes')}\r\nconnection: close\r\n\r\n`,
    ])
    assert.match(raw, /x-latin: caf\u00e9\r\n/)
  })

  test('an answer of 200 MiB arrives whole', async () => {
    const code = `export default () => {
      let left = 200
      const piece = new Uint8Array(1024 * 1024).fill(7)
      return new Response(new ReadableStream({
        pull(controller) { left-- > 0 ? controller.enqueue(piece) : controller.close() },
      }))
    }`
    await scene.save('large', code)
    const { body } = await scene.open('large')
    let bytes = 0
    for await (const chunk of body) bytes += (chunk as Buffer).length
    assert.equal(bytes, 200 * mib)
  })

  test('an answer that comes in large pieces keeps its status, its headers and its order', async () => {
    const code = `export default () => {
      let n = 0
      return new Response(new ReadableStream({
        pull(controller) {
          if (n === 20) return controller.close()
          controller.enqueue(new Uint8Array(30_000).fill(n++))
        },
      }), { status: 201, headers: { "x-kept": "yes" } })
    }`
    await scene.save('pieces', code)
    for (let turn = 0; turn < 8; turn++) {
      const { statusCode, headers, body } = await scene.open('pieces')
      assert.deepEqual([statusCode, headers['x-kept']], [201, 'yes'])
      const bytes = Buffer.from(await body.arrayBuffer())
      assert.equal(bytes.length, 600_000)
      for (let n = 0; n < 20; n++) assert.equal(bytes[n * 30_000 + 15_000], n)
    }
  })

  test('an answer that breaks off is not taken for a whole one', async () => {
    const code = `export default () => new Response(new ReadableStream({
      async start(controller) {
        controller.enqueue(new TextEncoder().encode("begun"))
        await new Promise((done) => setTimeout(done, 50))
        controller.error(new Error("in the middle"))
      },
    }))`
    const val = await scene.save('broken', code)
    await assert.rejects(scene.call('broken'))
    const run = await scene.findLastRun(val)
    assert.equal(run.status, 'failed')
    assert.equal(run.error?.name, 'AnswerBrokeOff')
  })
})

describe('streams', () => {
  test('events arrive one by one, while the val still waits', async () => {
    const code = `let go: () => void = () => {}
    export default (request: Request) => {
      if (new URL(request.url).pathname === "/go") { go(); return new Response("gone") }
      return new Response(new ReadableStream({
        async start(controller) {
          for (let i = 0; i < 3; i++) {
            controller.enqueue(new TextEncoder().encode("data: " + i + "\\n\\n"))
            await new Promise<void>((done) => { go = done })
          }
          controller.close()
        },
      }), { headers: { "content-type": "text/event-stream" } })
    }`
    await scene.save('events', code)
    const { body, headers } = await scene.open('events')
    assert.equal(headers['content-type'], 'text/event-stream')
    const heard: string[] = []
    for await (const chunk of body) {
      heard.push(String(chunk))
      await scene.call('events', '/go')
    }
    assert.deepEqual(heard, ['data: 0\n\n', 'data: 1\n\n', 'data: 2\n\n'])
  })

  test('a client that reads slowly slows its val down: nobody keeps what it has not read', async () => {
    const code = `let produced = 0
    export default (request: Request) => {
      if (new URL(request.url).pathname === "/produced") return new Response(String(produced))
      const piece = new Uint8Array(65536)
      return new Response(new ReadableStream({
        pull(controller) {
          if (produced >= ${300 * mib}) return controller.close()
          produced += piece.length
          controller.enqueue(piece)
        },
      }))
    }`
    await scene.save('firehose', code)
    const produced = async () => Number((await scene.call('firehose', '/produced')).text)
    await produced()
    const rssBefore = await scene.metric('process_resident_memory_bytes')
    const { body } = await scene.open('firehose')
    const held = await untilSteady(produced)
    const rssGrown = (await scene.metric('process_resident_memory_bytes')) - rssBefore
    assert.ok(held < onTheWayBytesMax, `${held / mib} MiB were produced for a client that reads nothing`)
    assert.ok(rssGrown < 2 * onTheWayBytesMax, `the runner grew by ${rssGrown / mib} MiB`)
    let bytes = 0
    for await (const chunk of body) bytes += (chunk as Buffer).length
    assert.equal(bytes, 300 * mib)
  })

  test('a val that reads slowly slows its client down', async () => {
    const code = `let go: () => void = () => {}
    const started = new Promise<void>((done) => { go = done })
    export default async (request: Request) => {
      if (new URL(request.url).pathname === "/go") { go(); return new Response("gone") }
      await started
      let bytes = 0
      for await (const chunk of request.body!) bytes += chunk.length
      return new Response("read " + bytes)
    }`
    await scene.save('sipping', code)
    const total = 60 * mib
    const piece = Buffer.alloc(65_536)
    let sent = 0
    async function* pieces() {
      for (; sent < total; sent += piece.length) yield piece
    }
    const rssBefore = await scene.metric('process_resident_memory_bytes')
    const answer = scene.call('sipping', '/', { method: 'POST', body: pieces() as unknown as Buffer })
    const held = await untilSteady(() => sent)
    const rssGrown = (await scene.metric('process_resident_memory_bytes')) - rssBefore
    assert.ok(held < onTheWayBytesMax, `${held / mib} MiB were taken for a val that reads nothing`)
    assert.ok(rssGrown < 2 * onTheWayBytesMax, `the runner grew by ${rssGrown / mib} MiB`)
    await scene.call('sipping', '/go')
    assert.equal((await answer).text, `read ${total}`)
  })
})

describe('a client that leaves', () => {
  const code = `const called: string[] = []
  const aborted: string[] = []
  export default async (request: Request) => {
    const { pathname } = new URL(request.url)
    if (pathname === "/called") return new Response(called.join())
    if (pathname === "/aborted") return new Response(aborted.join())
    called.push(pathname)
    request.signal.addEventListener("abort", () => aborted.push(pathname))
    if (pathname.startsWith("/wait")) await new Promise((done) => setTimeout(done, 5000))
    return new Response(new ReadableStream({
      async pull(controller) {
        controller.enqueue(new TextEncoder().encode("more "))
        await new Promise((done) => setTimeout(done, 20))
      },
    }))
  }`
  const isAborted = (path: string) =>
    waitUntil(`the signal of ${path} aborts`, async () =>
      (await scene.call('left', '/aborted')).text.split(',').includes(path),
    )

  test('before the answer aborts the signal of its request, and the run is canceled', async () => {
    const val = await scene.save('left', code)
    await scene.call('left', '/aborted')
    const leaving = new AbortController()
    const calling = scene.call('left', '/wait', { signal: leaving.signal })
    const gone = assert.rejects(calling)
    await waitUntil('the val was called', async () =>
      (await scene.call('left', '/called')).text.split(',').includes('/wait'),
    )
    leaving.abort()
    await gone
    await isAborted('/wait')
    const run = await scene.findLastRun(val, ({ request }) => request?.path === '/wait')
    assert.deepEqual([run.status, run.error?.name], ['canceled', 'ClientLeft'])
  })

  test('in the middle of a stream aborts the signal of its request, and the run has succeeded', async () => {
    const val = await scene.save('left', code)
    const { body } = await scene.open('left', '/stream')
    await once(body, 'data')
    body.on('error', () => undefined).destroy()
    await isAborted('/stream')
    const run = await scene.findLastRun(val, ({ request }) => request?.path === '/stream')
    assert.equal(run.status, 'succeeded')
  })

  test('while its val is looked up is not called for', async () => {
    await scene.save('looked_up', counted)
    process.kill(scene.world.server.pid, 'SIGSTOP')
    const leaving = new AbortController()
    const gone = assert.rejects(scene.call('looked_up', '/', { signal: leaving.signal }))
    const refused = scene.call('nobody_there')
    leaving.abort()
    await gone
    assert.equal((await refused).status, 503)
    process.kill(scene.world.server.pid, 'SIGCONT')
    assert.equal((await scene.call('looked_up', '/count')).text, '0')
  })
})

describe('WebSockets', () => {
  const code = `export default (request: Request) => {
    if (request.headers.get("upgrade") !== "websocket") return new Response("not a WebSocket")
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === "/declined") return new Response("not for you", { status: 401, headers: { "x-why": "rude" } })
    if (pathname === "/thrown") throw new RangeError("in the upgrade")
    const { socket, response } = Deno.upgradeWebSocket(request, { protocol: searchParams.get("protocol") ?? "" })
    socket.binaryType = "arraybuffer"
    socket.onopen = () => socket.send("welcome")
    socket.onmessage = ({ data }) => {
      if (data === "close") socket.close(4321, "as you wish")
      else socket.send(data)
    }
    socket.onclose = ({ code, reason }) => console.log("closed", code, reason)
    return response
  }`

  before(async () => {
    await scene.save('sockets', code)
  })

  const open = (path = '/', protocols?: string) => {
    const url = scene.urlOf('alice--sockets', path).replace('http', 'ws')
    const socket = new WebSocket(url, { dispatcher: scene.dispatcher, ...(protocols ? { protocols } : {}) })
    socket.binaryType = 'arraybuffer'
    return socket
  }
  const hear = async (socket: WebSocket) => {
    const [{ data }] = (await once(socket, 'message', { signal: AbortSignal.timeout(10_000) })) as [
      { data: string | ArrayBuffer },
    ]
    return data
  }

  test('carry text and bytes both ways, also large ones and many at once', async () => {
    const socket = open()
    assert.equal(await hear(socket), 'welcome')
    socket.send('grüße')
    assert.equal(await hear(socket), 'grüße')
    const bytes = randomBytes(5 * mib)
    socket.send(bytes)
    assert.equal(digestOf(Buffer.from((await hear(socket)) as ArrayBuffer)), digestOf(bytes))
    const heard: unknown[] = []
    socket.addEventListener('message', ({ data }) => heard.push(data))
    for (let i = 0; i < 1_000; i++) socket.send(String(i))
    await waitUntil('all came back', async () => heard.length === 1_000)
    assert.deepEqual(
      heard,
      Array.from({ length: 1_000 }, (_, i) => String(i)),
    )
    socket.close()
  })

  test('agree on a protocol, and end with the code and reason of whoever ends them', async () => {
    const socket = open('/?protocol=chat', 'chat')
    await hear(socket)
    assert.equal(socket.protocol, 'chat')
    socket.send('close')
    const [ended] = (await once(socket, 'close')) as [{ code: number; reason: string; wasClean: boolean }]
    assert.deepEqual([ended.code, ended.reason, ended.wasClean], [4321, 'as you wish', true])
    const other = open('/ours')
    await hear(other)
    other.close(3001, 'enough')
    await once(other, 'close')
    const val = await scene.alice.vals.getByName('alice', 'sockets')
    const run = await scene.findLastRun(val, ({ request }) => request?.path === '/ours')
    assert.deepEqual(
      run.logs.map(({ message }) => message),
      ['closed 3001 enough'],
    )
    assert.deepEqual([run.status, run.response?.status], ['succeeded', 101])
  })

  const upgrade = async (name: string, path: string, protocol: string) =>
    sendRaw(scene.port, [
      `GET ${path} HTTP/1.1\r\nhost: ${host(name)}\r\nconnection: upgrade${protocol === 'h2c' ? ', close' : ''}\r\nupgrade: ${protocol}\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    ])

  test('a val may decline one, with an answer of its own', async () => {
    const heard = await upgrade('sockets', '/declined', 'websocket')
    assert.match(heard, /^HTTP\/1\.1 401 Unauthorized\r\n/)
    assert.match(heard, /x-why: rude/)
    assert.match(heard, /\r\n\r\nnot for you$/)
  })

  test('a val that throws instead of agreeing is told of like any other', async () => {
    const heard = await upgrade('sockets', '/thrown', 'websocket')
    assert.match(heard, /^HTTP\/1\.1 500 /)
    assert.match(heard, /RangeError/)
    assert.match(await upgrade('there-is-none', '/', 'websocket'), /^HTTP\/1\.1 404 /)
  })

  test('nothing is said on the connection but whole answers, whatever a val pretends', async () => {
    const forged = `export default () => new Response("HTTP/1.1 200 OK\\r\\nset-cookie: a=b; Domain=localhost\\r\\n\\r\\nforged",
      { headers: { "valley-outcome": "threw" } })`
    await scene.save('forger', forged)
    const heard = await upgrade('forger', '/', 'websocket')
    assert.match(heard, /^HTTP\/1\.1 500 /)
    assert.doesNotMatch(heard, /forged|set-cookie/)
  })

  test('clients that leave what declined them cost a val nothing', async () => {
    await scene.save(
      'streams',
      'export default (r: Request) => r.headers.get("upgrade") ? new Response(new ReadableStream({ pull: (c) => new Promise((go) => setTimeout(() => { c.enqueue(new Uint8Array(10)); go() }, 5)) })) : new Response("here")',
    )
    await scene.call('streams')
    await Promise.all(
      Array.from({ length: 110 }, async () => {
        const socket = await connect(scene.port)
        socket.write(
          `GET / HTTP/1.1\r\nhost: ${host('streams')}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
        )
        await pause(200)
        socket.destroy()
      }),
    )
    assert.equal((await scene.call('streams')).text, 'here')
  })

  test('a worker that ends in the handshake is told of as what it is', async () => {
    const val = await scene.save('exiting', 'export default () => Deno.exit(1)')
    assert.match(await upgrade('exiting', '/', 'websocket'), /^HTTP\/1\.1 502 /)
    assert.equal((await scene.findLastRun(val)).error?.name, 'WorkerExited')
  })

  test('a client that offers another protocol gets an ordinary answer', async () => {
    const heard = await upgrade('sockets', '/', 'h2c')
    assert.match(heard, /^HTTP\/1\.1 200 OK/)
    assert.match(heard, /not a WebSocket/)
  })
})

/** Sends more than a request may have until it is told to stop. */
async function postTooMuch(headers: readonly string[], chunkHead: string): Promise<string> {
  const socket = await connect(scene.port)
  const heard: string[] = []
  socket.setEncoding('latin1').on('data', (chunk: string) => heard.push(chunk))
  socket.write(`POST / HTTP/1.1\r\nhost: ${host('counted')}\r\n${headers.join('\r\n')}\r\n\r\n`)
  const piece = Buffer.concat([
    Buffer.from(chunkHead),
    Buffer.alloc(mib, 'x'),
    Buffer.from(chunkHead ? '\r\n' : ''),
  ])
  const closed = new Promise((resolve) => socket.once('close', resolve))
  for (let sent = 0; sent < 66 && heard.length === 0 && !socket.destroyed; sent++) {
    if (!socket.write(piece)) await Promise.race([new Promise((go) => socket.once('drain', go)), closed])
  }
  await closed
  return heard.join('')
}

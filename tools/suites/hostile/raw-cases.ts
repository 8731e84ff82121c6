import fc from 'fast-check'
import type { Target } from './target.ts'

/** Bytes for a socket, and what to do once they are sent. */
export interface RawCase {
  readonly name: string
  readonly pieces: readonly string[]
  /** answer: wait for the server to close; end: say that nothing follows; destroy: be gone. */
  readonly after: 'answer' | 'end' | 'destroy'
}

type Cases = readonly (readonly [
  name: string,
  pieces: string | readonly string[],
  after?: RawCase['after'],
])[]

/** What no HTTP library lets through: written to the socket as it stands. */
export function rawCases(target: Target): fc.Arbitrary<RawCase> {
  const cases = [...requestLines, ...framing(target), ...bodies(target), ...bombs(target), ...hosts(target)]
  return fc.constantFrom(
    ...cases.map(([name, pieces, after = 'answer']): RawCase => ({ name, pieces: [pieces].flat(), after })),
  )
}

const close = 'Host: localhost\r\nConnection: close\r\n'

const requestLines: Cases = [
  ['HTTP/0.9', 'GET /\r\n\r\n', 'end'],
  ['HTTP/1.0', 'GET /healthz HTTP/1.0\r\n\r\n'],
  ['HTTP/3.7', `GET /healthz HTTP/3.7\r\n${close}\r\n`],
  ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'end'],
  ['TLS hello', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003', 'end'],
  ['NUL bytes', '\0'.repeat(100), 'end'],
  ['no target', `GET HTTP/1.1\r\n${close}\r\n`],
  ['two spaces', `GET  /healthz  HTTP/1.1\r\n${close}\r\n`],
  ['space in target', `GET /v1/me/vals x HTTP/1.1\r\n${close}\r\n`],
  ['raw bytes in target', `GET /v1/alias/\u00e9\u00ff\u0001 HTTP/1.1\r\n${close}\r\n`],
  ['NUL in target', `GET /v1/alias/a\0b HTTP/1.1\r\n${close}\r\n`],
  ['bare line feeds', `GET /healthz HTTP/1.1\nHost: localhost\nConnection: close\n\n`],
  ['empty lines first', `\r\n\r\n\r\nGET /healthz HTTP/1.1\r\n${close}\r\n`],
  ['CONNECT', `CONNECT 127.0.0.1:5432 HTTP/1.1\r\n${close}\r\n`],
  ['TRACE', `TRACE /healthz HTTP/1.1\r\n${close}\r\n`],
  ['unknown method', `BREW /healthz HTTP/1.1\r\n${close}\r\n`],
  ['lower-case method', `get /healthz HTTP/1.1\r\n${close}\r\n`],
  ['long method', `${'G'.repeat(10_000)} / HTTP/1.1\r\n${close}\r\n`],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${close}\r\n`],
  ['authority form', `GET localhost:80 HTTP/1.1\r\n${close}\r\n`],
  ['absolute form', `GET http://valley.invalid/healthz HTTP/1.1\r\n${close}\r\n`],
  ['absolute form with a password', `GET http://a:b@[::1]:99999/healthz HTTP/1.1\r\n${close}\r\n`],
  ['upgrade', `GET /healthz HTTP/1.1\r\n${close}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`, 'end'],
]

/** Two readings of where a body ends: the second request must never be taken for one of its own. */
function framing({ token }: Target): Cases {
  const smuggled =
    `PUT /v1/vals HTTP/1.1\r\n${close}Authorization: Bearer ${token}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 31\r\n\r\n{"name":"smuggled","code":"12"}'
  const head = 'POST /v1/search/vals HTTP/1.1\r\nHost: localhost\r\n'
  return [
    [
      'length and chunks',
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks and length',
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 400\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', `${head}Content-Length: 0\r\nContent-Length: 400\r\n\r\n${smuggled}`],
    ['length list', `${head}Content-Length: 0, 400\r\n\r\n${smuggled}`],
    ['negative length', `${head}Content-Length: -1\r\n\r\n${smuggled}`],
    ['signed length', `${head}Content-Length: +0\r\n\r\n${smuggled}`],
    ['huge length', `${head}Content-Length: 99999999999999999999\r\n\r\n`, 'end'],
    ['xchunked', `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunked, identity', `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['two codings', `${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${smuggled}`],
    ['space before the colon', `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['tab in the coding', `${head}Transfer-Encoding:\tchunked\u000b\r\n\r\n0\r\n\r\n${smuggled}`],
    ['folded coding', `${head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['bad chunk size', `${head}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 'end'],
    ['negative chunk', `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n`, 'end'],
    ['huge chunk', `${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n`, 'end'],
    ['chunk extension', `${head}Transfer-Encoding: chunked\r\n\r\n1;${'a'.repeat(20_000)}\r\n`, 'end'],
    [
      'trailers',
      `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    ],
    ['GET with a body', `GET /v1/me HTTP/1.1\r\n${close}Content-Length: 5\r\n\r\nhello`],
    ['line break in a value', `GET /healthz HTTP/1.1\r\n${close}X-A: b\rX-C: d\r\n\r\n`],
    ['NUL in a value', `GET /healthz HTTP/1.1\r\n${close}X-A: b\0c\r\n\r\n`],
  ]
}

function bodies({ token }: Target): Cases {
  const head = `POST /v1/vals HTTP/1.1\r\n${close}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`
  const half = '{"name":"never","code":"'
  return [
    ['length too long, then the end', `${head}Content-Length: 1000\r\n\r\n${half}`, 'end'],
    ['length too long, then gone', `${head}Content-Length: 1000\r\n\r\n${half}`, 'destroy'],
    ['length too short', `${head}Content-Length: 3\r\n\r\n${half}`],
    ['length of 5 MB, nothing sent', `${head}Content-Length: 5000000\r\n\r\n`],
    ['no body', `${head}\r\n`],
    ['chunks, then gone', `${head}Transfer-Encoding: chunked\r\n\r\n18\r\n${half}\r\n`, 'destroy'],
    ['chunks, then the end', `${head}Transfer-Encoding: chunked\r\n\r\n18\r\n${half}\r\n`, 'end'],
    ['one byte at a time', [`${head}Content-Length: 24\r\n\r\n`, ...half.split('')]],
    ['headers one byte at a time', `GET /healthz HTTP/1.1\r\n${close}\r\n`.split('')],
    ['expect, no body', `${head}Expect: 100-continue\r\nContent-Length: 24\r\n\r\n`, 'end'],
    ['expect something else', `${head}Expect: the-unexpected\r\nContent-Length: 24\r\n\r\n${half}`],
    ['headers, then gone', `${head}X-A: `, 'destroy'],
    ['gone at once', '', 'destroy'],
    ['end at once', '', 'end'],
  ]
}

function bombs({ token }: Target): Cases {
  const plain = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
  const last = `GET /healthz HTTP/1.1\r\n${close}\r\n`
  const me = `GET /v1/me HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
  return [
    ['1,900 headers', `${plain}${'A: b\r\n'.repeat(1_900)}Connection: close\r\n\r\n`],
    ['100,000 headers', `${plain}${'A: b\r\n'.repeat(100_000)}`, 'end'],
    ['header of 1 MB', `${plain}A: ${'b'.repeat(1_000_000)}`, 'end'],
    ['header name of 15 kB', `${plain}${'A'.repeat(15_000)}: b\r\nConnection: close\r\n\r\n`],
    ['target of 1 MB', `GET /${'a'.repeat(1_000_000)}`, 'end'],
    ['50 requests at once', `${me.repeat(50)}${last}`],
    ['50 faults at once', `${'GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(50)}${last}`],
    ['50 requests, then gone', me.repeat(50), 'destroy'],
    ['garbage after a request', `${me}\u0001\u0002\u0003garbage\r\n\r\n`],
  ]
}

function hosts({ token }: Target): Cases {
  const vals = (headers: string) =>
    `GET /v1/me/vals HTTP/1.1\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n`
  return [
    ['no host', vals('')],
    ['two hosts', vals('Host: a\r\nHost: b\r\n')],
    ['empty host', vals('Host:\r\n')],
    ['host with a path', vals('Host: a/b?c#d\r\n')],
    ['host with a password', vals('Host: a:b@c\r\n')],
    ['host with a bad port', vals('Host: a:99999\r\n')],
    ['host in brackets', vals('Host: [::1\r\n')],
    ['host of 10 kB', vals(`Host: ${'a'.repeat(10_000)}\r\n`)],
    ['host in latin', vals('Host: \u00e9\u00ff\r\n')],
    ['two tokens', vals(`Host: a\r\nAuthorization: Bearer vly_other\r\n`)],
    ['forwarded', vals('Host: a\r\nX-Forwarded-Host: "><script>\r\nX-Forwarded-Proto: javascript\r\n')],
    ['two lists of known ETags', vals('Host: a\r\nIf-None-Match: *\r\nIf-None-Match: "a"\r\n')],
    ['two keys', vals('Host: a\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\n')],
    ['two types', vals('Host: a\r\nContent-Type: a\r\nContent-Type: application/json\r\n')],
  ]
}

import fc from 'fast-check'
import { draftOf, type HostileRequest, operationNames, operationOf, render, type Target } from './target.ts'

type Requests = fc.Arbitrary<HostileRequest>

/** Every header that the server reads, or that some layer beneath it might. */
const names = [
  'if-match',
  'if-none-match',
  'idempotency-key',
  'authorization',
  'content-type',
  'content-encoding',
  'accept-encoding',
  'accept',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'forwarded',
  'x-http-method-override',
  'x-original-url',
  'host',
  'origin',
  'cookie',
  'range',
  'expect',
  'upgrade',
  'te',
  'if-modified-since',
  'access-control-request-method',
  'accept-language',
  '__proto__',
  'constructor',
] as const

const latin = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map((byte) => String.fromCharCode(byte)),
})

export function oddHeaders(target: Target): Requests {
  const value = fc.oneof(fc.constantFrom(...values), latin.map(printable))
  const given = fc.array(fc.tuple(fc.constantFrom(...names), value), { minLength: 1, maxLength: 3 })
  return fc.tuple(fc.constantFrom(...operationNames), given).map(([name, headers]) => {
    const draft = draftOf(target, name)
    return render('headers', { ...draft, headers: { ...draft.headers, ...Object.fromEntries(headers) } })
  })
}

export function badTokens(target: Target): Requests {
  const { token } = target
  const tampered = fc
    .nat({ max: token.length - 1 })
    .map((at) => `Bearer ${token.slice(0, at)}0${token.slice(at + 1)}`)
  const shaped = fc.constantFrom(
    'Bearer',
    'Bearer ',
    `bearer   ${token}  `,
    `Bearer ${token} ${token}`,
    `Bearer ${token},Bearer ${token}`,
    `Bearer "${token}"`,
    `Token ${token}`,
    `Basic ${Buffer.from(`alice:${token}`).toString('base64')}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token}${'A'.repeat(8_000)}`,
    `Bearer vly_${'A'.repeat(50)}`,
    "Bearer vly_' OR 1=1 --",
    '\u00ff\u00fe',
  )
  return fc
    .tuple(fc.constantFrom(...operationNames), fc.oneof(tampered, shaped))
    .map(([name, authorization]) => {
      const draft = draftOf(target, name)
      return render('tokens', { ...draft, headers: { ...draft.headers, authorization } })
    })
}

/** Every operation under every other method. */
export function oddMethods(target: Target): Requests {
  const methods = [
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'QUERY',
    'SEARCH',
  ]
  const override = fc.constantFrom('', 'DELETE', 'TRACE')
  return fc
    .tuple(fc.constantFrom(...operationNames), fc.constantFrom(...methods), override)
    .filter(([name, method]) => !declares(operationOf(name).path, method))
    .map(([name, method, other]) => {
      const draft = draftOf(target, name)
      const headers = { ...draft.headers, ...(other && { 'x-http-method-override': other }) }
      return { ...render('methods', { ...draft, headers }), operation: null, method }
    })
}

/** Whether the method would do something here: then it is not this family's. */
function declares(path: string, method: string): boolean {
  return operationNames.some((name) => operationOf(name).path === path && operationOf(name).method === method)
}

const values = [
  '',
  '*',
  '"1-1-0-0-alice"',
  'W/"1-1-0-0-alice"',
  '"9999999999-999999999999999-x"',
  '"'.repeat(4_000),
  '"a",'.repeat(3_000),
  '"1-1-",'.repeat(1_500),
  'x'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(12_000),
  "'; DROP TABLE idempotency_keys; --",
  'gzip;q=0, br;q=NaN, *;q=0',
  'gzip;q=1.0.0.0',
  'identity;q=0, *;q=0',
  ','.repeat(8_000),
  'bytes=0-,0-,0-,0-',
  'bytes=-1',
  '100-continue',
  '200-maybe',
  'websocket',
  'h2c',
  'trailers, deflate',
  '127.0.0.1, ::1, unknown, _hidden',
  'evil.example',
  'evil.example:99999',
  'localhost:0/../..',
  '[::1',
  'a b c',
  'javascript',
  'http, https',
  '\u00ff\u00fe\u00fd',
  '\t\t',
  '__proto__',
] as const

function printable(text: string): string {
  return text.replaceAll('\u007f', '')
}

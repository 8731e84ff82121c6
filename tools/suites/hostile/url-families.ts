import fc from 'fast-check'
import { percentEncode } from './encode.ts'
import { momentTexts, numberTexts, oddTexts, searchTexts, sqlTexts } from './payloads.ts'
import {
  draftOf,
  type HostileRequest,
  operationNames,
  paramsOf,
  queryKeysOf,
  render,
  type Target,
  withCursor,
  withParams,
  withQuery,
} from './target.ts'

type Requests = fc.Arbitrary<HostileRequest>

const anyText = fc.oneof(
  fc.constantFrom(...oddTexts, ...numberTexts, ...momentTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

export function oddParams(target: Target): Requests {
  const tampered = fc.tuple(fc.nat({ max: 35 }), fc.constantFrom('', 'g', '-', '%00', '/', 'F')).map(
    ([at, mark]) =>
      (id: string) =>
        id.slice(0, at) + mark + id.slice(at + 1),
  )
  const exchanged = anyText.map((text) => () => percentEncode(text))
  const trick = fc.constantFrom(...idTricks).map((text) => () => text)
  // An empty part, a dot or a slash makes it the path of another operation.
  return inParams(target, 'ids and versions', fc.oneof(tampered, exchanged, trick)).map((request) => ({
    ...request,
    operation: null,
  }))
}

export function sqlInParams(target: Target): Requests {
  const sql = fc.constantFrom(...sqlTexts).map((text) => (id: string) => percentEncode(id.slice(0, 8) + text))
  return inParams(target, 'SQL in paths', sql)
}

function inParams(target: Target, family: string, spoil: fc.Arbitrary<(id: string) => string>): Requests {
  return fc
    .constantFrom(...withParams)
    .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...paramsOf(name)), spoil))
    .map(([name, key, spoiled]) => {
      const draft = draftOf(target, name)
      return render(family, {
        ...draft,
        params: { ...draft.params, [key]: spoiled(draft.params[key] ?? '') },
      })
    })
}

export function oddQueries(target: Target): Requests {
  const form = fc.constantFrom('=', '[]=', '[0]=', '[__proto__]=', '%00=', '==', '')
  const pairs = fc.array(fc.tuple(form, anyText), { minLength: 1, maxLength: 4 })
  return fc
    .constantFrom(...withQuery)
    .chain((name) => {
      const key = fc.constantFrom(...queryKeysOf(name), '__proto__', 'constructor', 'prototype', '')
      return fc.tuple(fc.constant(name), key, pairs)
    })
    .map(([name, key, given]) => {
      const query = given.map(([sign, text]) => `${key}${sign}${percentEncode(text)}`).join('&')
      return render('query parameters', { ...draftOf(target, name), query: `?${query}&query=a` })
    })
}

export function sqlInQueries(target: Target): Requests {
  return fc
    .constantFrom(...withQuery)
    .chain((name) =>
      fc.tuple(fc.constant(name), fc.constantFrom(...queryKeysOf(name)), fc.constantFrom(...sqlTexts)),
    )
    .map(([name, key, text]) => {
      const query = `?${key}=${percentEncode(text)}${key === 'query' ? '' : '&query=a'}`
      return render('SQL in queries', { ...draftOf(target, name), query })
    })
}

export function searches(target: Target): Requests {
  const text = fc.oneof(
    fc.constantFrom(...searchTexts, ...oddTexts, ...sqlTexts),
    fc.string({ unit: 'binary' }),
  )
  return text.map((query) =>
    render('search', { ...draftOf(target, 'searchVals'), query: `?query=${percentEncode(query)}&limit=100` }),
  )
}

export function tamperedCursors(target: Target): Requests {
  const keys = [
    '9999999999',
    '2147483648',
    '-1',
    '0',
    '',
    'x',
    `1${'f'.repeat(8)}-ffff-ffff-ffff-${'f'.repeat(12)}`,
  ]
  const id = '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'
  const made = fc
    .tuple(
      fc.constantFrom('o:', 'n:', 'x:', ''),
      fc.constantFrom(...keys, id, `0${id}`, `1${id}`, `2${id}`, ...sqlTexts),
    )
    .map(([mark, key]) => Buffer.from(mark + key).toString('base64url'))
  const spoiled = fc
    .tuple(fc.constantFrom(...target.cursors), fc.nat({ max: 50 }), fc.constantFrom('', 'A', '=', '%00', '*'))
    .map(([cursor, at, mark]) => cursor.slice(0, at) + mark + cursor.slice(at + 1))
  const long = fc.constantFrom('A'.repeat(200), 'A'.repeat(201), 'A'.repeat(8_000))
  const cursor = fc.oneof(made, spoiled, long, fc.constantFrom(...target.cursors))
  return fc
    .tuple(fc.constantFrom(...withCursor), cursor)
    .map(([name, given]) =>
      render('cursors', { ...draftOf(target, name), query: `?query=a&cursor=${given}` }),
    )
}

export function oddPaths(target: Target): Requests {
  const shape = fc.constantFrom(...pathTricks)
  return fc.tuple(fc.constantFrom(...operationNames), shape).map(([name, trick]) => {
    const request = render('path tricks', draftOf(target, name))
    return { ...request, operation: null, path: trick(request.path) }
  })
}

const idTricks = [
  '..',
  '.',
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fhealthz',
  '..%5c..%5c',
  '%252e%252e',
  '%c0%ae%c0%ae',
  '%00',
  '%ff',
  '%E0%A4%A',
  '%',
  '%2F',
  ';a=b',
  '*',
  '{val_id}',
  ':val_id',
  'x'.repeat(3_000),
  '%61'.repeat(1_000),
] as const

const pathTricks: readonly ((path: string) => string)[] = [
  (path) => `/${path}`,
  (path) => path.replaceAll('/', '//'),
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}/..`,
  (path) => `/x/..${path}`,
  (path) => `/x/%2e%2e${path}`,
  (path) => path.replace('/v1', '/V1'),
  (path) => path.replace('/v1', '/v1/.'),
  (path) => path.replaceAll('/', '%2f'),
  (path) => path.replaceAll('/', String.raw`\ `.trim()),
  (path) => `${path}%00`,
  (path) => `${path}%00.json`,
  (path) => `${path}.json`,
  (path) => `${path};jsessionid=1`,
  (path) => `${path}?`,
  (path) => `${path}???&&&===`,
  (path) => `${path}#fragment`,
  (path) => `${path}${'/x'.repeat(2_000)}`,
  (path) => `${path}?${'a=1&'.repeat(2_000)}`,
  (path) => `${path}?${'x'.repeat(14_000)}`,
  (path) => `${path}?${'x'.repeat(60_000)}`,
  (path) => `http://valley.invalid${path}`,
  (path) => `http://[::1${path}`,
  (path) => `https://user:password@valley.invalid:99999${path}`,
  (path) => `//valley.invalid${path}`,
  (path) => `/docs/..%2f..%2fpackage.json${path}`,
  (path) => `/docs${path}`,
  () => '*',
  () => 'javascript:alert(1)',
  (path) => path.replace(/[a-z]/, (char) => `%${char.charCodeAt(0).toString(16)}`),
]

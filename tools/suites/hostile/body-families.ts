import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { limits } from '@valley/contract/limits.ts'
import { carelessBytes } from './encode.ts'
import { brokenJson, jsonValues, momentTexts, numberTexts, oddTexts, sqlTexts } from './payloads.ts'
import {
  bodyKeysOf,
  bytesOf,
  draftOf,
  type HostileRequest,
  operationOf,
  render,
  type Target,
  withBody,
} from './target.ts'

type Requests = fc.Arbitrary<HostileRequest>

const bodyOperation = fc.constantFrom(...withBody)

export function brokenBodies(target: Target): Requests {
  const cut = fc.record({
    at: fc.nat({ max: 60 }),
    with: fc.constantFrom('', '\0', '"', '}', '[', '\\', '\u00ff'),
  })
  return fc.tuple(bodyOperation, fc.oneof(fc.constantFrom(...brokenJson), cut)).map(([name, how]) => {
    const draft = draftOf(target, name)
    const text = typeof how === 'string' ? how : String(bytesOf(draft.body)).slice(0, how.at) + how.with
    return render('broken and deep JSON', { ...draft, body: Buffer.from(text) })
  })
}

export function wrongTypes(target: Target): Requests {
  const odd = fc.constantFrom(...jsonValues, ...numberTexts.map((text) => JSON.stringify(text)))
  return bodyOperation
    .chain((name) =>
      fc.tuple(fc.constant(name), fc.constantFrom(...bodyKeysOf(name), '__proto__', 'unknown'), odd),
    )
    .map(([name, key, value]) => {
      const draft = draftOf(target, name)
      return render('wrong types', { ...draft, body: withField(name, key, Buffer.from(value)) })
    })
}

/** Half of them escaped as JSON does it, half as raw bytes. */
export function hardTexts(target: Target): Requests {
  const text = fc.oneof(
    fc.constantFrom(...oddTexts, ...momentTexts),
    fc.string({ unit: 'binary', maxLength: 60 }),
  )
  return textsInFields(target, { family: 'NUL, surrogates, odd text', text })
}

export function sqlInFields(target: Target): Requests {
  return textsInFields(target, { family: 'SQL in fields', text: fc.constantFrom(...sqlTexts) })
}

function textsInFields(
  target: Target,
  { family, text }: { family: string; text: fc.Arbitrary<string> },
): Requests {
  return bodyOperation
    .chain((name) => fc.tuple(fc.constant(name), fc.constantFrom(...bodyKeysOf(name)), text, fc.boolean()))
    .map(([name, key, value, isEscaped]) => {
      const bytes = isEscaped ? Buffer.from(JSON.stringify(value)) : rawString(value)
      return render(family, { ...draftOf(target, name), body: withField(name, key, bytes) })
    })
}

/** Just under, at and far beyond every bound. */
export function oversized(target: Target): Requests {
  const { codeCharsMax, readmeCharsMax, commentCharsMax, bioCharsMax, bodyBytesMax } = limits
  const bounds = [48, 64, bioCharsMax, commentCharsMax, readmeCharsMax, codeCharsMax, bodyBytesMax]
  const around = fc.constantFrom(...bounds.flatMap((bound) => [bound, bound + 1]))
  // Large, but small enough for the body to be taken in whole: were bodies kept, the memory would tell.
  const large = fc.constantFrom(1_000_000, 2_000_000, 4_000_000, 6_000_000)
  const length = fc.oneof(around, large)
  const letter = fc.constantFrom('x', 'a b', '\u20ac', '\u{1f600}', String.raw`\u0041`)
  return bodyOperation
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.constantFrom(...bodyKeysOf(name), 'unknown'),
        length,
        letter,
        fc.boolean(),
      ),
    )
    .map(([name, key, chars, unit, isChunked]) => {
      const value = () => Buffer.from(`"${unit.repeat(Math.floor(chars / unit.length))}"`)
      const body = () => withField(name, key, value())
      return { ...render('oversized bodies', { ...draftOf(target, name), body }), isChunked }
    })
}

/** Many small mistakes in one body: the answer must not grow with them. */
export function manyMistakes(target: Target): Requests {
  const count = fc.constantFrom(7, 1_000, 100_000, 1_000_000)
  return fc
    .tuple(bodyOperation, count, fc.constantFrom('0', '""', '{}', '[]', 'null'))
    .map(([name, items, item]) => {
      const key = bodyKeysOf(name).includes('scopes') ? 'scopes' : 'privacy'
      const fits = Math.min(items, Math.floor(4_000_000 / (item.length + 1)))
      const value = () => Buffer.from(`[${`${item},`.repeat(fits - 1)}${item}]`)
      const body = () => withField(name, key, value())
      return render('many mistakes', { ...draftOf(target, name), body })
    })
}

export function encodings(target: Target): Requests {
  const encode = fc.constantFrom(...Object.values(encoders))
  const contentType = fc.constantFrom(...contentTypes)
  const contentEncoding = fc.constantFrom(
    '',
    '',
    'gzip',
    'br',
    'deflate',
    'identity',
    'gzip, gzip',
    'utf-8',
    '*',
  )
  return fc
    .tuple(bodyOperation, encode, contentType, contentEncoding)
    .map(([name, encoder, type, encoding]) => {
      const draft = draftOf(target, name)
      const { 'content-type': _, ...headers } = draft.headers
      return render('odd encodings', {
        ...draft,
        headers: {
          ...headers,
          ...(type !== '' && { 'content-type': type }),
          ...(encoding !== '' && { 'content-encoding': encoding }),
        },
        body: encoder(bytesOf(draft.body) ?? Buffer.alloc(0)),
      })
    })
}

const encoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  plain: (body) => body,
  utf16: (body) => Buffer.from(body.toString(), 'utf16le'),
  utf16BigEndian: (body) => Buffer.from(body.toString(), 'utf16le').swap16(),
  latin1: (body) => Buffer.concat([body.subarray(0, -2), Buffer.from('\u00e9\u00ff"}', 'latin1')]),
  brokenUtf8: (body) => Buffer.concat([body, Buffer.from([0xc0, 0x80, 0xf5, 0x80, 0xed, 0xa0, 0x80, 0xff])]),
  byteOrderMark: (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
  twoMarks: (body) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf]), body]),
  gzip: (body) => gzipSync(body),
  brotli: (body) => brotliCompressSync(body),
  deflate: (body) => deflateSync(body),
  bomb: () => bomb,
  nothing: () => Buffer.alloc(0),
}

const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024))

const contentTypes = [
  'application/json',
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/json; charset="utf-8"; charset=latin1',
  'application/json;;;;',
  'application/json, text/plain',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/plain; charset=iso-8859-1',
  'text/javascript',
  'application/typescript',
  'application/octet-stream',
  'application/cbor',
  '*/*',
  '/',
  'x'.repeat(4_000),
  '',
] as const

/** The example's body with one field exchanged; the value is spliced in as bytes, valid or not. */
function withField(name: Parameters<typeof operationOf>[0], key: string, value: Buffer): Buffer {
  const { [key as never]: _, ...others } = (operationOf(name).exampleBody ?? {}) as Record<string, unknown>
  const start = JSON.stringify(others).slice(0, -1)
  return Buffer.concat([
    Buffer.from(`${start}${start === '{' ? '' : ','}${JSON.stringify(key)}:`),
    value,
    Buffer.from('}'),
  ])
}

function rawString(text: string): Buffer {
  return Buffer.concat([Buffer.from('"'), carelessBytes(text.replaceAll('"', '')), Buffer.from('"')])
}

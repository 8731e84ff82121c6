import type { Attack, Outcome } from './attack.ts'

const family = 'answers'
const refused: Outcome = { answer: 502, run: 'failed', error: 'AnswerRefused' }
const threw: Outcome = { answer: 500, run: 'failed' }
const fine: Outcome = { answer: 200, run: 'succeeded' }

const answers: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'headers without end': [
    "return new Response('', { headers: Array.from({ length: 10_000 }, (_, i) => ['x-' + i, 'y'.repeat(50)]) })",
    { ...refused, says: /headers may have/ },
  ],
  'one huge header': [
    "return new Response('', { headers: { x: 'y'.repeat(1 << 20) } })",
    { ...refused, says: /headers may have/ },
  ],
  'a header with a line break': [
    String.raw`return new Response('', { headers: { x: 'a\r\nset-cookie: stolen=1' } })`,
    { ...threw, error: 'TypeError', hides: /^set-cookie/im },
  ],
  'a header past the check': [
    String.raw`
      const response = new Response('hello')
      const original = Headers.prototype.append
      try { response.headers.append('x', 'a\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen') } catch (error) { console.warn('refused: ' + error) }
      return response`,
    { ...fine, says: /refused/, hides: /stolen/ },
  ],
  'a header named after the language': [
    "return new Response('ok', { headers: { constructor: 'x', __proto__: 'y', ['__proto__']: 'z', prototype: 'p', hasOwnProperty: 'q' } })",
    fine,
  ],
  'a status below 200': [
    'return new Response(null, { status: 101 })',
    { answer: 502, run: 'failed', error: 'AnswerBrokeOff' },
  ],
  'a status out of range': ['return new Response(null, { status: 999 })', { ...threw, error: 'RangeError' }],
  'an error as its answer': [
    'return Response.error()',
    { ...threw, error: 'TypeError', says: /Response\.error/ },
  ],
  'an answer that was used': [
    "const used = new Response('x'); await used.text(); return used",
    { ...threw, error: 'TypeError', says: /read or sent before/ },
  ],
  'no answer at all': ['return undefined', { ...threw, error: 'TypeError', says: /must return a Response/ }],
  'something like an answer': [
    "return { status: 200, headers: new Headers(), body: 'x', then: undefined, __proto__: Response.prototype }",
    { ...threw, error: 'TypeError', says: /must return a Response/ },
  ],
  'an answer that claims to be thrown': [
    "return new Response('mine', { status: 500, headers: { 'valley-outcome': 'threw' } })",
    { ...threw, error: 'Error' },
  ],
  "another run's id": [
    "return new Response('x', { headers: { 'valley-run': '00000000-0000-7000-8000-000000000000' } })",
    { ...fine, hides: /00000000-0000-7000-8000-000000000000/ },
  ],
  'a cookie for everyone': [
    `return new Response('x', { headers: [['set-cookie', 'a=1; Domain=localhost'], ['set-cookie', 'b=2; path=/; DOMAIN = .localhost ; Secure'], ['set-cookie', 'c=3;domain=']] })`,
    { ...fine, shows: /a=1/, hides: /domain/i },
  ],
  'an answer with two lengths': [
    "return new Response('longer than five', { headers: { 'content-length': '5', 'transfer-encoding': 'chunked' } })",
    fine,
  ],
}

const streams: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'a stream that errors': [
    "return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(10)) }, pull(c) { c.error(new Error('enough')) } }))",
    { answer: 'broken', run: 'failed', error: 'AnswerBrokeOff' },
  ],
  'an answer larger than anyone needs': [
    'const chunk = new Uint8Array(4 << 20); return new Response(new ReadableStream({ pull(c) { c.enqueue(chunk) } }))',
    {
      answer: 'broken',
      run: 'failed',
      error: 'AnswerRefused',
      says: /bytes at the most/,
      answerBytesMax: 1025 << 20,
    },
  ],
}

/** What follows an answer on its connection must be the next answer, whoever gives it. */
const wrongLengths: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'an answer shorter than it says': [
    "new Response('short', { headers: { 'content-length': '1000' } })",
    fine,
  ],
  'an answer longer than it says': [
    String.raw`new Response(new ReadableStream({
      start(c) {
        c.enqueue(new TextEncoder().encode('abcHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nstolen'))
        c.close()
      },
    }), { headers: { 'content-length': '3' } })`,
    { answer: 'broken', run: 'failed', error: 'AnswerBrokeOff', hides: /stolen/ },
  ],
  'an answer that may have no body': [
    "new Response(null, { status: 204, headers: { 'content-length': '20' } })",
    { answer: 204, run: 'succeeded' },
  ],
}

export const answerAttacks: readonly Attack[] = [
  ...Object.entries({ ...answers, ...streams }).map(([name, [code, must]]) => ({
    family,
    name,
    code: `export default async () => { ${code} }`,
    must,
  })),
  {
    family,
    name: 'an answer without end, until its client leaves',
    code: `export default () => new Response(new ReadableStream({ async pull(c) { await new Promise((go) => setTimeout(go, 5)); c.enqueue(new Uint8Array(1024)) } }))`,
    request: { leavesAfterMs: 1_500 },
    must: { answer: 'left', run: 'succeeded' },
  },
  ...Object.entries(wrongLengths).map(([name, [code, must]]): Attack => ({
    family: 'answer splitting',
    name,
    code: `export default () => ${code}`,
    request: { thenNeighbour: true },
    must,
  })),
]

const echo =
  'export default async (request: Request) => new Response(String((await request.arrayBuffer()).byteLength))'
const deaf = "export default () => new Response('I do not listen')"

export const bodyAttacks: readonly Attack[] = [
  {
    family: 'bodies',
    name: 'a body that is too large',
    code: echo,
    request: { method: 'POST', bodyBytes: 80 << 20 },
    must: { answer: 413, run: 'failed', error: 'BodyTooLarge' },
  },
  {
    family: 'bodies',
    name: 'a large body that the val does not read',
    code: deaf,
    request: { method: 'POST', bodyBytes: 80 << 20 },
    // Whoever goes on sending when the answer came may miss it.
    must: { answer: 200, run: 'succeeded', orElse: { answer: 'broken', run: 'succeeded' } },
  },
  {
    family: 'bodies',
    name: 'a body that stops, in front of a val that waits for it',
    code: echo,
    request: { method: 'POST', bodyBytes: 1 << 20, stallsAfterBytes: 1_000 },
    must: { answer: 504, run: 'timed_out', error: 'TimedOut' },
    patient: true,
  },
  {
    family: 'bodies',
    name: 'a body that stops, until its client leaves',
    code: echo,
    request: { method: 'POST', bodyBytes: 1 << 20, stallsAfterBytes: 1_000, leavesAfterMs: 1_000 },
    must: { answer: 'left', run: 'canceled', error: 'ClientLeft' },
  },
]

interface Returned {
  /** An expression. */
  readonly code: string
  /** What JSON keeps of it. */
  readonly value?: unknown
  /** Looking whether it can be called fails already, or it can be: then it is no value of a plain script. */
  readonly isCalled?: true
  /** What is shown instead, where JSON cannot hold it or it is too long. */
  readonly text?: RegExp
}

/** Values of all kinds, each as a val would write it, and what is kept of it. */
export const returnedValues: Readonly<Record<string, Returned>> = {
  nothing: { code: 'undefined', value: null },
  null: { code: 'null', value: null },
  'nested objects': {
    code: '{ a: [1, { b: null, c: "d" }], e: true }',
    value: { a: [1, { b: null, c: 'd' }], e: true },
  },
  'an empty object': { code: '{}', value: {} },
  'an instance of a class': { code: 'new (class Point { x = 1; y = 2 })()', value: { x: 1, y: 2 } },
  'a date': { code: 'new Date(0)', value: '1970-01-01T00:00:00.000Z' },
  'a map': { code: 'new Map([["key", 1]])', text: /^Map\(1\) \{ "key" => 1 \}$/ },
  'a big integer': { code: '12345678901234567890n', text: /^12345678901234567890n$/ },
  'an object that contains itself': {
    code: '(() => { const it: Record<string, unknown> = { name: "it" }; it.self = it; return it })()',
    text: /name: "it".*Circular/s,
  },
  'a function': { code: '(function named() {})', text: /^\[Function: named\]$/, isCalled: true },
  'a symbol': { code: 'Symbol("mark")', text: /^Symbol\((?:"mark"|mark)\)$/ },
  'a response': { code: 'new Response("body", { status: 201 })', text: /Response.*201/s },
  'an error': { code: 'new RangeError("returned, not thrown")', text: /RangeError: returned, not thrown/ },
  'a promise of a promise': { code: 'Promise.resolve(Promise.resolve("there"))', value: 'there' },
  'a text of a mebibyte': { code: '"x".repeat(1024 * 1024)', text: /^"x{60000}/ },
  'an array of a million': { code: 'Array(1e6).fill(1)', text: /^\[1,1,1/ },
  'a toJSON that throws': { code: '{ toJSON() { throw new Error("no") }, shown: 1 }', text: /shown: 1/ },
  'a toJSON that gives something else': { code: '{ toJSON: () => ["else"] }', value: ['else'] },
  'very large and very small numbers': {
    code: '[1e308, -1e308, 5e-324, 2 ** 53, 1 / 3, -0]',
    value: [1e308, -1e308, 5e-324, 2 ** 53, 1 / 3, 0],
  },
  'numbers that JSON does not know': { code: '[NaN, Infinity, -Infinity]', value: [null, null, null] },
  'NUL and halves of characters': {
    code: String.raw`{ "nul \0": "half \ud83d and \udc00 whole \u{1f600}" }`,
    value: { 'nul \ufffd': 'half \ufffd and \ufffd whole \u{1f600}' },
  },
  'what is nested deeply': {
    code: '(() => { let deep: unknown[] = []; for (let i = 0; i < 200; i++) deep = [deep]; return deep })()',
    text: /^\[{201}\]{201}$/,
  },
  'what is nested very deeply': {
    code: '(() => { let deep: unknown[] = []; for (let i = 0; i < 100_000; i++) deep = [deep]; return deep })()',
    text: /\[/,
  },
  'a proxy that throws at every touch': {
    code: `(() => {
      const no = () => { throw new Error("hands off") }
      return new Proxy({}, { ownKeys: no, getPrototypeOf: no, has: no, getOwnPropertyDescriptor: no,
        get: (_, name) => name === "then" ? undefined : no() })
    })()`,
    text: /./s,
    isCalled: true,
  },
}

import type { Attack, Outcome } from './attack.ts'

const family = 'tampering'
const heard: Outcome = { answer: 200, run: 'succeeded', says: /still heard/, shows: /still answered/ }
/** What it broke, it broke for itself, and its run says where. */
const ownError = (message: RegExp): Outcome => ({ answer: 500, run: 'failed', error: 'Error', says: message })
const unheard: Outcome = { answer: 200, run: 'succeeded', shows: /still answered/ }
/** The nonsense that its worker's line then carries may be read before its answer, or after. */
const eitherEnd: Outcome = {
  ...unheard,
  orElse: { answer: 502, run: 'failed', error: 'WorkerKilled', says: /disturbed/ },
}
const ownHarm = (must: Partial<Outcome>): Outcome => ({
  answer: 502,
  run: 'failed',
  error: 'WorkerKilled',
  ...must,
})

/** Done before the first answer; the val must be heard and answered nonetheless, or be the only one that is not. */
const tampering: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'JSON.stringify and parse': [
    "JSON.stringify = () => '{}'; JSON.parse = () => ({ kind: 'ping', number: 1e9 })",
    heard,
  ],
  'Promise.prototype.then': [
    'const then = Promise.prototype.then; Promise.prototype.then = function (...args) { return then.apply(this, [() => { throw 1 }, ...args.slice(1)]) }',
    { answer: 500, run: 'succeeded' },
  ],
  'Promise.prototype.constructor': [
    "Object.defineProperty(Promise.prototype, 'constructor', { get() { return Object } })",
    heard,
  ],
  'Array.prototype': [
    'for (const name of ["push", "pop", "shift", "slice", "map", "join", "values"]) (Array.prototype as any)[name] = () => { throw new Error(name) }',
    ownError(/join|slice|map/),
  ],
  'String.prototype': [
    'for (const name of ["split", "slice", "replace", "startsWith"]) (String.prototype as any)[name] = () => { throw new Error(name) }',
    ownError(/replace|slice/),
  ],
  'Map and Set': [
    'for (const kind of [Map, Set, WeakMap]) for (const name of ["get", "set", "has", "add", "delete"]) (kind.prototype as any)[name] = () => { throw new Error(name) }',
    heard,
  ],
  'TextEncoder and TextDecoder': [
    'TextEncoder.prototype.encode = () => new Uint8Array(1 << 20); TextDecoder.prototype.decode = () => "x\\n"',
    heard,
  ],
  'Uint8Array.prototype.subarray': [
    'Uint8Array.prototype.subarray = function () { return new Uint8Array(0) }',
    heard,
  ],
  'Function.prototype': [
    'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("no") }',
    unheard,
  ],
  'Symbol.iterator': [
    '(Array.prototype as any)[Symbol.iterator] = () => { throw new Error("no") }',
    ownError(/no/),
  ],
  'setters on Object.prototype': [
    `for (const name of ['kind', 'runId', 'message', 'error', 'headers', 'status', 'fetch', 'number', 'level'])
       Object.defineProperty(Object.prototype, name, { set() { throw new Error(name) }, get() { return 'attacked' }, configurable: true })`,
    heard,
  ],
  'toJSON on prototypes': [
    "(Object.prototype as any).toJSON = (String.prototype as any).toJSON = () => 'attacked'",
    eitherEnd,
  ],
  'Response and Request': [
    '(globalThis as any).Response = class {}; (globalThis as any).Request = null; Headers.prototype.get = () => "attacked"',
    heard,
  ],
  'console and inspect': ["(Deno as any).inspect = () => { throw new Error('no') }", heard],
  AsyncLocalStorage: [
    "const { AsyncLocalStorage } = await import('node:async_hooks'); AsyncLocalStorage.prototype.run = AsyncLocalStorage.prototype.getStore = () => { throw new Error('no') }; AsyncLocalStorage.prototype.enterWith = () => {}",
    heard,
  ],
  'events and timers': [
    "globalThis.addEventListener = () => {}; globalThis.dispatchEvent(new ErrorEvent('error', { error: 1 })); (globalThis as any).setTimeout = (globalThis as any).queueMicrotask = null",
    heard,
  ],
  'everything global': [
    "for (const name of Object.getOwnPropertyNames(globalThis)) if (!['console', 'Response', 'globalThis'].includes(name)) try { delete (globalThis as any)[name] } catch {}",
    heard,
  ],
  'hides its errors': [
    "globalThis.addEventListener('error', (event) => event.stopImmediatePropagation(), true); Error.prototype.toString = () => { throw 1 }; Error.captureStackTrace = null as never; Error.prepareStackTrace = () => { throw 1 }",
    heard,
  ],
}

/**
 * The bootstrap asks for what is left of a write by `subarray`: where nothing is, the val puts its own bytes there.
 */
const forge = (lines: string, times = '1') => `
  const NativeResponse = Response
  const bytes = new TextEncoder().encode(${lines})
  const original = Uint8Array.prototype.subarray
  let left = 0
  Uint8Array.prototype.subarray = function (...args) {
    const rest = original.apply(this, args)
    return rest.length === 0 && left-- > 0 ? bytes : rest
  }
  export default async () => {
    // Not before: what it forges while it is loaded is about its own loading.
    left = ${times}
    console.log('go')
    await new Promise((go) => setTimeout(go, 2_000))
    return new NativeResponse('answered')
  }`

const forged: readonly Attack[] = [
  {
    family: 'control line',
    name: 'nonsense on the control line',
    code: forge("'this is no message\\n'"),
    must: ownHarm({ says: /disturbed the program/ }),
  },
  {
    family: 'control line',
    name: 'a line without end',
    code: forge("'x'.repeat(1 << 20)", '100'),
    must: ownHarm({ says: /disturbed the program/ }),
  },
  {
    family: 'control line',
    name: "says that another's run failed",
    code: forge(
      `JSON.stringify({ kind: 'threw', runId: '00000000-0000-7000-8000-000000000000', error: { name: 'Forged', message: 'x' } }) + '\\n'`,
      '1000',
    ),
    must: { answer: 200, run: 'succeeded', shows: /answered/ },
  },
  {
    family: 'control line',
    name: 'prints without end past its bound',
    code: forge(
      `(JSON.stringify({ kind: 'log', runId: null, level: 'info', message: 'x'.repeat(100) }) + '\\n').repeat(400)`,
      '1e9',
    ),
    must: { answer: 200, run: 'succeeded', says: /Cut here/ },
  },
  {
    family: 'control line',
    name: 'lines that nobody asked for are kept by nobody',
    code: forge(
      `JSON.stringify({ kind: 'log', runId: 'nobody', level: 'info', message: 'x'.repeat(200_000) }) + '\\n'`,
      '2000',
    ),
    must: { answer: 200, run: 'succeeded' },
  },
  {
    family: 'control line',
    name: 'errors that are slow to read',
    code: forge(
      `JSON.stringify({ kind: 'threw', runId: 'nobody', error: { name: 'x', message: 'x', stack: ' at ' + 'file:///'.repeat(30_000) } }) + '\\n'`,
      '20',
    ),
    must: { answer: 200, run: 'succeeded' },
  },
  {
    family: 'control line',
    name: 'answers pings that never came',
    code: forge(
      `(JSON.stringify({ kind: 'pong', number: 1e9 }) + '\\n' + JSON.stringify({ kind: 'loaded', handles: { fetch: false, call: false, scheduled: false } }) + '\\n' + JSON.stringify({ kind: 'ready' }) + '\\n').repeat(100)`,
      '100',
    ),
    must: { answer: 200, run: 'succeeded' },
    twice: true,
  },
]

export const tamperingAttacks: readonly Attack[] = [
  ...Object.entries(tampering).map(([name, [code, must]]): Attack => ({
    family,
    name,
    code: `
      const NativeResponse = Response
      let isDone = false
      export default async () => {
        if (!isDone) { isDone = true; ${code} }
        console.log('still heard')
        return new NativeResponse('still answered')
      }`,
    must,
    twice: true,
  })),
  ...forged,
]

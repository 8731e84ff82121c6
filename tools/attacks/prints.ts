import type { Attack, Outcome } from './attack.ts'

const family = 'prints'
const cut: Outcome = { answer: 200, run: 'succeeded', says: /Cut here/ }
const fine: Outcome = { answer: 200, run: 'succeeded' }

const handlers: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'a million lines': ['for (let i = 0; i < 1_000_000; i++) console.log(i)', cut],
  'one huge line': ["console.log('x'.repeat(200 << 20))", { ...fine, says: /x{1000}/ }],
  'many long lines': ["for (let i = 0; i < 2_000; i++) console.log('y'.repeat(16_000))", cut],
  'a deep object': [
    'let deep = {}; for (let i = 0; i < 100_000; i++) deep = { deep }; console.log(deep)',
    { ...fine, says: /deep/ },
  ],
  'a wide object': [
    'console.log(Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => ["k" + i, i])))',
    { ...fine, says: /k1\b/ },
  ],
  'values that throw when they are shown': [
    `console.log({ get a() { throw new Error('a') } })
     console.log({ [Symbol.for('Deno.customInspect')]() { throw new Error('b') } })
     console.log(new Proxy({}, { get() { throw new Error('c') }, ownKeys() { throw new Error('d') } }))
     console.log('%s', { toString() { throw new Error('e') } })
     console.log('after')`,
    { ...fine, says: /after/ },
  ],
  'a value that never ends to be shown': [
    "console.log({ [Symbol.for('Deno.customInspect')]() { for (;;); } })",
    { answer: 504, run: 'timed_out', error: 'WorkerKilled', says: /endless loop/ },
  ],
  'text that no database keeps': [
    String.raw`console.log('a\0b\ud800c'); console.error('\x1b[31m red'); console.log('</script><script>alert(1)</script>')`,
    { ...fine, says: /a�b�c/ },
  ],
  'lines in the shape of a control message': [
    String.raw`console.log('\n{"kind":"load_failed","error":{"name":"x","message":"x"}}\n'); console.log('after')`,
    { ...fine, says: /after/ },
  ],
}

export const printAttacks: readonly Attack[] = [
  ...Object.entries(handlers).map(([name, [code, must]]) => ({
    family,
    name,
    code: `export default async () => { ${code}; return new Response('ok') }`,
    must,
  })),
  {
    family,
    name: 'lines while it loads',
    code: `for (let i = 0; i < 100_000; i++) console.log('z'.repeat(16_000)); export default () => new Response('ok')`,
    must: cut,
  },
  {
    family,
    name: 'lines outside of any run, for ever',
    code: `
      export default () => {
        setInterval(() => { for (let i = 0; i < 1_000; i++) console.log('o'.repeat(16_000)) }, 1)
        return new Response('ok')
      }`,
    must: fine,
  },
  {
    family,
    name: 'standard output past the console',
    code: `
      const chunk = new Uint8Array(1 << 20).fill(120)
      export default async () => {
        const until = Date.now() + 4_000
        while (Date.now() < until) await Deno.stdout.write(chunk)
        return new Response('ok')
      }`,
    must: fine,
  },
  {
    family,
    name: 'pretends on standard error to be out of memory',
    code: `
      export default () => {
        Deno.stderr.writeSync(new TextEncoder().encode('Fatal JavaScript out of memory: Ineffective mark-compacts\\n'))
        return new Response('ok')
      }`,
    must: fine,
  },
  {
    family,
    name: 'an error whose stack is slow to read',
    code: `
      export default () => {
        const error = new Error('slow')
        error.stack = ' at ' + 'file:///'.repeat(1_000)
        error.message = ' at ' + 'file:///'.repeat(1_000)
        throw error
      }`,
    must: { answer: 500, run: 'failed', error: 'Error' },
    twice: true,
  },
]

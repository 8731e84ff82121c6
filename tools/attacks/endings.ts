import type { Attack, Outcome } from './attack.ts'

const family = 'endings'
const exited: Outcome = { answer: 502, run: 'failed', error: 'WorkerExited' }
const answered: Outcome = { answer: 200, run: 'succeeded' }

const endings: Readonly<Record<string, readonly [code: string, must: Outcome]>> = {
  'Deno.exit': ['Deno.exit(0)', exited],
  'process.exit': ['process.exit(1)', exited],
  'process.abort': ['process.abort()', exited],
  'process.reallyExit': ['(process as any).reallyExit(0)', exited],
  'exit in a while': ['setTimeout(() => Deno.exit(3), 50); await new Promise(() => {})', exited],
  'an error in a timer': [
    "setTimeout(() => { throw new Error('in a timer') }); await new Promise((go) => setTimeout(go, 50))",
    { ...answered, says: /in a timer/ },
  ],
  'a rejection nobody handles': [
    "Promise.reject(new Error('unhandled')); await new Promise((go) => setTimeout(go, 50))",
    { ...answered, says: /unhandled/ },
  ],
  'an error that is no error': ['throw null', { answer: 500, run: 'failed', error: 'Thrown' }],
  'an error that cannot be read': [
    "throw new Proxy(new Error('x'), { get() { throw new Error('no') } })",
    { answer: 500, run: 'failed', error: 'Thrown' },
  ],
  'an error with a huge name': [
    "const error = new Error('m'.repeat(1e6)); error.name = 'n'.repeat(1e6); throw error",
    { answer: 500, run: 'failed', answerBytesMax: 64 << 10 },
  ],
  'an error that recurses': [
    "class Endless extends Error { get cause() { return new Endless('x') } }; throw new Endless('recursive')",
    { answer: 500, run: 'failed', says: /recursive/ },
  ],
  'recursion without end': [
    'const down = (): number => 1 + down(); down()',
    { answer: 500, run: 'failed', error: 'RangeError' },
  ],
  'throws markup': [
    "throw new Error('<script>alert(1)</script>')",
    { answer: 500, run: 'failed', error: 'Error', shows: /&lt;script&gt;/, hides: /<script>/ },
  ],
}

export const endingAttacks: readonly Attack[] = [
  ...Object.entries(endings).map(([name, [code, must]]) => ({
    family,
    name,
    code: `export default async () => { ${code}; return new Response('ok') }`,
    request: { headers: { accept: 'text/html' } },
    must,
  })),
  { family, name: 'exit while it loads', code: 'Deno.exit(0)', must: exited },
  {
    family,
    name: 'throws while it loads',
    code: "throw new Error('at import')",
    must: { answer: 500, run: 'failed', error: 'Error', says: /at import/ },
  },
]

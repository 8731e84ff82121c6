import type { Attack, Outcome } from './attack.ts'

const stalled: Outcome = { answer: 504, run: 'timed_out', error: 'WorkerKilled', says: /endless loop/ }
const tooSlow: Outcome = { answer: 504, run: 'timed_out', error: 'TimedOut', says: /did not begin to answer/ }

const stalls = {
  'endless loop': 'for (;;);',
  'endless microtasks': 'for (;;) await null',
  'endless nextTick': 'const again = () => process.nextTick(again); again(); await new Promise(() => {})',
  'regular expression that explodes': "/^(a+)+$/.test('a'.repeat(60) + '!')",
  'sleeps on a lock': 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)',
  'WebAssembly loop': `
    const code = new Uint8Array([0,97,115,109,1,0,0,0,1,4,1,96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11])
    new WebAssembly.Instance(new WebAssembly.Module(code)).exports.f()`,
}

const endless = {
  'never answers': 'await new Promise(() => {})',
  'endless setImmediate': 'const again = () => setImmediate(again); again(); await new Promise(() => {})',
}

const threads = `
  const source = 'for (;;);'
  export default async () => {
    let started = 0
    try {
      for (; started < 200; started++) {
        const worker = new Worker('data:text/javascript,' + encodeURIComponent(source), { type: 'module' })
        worker.onerror = (event) => event.preventDefault()
      }
    } catch (error) {
      console.warn('stopped: ' + error)
    }
    await new Promise((go) => setTimeout(go, 2_000))
    return Response.json({ started })
  }`

export const loopAttacks: readonly Attack[] = [
  ...Object.entries(stalls).map(([name, code]) => ({
    family: 'loops',
    name,
    code: `export default async () => { ${code}; return new Response() }`,
    must: stalled,
  })),
  { family: 'loops', name: 'endless loop while it loads', code: 'for (;;);', must: stalled },
  {
    family: 'loops',
    name: 'timers that breed',
    code: `export default () => {
      const again = () => { for (let i = 0; i < 2; i++) setTimeout(again) }
      again()
      return new Promise(() => {})
    }`,
    must: { ...stalled, orElse: { answer: 502, run: 'failed', error: 'OutOfMemory' } },
  },
  ...Object.entries(endless).map(([name, code]): Attack => ({
    family: 'loops',
    name,
    code: `export default async () => { ${code} }`,
    must: tooSlow,
    patient: true,
  })),
  {
    family: 'loops',
    name: 'top-level await that never ends',
    code: 'await new Promise(() => {})',
    must: { answer: 504, run: 'timed_out', error: 'TimedOut', says: /top-level await/ },
    patient: true,
  },
  {
    family: 'loops',
    name: 'goes on in a loop after its answer',
    code: 'export default () => { setTimeout(() => { for (;;); }); return new Response("done") }',
    must: { answer: 200, run: 'succeeded', endsWorker: ['stalled', 'restless'] },
  },
  {
    family: 'loops',
    name: 'goes on working after its answer, with pauses',
    code: `export default () => {
      setInterval(() => { for (const until = Date.now() + 20; Date.now() < until;); }, 30)
      return new Response('done')
    }`,
    must: { answer: 200, run: 'succeeded', endsWorker: ['restless'] },
  },
  { family: 'threads', name: 'thread bomb', code: threads, must: stalled },
  {
    family: 'threads',
    name: 'fork bomb',
    code: `
      import { spawn } from 'node:child_process'
      export default () => {
        let started = 0
        for (let i = 0; i < 1_000; i++) {
          try { if (spawn('/bin/deno', ['eval', 'for (;;);']).pid) started++ } catch (error) { if (i === 0) console.warn('stopped: ' + error) }
        }
        return Response.json({ started })
      }`,
    must: { answer: 200, run: 'succeeded', says: /NotCapable: Requires run access/, shows: /"started":0/ },
  },
]

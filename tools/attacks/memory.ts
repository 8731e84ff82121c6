import type { Attack, Outcome } from './attack.ts'

const outOfMemory: Outcome = {
  answer: 502,
  run: 'failed',
  error: 'OutOfMemory',
  says: /more memory than it may/,
}

const bombs = {
  'heap bomb': 'const kept = []; for (;;) kept.push(new Array(1_000).fill(kept.length + 0.5))',
  'heap bomb that pauses':
    'const kept = []; for (;;) { kept.push(new Array(100_000).fill({ a: kept.length })); await new Promise((go) => setTimeout(go)) }',
  'ArrayBuffer bomb': 'const kept = []; for (;;) kept.push(new Uint8Array(16 << 20).fill(1))',
  'string bomb':
    "const kept = []; for (;;) kept.push(('x'.repeat(1 << 20) + kept.length).split('').join('-'))",
  'WebAssembly memory bomb': `
    const kept = []
    for (;;) { const memory = new WebAssembly.Memory({ initial: 1_000 }); new Uint8Array(memory.buffer).fill(1); kept.push(memory) }`,
  'memory bomb in Workers': `
    const source = 'const kept = []; for (;;) kept.push(new Uint8Array(8 << 20).fill(1))'
    for (let i = 0; i < 8; i++) new Worker('data:text/javascript,' + encodeURIComponent(source), { type: 'module' })
    await new Promise(() => {})`,
  'memory in a file': `
    const chunk = new Uint8Array(1 << 20).fill(7)
    const kept = []
    for (let i = 0; ; i++) { try { Deno.writeFileSync('/tmp/' + i % 60, chunk) } catch {} ; kept.push(chunk.slice()) }`,
}

const diskFill = `
  const chunk = new Uint8Array(1 << 20).fill(7)
  export default () => {
    let written = 0
    try {
      const file = Deno.openSync('/tmp/full', { create: true, write: true })
      for (;;) written += file.writeSync(chunk)
    } catch (error) {
      console.warn('stopped: ' + error)
    }
    return Response.json({ mib: Math.round(written / (1 << 20)) })
  }`

export const memoryAttacks: readonly Attack[] = [
  ...Object.entries(bombs).map(([name, code]) => ({
    family: 'memory',
    name,
    code: `export default async () => { ${code} }`,
    must: outOfMemory,
  })),
  {
    family: 'memory',
    name: 'heap bomb while it loads',
    code: 'const kept = []; for (;;) kept.push(new Array(1_000).fill(kept.length + 0.5))',
    must: outOfMemory,
  },
  {
    family: 'disk',
    name: 'fills /tmp',
    code: diskFill,
    must: { answer: 200, run: 'succeeded', says: /stopped: .*(space|large|limit)/i },
  },
  {
    family: 'disk',
    name: 'makes files without end',
    code: `
      export default () => {
        let made = 0
        try { for (;; made++) Deno.writeTextFileSync('/tmp/f' + made, '') } catch (error) { console.warn('stopped: ' + error) }
        return Response.json({ made })
      }`,
    must: { answer: 200, run: 'succeeded', says: /stopped: .*space/i },
  },
  {
    family: 'disk',
    name: 'one file larger than everything',
    code: `
      export default () => {
        try { Deno.truncateSync('/tmp/x', 1 << 40) } catch (error) { console.warn('stopped: ' + error) }
        try { const file = Deno.openSync('/tmp/y', { create: true, write: true }); file.truncateSync(2 ** 40) } catch (error) { console.warn('stopped: ' + error) }
        return new Response('alive')
      }`,
    must: { answer: 200, run: 'succeeded', says: /stopped/ },
  },
]

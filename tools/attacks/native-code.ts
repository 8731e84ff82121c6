import type { Attack } from './attack.ts'
import { probe, using } from './probe.ts'

const family = 'subprocess, native code'

const shell = "new Deno.Command('/bin/sh', { args: ['-c', 'id'] })"

const startsPrograms = probe({
  family,
  name: 'starts programs',
  tries: {
    'Deno.Command': `await ${shell}.output()`,
    'Deno.Command spawn': `${shell}.spawn().pid`,
    'Deno once more': "await new Deno.Command('/bin/deno', { args: ['--version'] }).output()",
    exec: using('node:child_process', "it.execSync('id').toString()"),
    spawn: using('node:child_process', "it.spawnSync('/bin/deno', ['--version']).stdout.toString()"),
    fork: using('node:child_process', "it.fork('/val/x.ts').pid ?? Promise.reject(new Error('no process'))"),
    cluster: using(
      'node:cluster',
      "it.default.fork().process.pid ?? Promise.reject(new Error('no process'))",
    ),
  },
})

const loadsNativeCode = probe({
  family,
  name: 'loads native code',
  tries: {
    'Deno.dlopen':
      "Deno.dlopen('/lib/x86_64-linux-gnu/libc.so.6', { getpid: { parameters: [], result: 'i32' } }).symbols.getpid()",
    'a library of its own':
      "(Deno.writeFileSync('/tmp/x.so', new Uint8Array(64)), Deno.dlopen('/tmp/x.so', {}))",
    'an addon': "process.dlopen({ exports: {} }, '/tmp/x.node')",
    'process.binding': "process.binding('spawn_sync').spawn({ file: '/bin/deno', args: ['deno'] })",
    'memory by address': 'new Deno.UnsafePointerView(Deno.UnsafePointer.create(4096n)).getUint8()',
    'an SQLite extension': using(
      'node:sqlite',
      "new it.DatabaseSync(':memory:', { allowExtension: true }).loadExtension('/tmp/x')",
    ),
    'the inspector': using(
      'node:inspector',
      "(it.open(9229, '0.0.0.0'), it.url() ?? (() => { throw new Error('not open') })())",
    ),
    'internals of Deno':
      "(Deno as any)[(Deno as any).internal].core.ops.op_spawn_sync({ cmd: '/bin/deno', args: [] })",
  },
})

const escapesContexts = probe({
  family,
  name: 'escapes through contexts and threads',
  tries: {
    'node:vm': using(
      'node:vm',
      `it.runInNewContext("this.constructor.constructor('return Deno')()").readTextFileSync('/etc/passwd')`,
    ),
    'a Worker that reads': workerTry("Deno.readTextFileSync('/app/main.js')"),
    'a Worker that starts a program': workerTry("new Deno.Command('/bin/deno').outputSync().code"),
    'a Worker that asks': workerTry(
      "((state) => state === 'granted' ? state : (() => { throw new Error(state) })())(Deno.permissions.requestSync({ name: 'run' }).state)",
    ),
    'a worker thread': using(
      'node:worker_threads',
      `new Promise((done, fail) => new it.Worker("require('fs').readFileSync('/app/main.js')", { eval: true }).once('error', fail).once('exit', (code) => code === 0 ? done(code) : fail(new Error('ended with ' + code))))`,
    ),
    'WebAssembly with WASI': using(
      'node:wasi',
      "new it.WASI({ version: 'preview1', preopens: { '/': '/' } }).getImportObject().wasi_snapshot_preview1.path_open(3, 0, 0, 0, 0, 0n, 0n, 0, 0)",
    ),
  },
})

const asksForMore = probe({
  family,
  name: 'asks for more than it has',
  tries: Object.fromEntries(
    ['run', 'ffi', 'sys', 'read', 'write', 'import'].map((permission) => [
      `permission ${permission}`,
      `await Deno.permissions.request({ name: '${permission}' }).then(({ state }) => { if (state !== 'granted') throw new Error(state); return state })`,
    ]),
  ),
})

function importsElsewhere(): Attack {
  const sources = {
    'a file of the host': 'file:///etc/passwd',
    'a folder of the host': 'file:///home/x.ts',
    'a module that imports a file': 'data:text/javascript,import "file:///etc/passwd"',
    'the metadata service': 'https://169.254.169.254/latest/meta-data.ts',
    'a module on loopback': 'http://127.0.0.1:80/x.ts',
    'a package with a native part': 'npm:/../../etc/passwd',
  }
  const tries = Object.entries(sources).map(([what, source]) => [
    what,
    `await import(${JSON.stringify(source)} as string)`,
  ])
  return probe({ family, name: 'imports what it may not read', tries: Object.fromEntries(tries) })
}

function workerTry(expression: string): string {
  const source = `try { postMessage(String(${expression})) } catch (error) { postMessage({ refused: String(error) }) }`
  return `await new Promise((done, fail) => {
    const worker = new Worker('data:application/javascript,' + encodeURIComponent(${JSON.stringify(source)}), { type: 'module' })
    worker.onmessage = ({ data }) => (worker.terminate(), data.refused ? fail(new Error(data.refused)) : done(data))
    worker.onerror = (event) => (event.preventDefault(), fail(new Error(event.message)))
  })`
}

export const nativeAttacks: readonly Attack[] = [
  startsPrograms,
  loadsNativeCode,
  escapesContexts,
  asksForMore,
  importsElsewhere(),
  ...["'inherit'", '{ read: true, run: true, ffi: true }'].map((permissions): Attack => ({
    family,
    name: `a Worker with permissions: ${permissions}`,
    code: `export default () => { new Worker('data:text/javascript,', { type: 'module', deno: { permissions: ${permissions} } }); return new Response() }`,
    // Deno ends a process that uses what is not stable.
    must: { answer: 502, run: 'failed', error: 'WorkerExited' },
  })),
]

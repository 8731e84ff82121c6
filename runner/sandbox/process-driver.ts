import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { denoArguments, denoEnvironment } from './deno-arguments.ts'
import { findDenoBinary } from './deno-binary.ts'
import { killLeftProcesses, readResidentBytes } from './process-table.ts'
import { RecentOutput } from './recent-output.ts'
import type { SandboxObservations } from './sandbox-observations.ts'
import type { SandboxOptions } from './sandbox-options.ts'
import type { Sandbox, SandboxDriver, SandboxEnd } from './sandbox.ts'
import { lockStateFolder, refuseLongSocketPath } from './state-folder.ts'

/** As far as Deno's permissions reach (it knows no IPv6 ranges): what a val must not talk to. No kernel helps. */
const netDenied = [
  'localhost',
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '[::]',
  '[::1]',
]

/** Kills the child with its parent, where util-linux is; elsewhere the next opening sweeps. */
const diesWithParent = existsSync('/usr/bin/setpriv') ? ['/usr/bin/setpriv', '--pdeathsig', 'KILL'] : []

const idCharsMax = 36

interface ProcessHost {
  readonly options: SandboxOptions
  readonly deno: string
  readonly appFolder: string
  readonly sandboxes: Map<string, Sandbox>
}

/** Bare Deno processes, for laptops: only Deno's own permissions stand between a val and the machine. */
export async function openProcessDriver(
  options: SandboxOptions,
  observe: SandboxObservations,
): Promise<SandboxDriver> {
  refuseLongSocketPath(join(options.folder, 'sandboxes', 'x'.repeat(idCharsMax), 'sock', 'control.sock'))
  const state = await lockStateFolder(options.folder)
  observe.sandboxIsWeak()
  const swept = await killLeftProcesses(join(state.path, 'sandboxes'))
  if (swept.length > 0) observe.leftoversSwept(swept)
  const appFolder = join(state.path, 'app')
  await writeBootstrap(appFolder, options)
  const host: ProcessHost = { options, deno: findDenoBinary(), appFolder, sandboxes: new Map() }
  return {
    kind: 'process',
    start: (id, listen) => startProcess(host, id, listen),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...host.sandboxes.values()].map((sandbox) => sandbox.remove()))
      await rm(appFolder, { recursive: true, force: true })
      await state[Symbol.asyncDispose]()
    },
  }
}

async function writeBootstrap(appFolder: string, { bootstrap }: SandboxOptions): Promise<void> {
  await mkdir(appFolder, { recursive: true })
  for (const [name, text] of Object.entries(bootstrap.files)) await writeFile(join(appFolder, name), text)
}

async function startProcess(
  host: ProcessHost,
  id: string,
  listen: Parameters<SandboxDriver['start']>[1],
): Promise<Sandbox> {
  const folder = join(host.options.folder, 'sandboxes', id)
  const places = {
    socketFolder: join(folder, 'sock'),
    valFolder: join(folder, 'val'),
    appFolder: host.appFolder,
    temporaryFolder: join(folder, 'tmp'),
  }
  try {
    await mkdir(places.socketFolder, { recursive: true })
    await mkdir(places.valFolder)
    await mkdir(places.temporaryFolder)
    await listen(places)
    const { bootstrap, limits, egress } = host.options
    const [program = host.deno, ...args] = [
      ...diesWithParent,
      host.deno,
      ...denoArguments({
        places,
        entry: bootstrap.entry,
        heapMib: limits.heapMib,
        netDenied: [...netDenied, ...egress.denied.filter((range) => !range.includes(':'))],
      }),
    ]
    const child = spawn(program, args, {
      cwd: places.temporaryFolder,
      env: denoEnvironment(places.temporaryFolder),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const sandbox = wrapChild(child, { id, folder, places })
    await writeFile(join(folder, 'pid'), String(child.pid ?? ''))
    host.sandboxes.set(id, sandbox)
    void sandbox.ended.then(() => host.sandboxes.delete(id))
    return sandbox
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

interface ProcessPlace {
  readonly id: string
  readonly folder: string
  readonly places: Pick<Sandbox, 'socketFolder' | 'valFolder'>
}

function wrapChild(child: ChildProcess, { id, folder, places }: ProcessPlace): Sandbox {
  const { socketFolder, valFolder } = places
  const output = new RecentOutput()
  if (child.stdout) output.follow(child.stdout)
  if (child.stderr) output.follow(child.stderr)
  const { promise: ended, resolve } = Promise.withResolvers<SandboxEnd>()
  let killed = false
  child.once('error', () => resolve('exited'))
  child.once('close', () => {
    resolve(killed ? 'killed' : output.tellsOfFullHeap() ? 'out_of_memory' : 'exited')
  })
  return {
    id,
    socketFolder,
    valFolder,
    inside: { socketFolder, valFolder },
    recentOutput: () => output.read(),
    ended,
    readCpuMs: () => Promise.resolve(null),
    readMemoryBytes: () => (child.pid === undefined ? Promise.resolve(null) : readResidentBytes(child.pid)),
    remove: async () => {
      killed ||= child.exitCode === null && child.signalCode === null
      child.kill('SIGKILL')
      await ended
      // A val may have locked us out of a folder of its own; what is left is swept at the next start.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    },
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSandboxDriver } from '../open-sandbox-driver.ts'
import type { SandboxObservations } from '../sandbox-observations.ts'
import type { EgressOptions, SandboxLimits, SandboxOptions } from '../sandbox-options.ts'
import type { Sandbox, SandboxDriver } from '../sandbox.ts'

/** Waits to be told a module's code, runs its default export, and says what came out. */
const bootstrap = `
const [socketFolder] = Deno.args
const control = await Deno.connect({ transport: 'unix', path: socketFolder + '/control.sock' })
const say = (message) => control.write(new TextEncoder().encode(JSON.stringify(message) + '\\n'))
await say({ ready: true })
let code = ''
const bytes = new Uint8Array(65536)
while (!code.endsWith('\\0')) {
  const count = await control.read(bytes)
  if (count === null) Deno.exit(0)
  code += new TextDecoder().decode(bytes.subarray(0, count))
}
try {
  const { default: main } = await import('data:application/typescript,' + encodeURIComponent(code.slice(0, -1)))
  await say({ answer: (await main()) ?? null })
} catch (error) {
  await say({ error: String(error) + (error?.cause ? ' / ' + error.cause : '') })
}
await new Promise((resolve) => setTimeout(resolve, 2 ** 31 - 1))
`

export const testLimits: SandboxLimits = {
  memoryBytesMax: 256 * 2 ** 20,
  cpuCoresMax: 1,
  pidsMax: 64,
  temporaryBytesMax: 8 * 2 ** 20,
  heapMib: 96,
  openFilesMax: 256,
}

export interface TestDriver extends AsyncDisposable {
  readonly driver: SandboxDriver
  readonly folder: string
  /** Names of what was observed, with its arguments. */
  readonly observed: readonly (readonly unknown[])[]
}

export interface TestDriverOptions {
  readonly kind: SandboxOptions['kind']
  readonly folder?: string
  readonly egress?: EgressOptions
  readonly limits?: Partial<SandboxLimits>
}

export async function openTestDriver({
  kind,
  folder,
  egress,
  limits,
}: TestDriverOptions): Promise<TestDriver> {
  const stateFolder = folder ?? (await mkdtemp(join(tmpdir(), 'valley-sandbox-')))
  const observed: unknown[][] = []
  const driver = await openSandboxDriver(
    {
      kind,
      folder: stateFolder,
      limits: { ...testLimits, ...limits },
      egress: egress ?? { denied: [], resolvers: [] },
      bootstrap: { files: { 'main.js': bootstrap }, entry: 'main.js' },
    },
    recordObservations(observed),
  )
  return {
    driver,
    folder: stateFolder,
    observed,
    [Symbol.asyncDispose]: async () => {
      await driver[Symbol.asyncDispose]()
      if (folder === undefined) await rm(stateFolder, { recursive: true, force: true })
    },
  }
}

function recordObservations(observed: unknown[][]): SandboxObservations {
  const note =
    (name: string) =>
    (...args: unknown[]) => {
      observed.push([name, ...args])
    }
  return {
    sandboxIsWeak: note('sandboxIsWeak'),
    leftoversSwept: note('leftoversSwept'),
    removalFailed: note('removalFailed'),
    forwardingEnabled: note('forwardingEnabled'),
  }
}

export interface Inside extends AsyncDisposable {
  readonly sandbox: Sandbox
  /** Settles when it has connected to its control socket. */
  readonly ready: Promise<void>
  /** Boots it, runs the module's default export and returns that; rejects with what was thrown, or how it ended. */
  readonly run: (code: string) => Promise<unknown>
}

let started = 0

/** A sandbox in which a test can run code. */
export async function startInside(driver: SandboxDriver): Promise<Inside> {
  const connections: Socket[] = []
  const messages = Promise.withResolvers<unknown>()
  const ready = Promise.withResolvers<Socket>()
  const server = createServer((socket) => {
    connections.push(socket)
    socket.on('error', () => {})
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (!text.endsWith('\n')) return
      const line = text
      text = ''
      const message = JSON.parse(line) as { ready?: true; answer?: unknown; error?: string }
      if (message.ready) ready.resolve(socket)
      else if (message.error !== undefined) messages.reject(new Error(message.error))
      else messages.resolve(message.answer)
    })
  })
  messages.promise.catch(() => {})
  started += 1
  const sandbox = await driver.start(`test-${process.pid}-${started}`, ({ socketFolder }) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    server.once('error', reject).listen(join(socketFolder, 'control.sock'), resolve)
    return promise
  })
  const end = sandbox.ended.then((how): never => {
    throw new Error(`It ended: ${how}. ${sandbox.recentOutput()}`)
  })
  end.catch(() => {})
  return {
    sandbox,
    ready: ready.promise.then(() => undefined),
    run: async (code) => {
      const control = await Promise.race([ready.promise, end])
      control.write(`${code}\0`)
      return Promise.race([messages.promise, end])
    },
    [Symbol.asyncDispose]: async () => {
      await sandbox.remove()
      for (const connection of connections) connection.destroy()
      server.close()
    },
  }
}

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import path from 'node:path'
import { runCommand } from '../../processes/run-command.ts'

export interface StandIn extends AsyncDisposable {
  readonly port: number
  readonly publicAddress: string
  readonly privateAddress: string
  readonly linkLocalAddress: string
  /** How many connections came to this address. */
  readonly countAt: (address: string) => number
  /** What was posted to it, wherever it came to. */
  readonly posted: () => readonly Posted[]
}

export interface Posted {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const port = 8_080

/**
 * A second network namespace that this host has routes to: a public address for the internet, and a private and a
 * link-local one that nobody may reach. Numbered by process, so that two suites can run on one host.
 */
export async function openStandIn(): Promise<StandIn> {
  await using stack = new AsyncDisposableStack()
  const number = process.pid % 120
  const name = `attacks-${process.pid}`
  const link = `att${process.pid}`
  const ours = `198.51.100.${3 + number * 2}`
  const addresses = {
    publicAddress: `198.51.100.${2 + number * 2}`,
    privateAddress: `10.213.${number}.10`,
    linkLocalAddress: `169.254.${number + 1}.10`,
  }
  await ip('netns', 'add', name)
  stack.defer(() => ip('netns', 'delete', name))
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  await ip('addr', 'add', `${ours}/32`, 'dev', link)
  await ip('link', 'set', link, 'up')
  for (const device of ['lo', 'eth0']) await ip('-n', name, 'link', 'set', device, 'up')
  await ip('-n', name, 'route', 'add', ours, 'dev', 'eth0')
  await ip('-n', name, 'route', 'add', 'default', 'via', ours)
  for (const address of Object.values(addresses)) {
    await ip('-n', name, 'addr', 'add', `${address}/32`, 'dev', 'eth0')
    await ip('route', 'add', `${address}/32`, 'dev', link)
  }
  const server = stack.use(await startServer(name, addresses))
  const opened = stack.move()
  return {
    port,
    ...addresses,
    countAt: (address) => server.lines.filter((line) => line === `came to ${address}`).length,
    posted: () =>
      server.lines
        .filter((line) => line.startsWith('posted '))
        .map((line) => JSON.parse(line.slice('posted '.length)) as Posted),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

async function startServer(
  namespace: string,
  { publicAddress, privateAddress }: { publicAddress: string; privateAddress: string },
): Promise<AsyncDisposable & { readonly lines: readonly string[] }> {
  const file = path.join(import.meta.dirname, 'stand-in-server.ts')
  const program = [process.execPath, file, String(port), publicAddress, privateAddress]
  const child = spawn('ip', ['netns', 'exec', namespace, ...program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const ready = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    if (line === 'ready') ready.resolve()
  })
  child.once('error', ready.reject)
  child.once('exit', (code) => {
    ready.reject(new Error(`The stand-in for the internet ended with ${code}.`))
    ended.resolve()
  })
  await ready.promise
  return {
    lines,
    async [Symbol.asyncDispose]() {
      child.kill()
      await ended.promise
    },
  }
}

async function ip(...args: string[]): Promise<void> {
  await runCommand('ip', args)
}

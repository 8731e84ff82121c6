import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { runCommand } from '../processes/run-command.ts'
import { type NatsNetwork, openNatsNetwork } from './open-nats-network.ts'
import { startNats } from './start-nats.ts'
import type { Service } from './service.ts'

const clientPort = 4222
const routePort = 6222
const nodeCount = 3

export interface NatsNode extends Service {
  /** Drops every packet from and to it, silently: the others and its clients are not told. */
  partition(): Promise<void>
  heal(): Promise<void>
}

export interface NatsCluster extends AsyncDisposable {
  /** Of all nodes, with commas between them. */
  readonly url: string
  readonly nodes: readonly NatsNode[]
}

export interface NatsClusterOptions {
  folder: string
  signal?: AbortSignal | undefined
}

/** Three NATS servers, each on a network of its own with one cable to the others. Needs root. */
export async function startNatsCluster({ folder, signal }: NatsClusterOptions): Promise<NatsCluster> {
  await using stack = new AsyncDisposableStack()
  const network = stack.use(await openNatsNetwork(nodeCount))
  const starting = network.addresses.map(async (_, index) => startNode(network, index, { folder, signal }))
  const settled = await Promise.allSettled(starting)
  for (const result of settled) if (result.status === 'fulfilled') stack.use(result.value)
  const nodes = await Promise.all(starting)
  const started = stack.move()
  return {
    url: nodes.map((node) => node.url).join(','),
    nodes,
    [Symbol.asyncDispose]: async () => started.disposeAsync(),
  }
}

async function startNode(
  { addresses, namespaces }: NatsNetwork,
  index: number,
  { folder, signal }: NatsClusterOptions,
): Promise<NatsNode> {
  const address = addresses[index] ?? ''
  const namespace = namespaces[index] ?? ''
  const nodeFolder = path.join(folder, `nats-${index + 1}`)
  await mkdir(nodeFolder, { recursive: true })
  const cluster = {
    name: 'valley',
    listen: `${address}:${routePort}`,
    routes: addresses.map((other) => `nats://${other}:${routePort}`),
  }
  const member = { name: `nats-${index + 1}`, address, namespace, cluster }
  const service = await startNats({ folder: nodeFolder, port: clientPort, member, signal })
  const nft = async (input: string) => {
    await runCommand('nsenter', [`--net=/run/netns/${namespace}`, 'nft', '-f', '-'], { input })
  }
  return Object.assign(service, {
    partition: async () => nft(dropEverything),
    // Named first, so that it can be deleted whether or not it is there.
    heal: async () => nft('table inet partition\ndelete table inet partition\n'),
  })
}

const dropEverything = `table inet partition {
  chain in { type filter hook input priority 0; policy drop; }
  chain out { type filter hook output priority 0; policy drop; }
}
`

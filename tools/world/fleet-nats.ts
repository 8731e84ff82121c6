import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { openSmallDisk, type SmallDisk } from '../services/open-small-disk.ts'
import type { Service } from '../services/service.ts'
import { startNats } from '../services/start-nats.ts'
import { type NatsNode, startNatsCluster } from '../services/start-nats-cluster.ts'

export interface FleetNats extends AsyncDisposable {
  /** Of all nodes, with commas between them. */
  readonly url: string
  readonly nodes: readonly Service[]
  /** Where the one node keeps its files; null for a cluster. */
  readonly disk: SmallDisk | null
  readonly cluster: readonly NatsNode[] | null
}

/** Room for more reports than a fleet in a test ever has waiting. */
const diskBytes = 128 * 1024 * 1024
/** NATS promises a stream its largest size, whether or not the disk has it. */
const storeBytesMax = 4 * 1024 * 1024 * 1024

interface FleetNatsOptions {
  readonly folder: string
  readonly nodes: 1 | 3
  readonly signal?: AbortSignal | undefined
}

export async function openFleetNats({ folder, nodes, signal }: FleetNatsOptions): Promise<FleetNats> {
  if (nodes === 3) {
    const cluster = await startNatsCluster({ folder, signal })
    const { url } = cluster
    return {
      url,
      nodes: cluster.nodes,
      disk: null,
      cluster: cluster.nodes,
      [Symbol.asyncDispose]: async () => cluster[Symbol.asyncDispose](),
    }
  }
  await using stack = new AsyncDisposableStack()
  const store = path.join(folder, 'nats')
  await mkdir(store)
  const disk = stack.use(await openSmallDisk(store, diskBytes))
  const node = stack.use(await startNats({ folder, storeBytesMax, signal }))
  const opened = stack.move()
  return {
    url: node.url,
    nodes: [node],
    disk,
    cluster: null,
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

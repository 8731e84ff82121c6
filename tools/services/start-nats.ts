import { mkdir, realpath, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findBinary } from '../processes/find-binary.ts'
import { endLeftovers, type Program } from '../processes/leftovers.ts'
import { startProcess, type ProcessPlan } from '../processes/running-process.ts'
import { natsPayloadBytesMax, natsReadyTimeoutMs, natsStopTimeoutMs } from './limits.ts'
import { rememberPort } from './remember-port.ts'
import { startService, type Service } from './service.ts'

export interface NatsOptions {
  folder: string
  /** The one that it had in this folder before, or any free one, unless given. */
  port?: number
  /** How much it may store, where that does not follow from the room on the disk. */
  storeBytesMax?: number | undefined
  /** How large a message may be; as large as Valley asks for, unless given. */
  payloadBytesMax?: number
  /** What makes it one of a cluster; alone, unless given. */
  member?: NatsMember
  signal?: AbortSignal | undefined
}

export interface NatsMember {
  readonly name: string
  readonly address: string
  /** The network namespace in which it has that address. */
  readonly namespace: string
  /** NATS's own setting of that name. */
  readonly cluster: object
}

export async function startNats(options: NatsOptions): Promise<Service> {
  const { folder, member, signal } = options
  const store = path.join(folder, 'nats')
  await mkdir(store, { recursive: true })
  const program: Program = { ...nats, folder: await realpath(store) }
  await endLeftovers(program)
  const port = options.port ?? (await rememberPort(folder, 'nats'))
  const address = `${member?.address ?? '127.0.0.1'}:${port}`
  const config = await writeConfig(options, { address, store: program.folder })
  const plan: ProcessPlan = {
    ...program,
    ...commandOf(member, ['--config', config]),
    env: { PATH: process.env['PATH'] },
    account: null,
    logPath: path.join(folder, 'nats.log'),
    isReady: (line: string) => line.includes('Server is ready'),
    readyTimeoutMs: natsReadyTimeoutMs,
    stopTimeoutMs: natsStopTimeoutMs,
  }
  const launch = async () => startProcess(plan, signal)
  return startService({ url: `nats://${address}`, port, program, launch })
}

/** A server that is cut off says nothing; the others send to it until they have missed its answers. */
const noticeSilence = { ping_interval: '2s', ping_max: 2 }

/** How large a message may be is the one setting that NATS takes from a file only. */
async function writeConfig(
  { folder, storeBytesMax, payloadBytesMax = natsPayloadBytesMax, member }: NatsOptions,
  { address, store }: { address: string; store: string },
): Promise<string> {
  const config = {
    listen: address,
    max_payload: payloadBytesMax,
    jetstream: { store_dir: store, ...(storeBytesMax && { max_file_store: storeBytesMax }) },
    ...(member && { server_name: member.name, cluster: member.cluster, ...noticeSilence }),
  }
  const file = path.join(folder, 'nats.conf')
  // NATS's own format takes JSON as it is.
  await writeFile(file, JSON.stringify(config, null, 2))
  return file
}

function commandOf(member: NatsMember | undefined, args: readonly string[]) {
  const command = findBinary('nats-server')
  if (member === undefined) return { command, args }
  return {
    command: findBinary('nsenter'),
    args: [`--net=/run/netns/${member.namespace}`, command, ...args],
  }
}

const nats = { name: 'NATS', commandLine: /^\S*nats-server /, stopSignal: 'SIGTERM' } as const

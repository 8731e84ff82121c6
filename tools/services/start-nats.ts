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
  signal?: AbortSignal | undefined
}

export async function startNats(options: NatsOptions): Promise<Service> {
  const { folder, signal } = options
  const store = path.join(folder, 'nats')
  await mkdir(store, { recursive: true })
  const program: Program = { ...nats, folder: await realpath(store) }
  await endLeftovers(program)
  const port = options.port ?? (await rememberPort(folder, 'nats'))
  const plan: ProcessPlan = {
    ...program,
    command: findBinary('nats-server'),
    args: ['--config', await writeConfig(folder, { port, store: program.folder })],
    env: { PATH: process.env['PATH'] },
    account: null,
    logPath: path.join(folder, 'nats.log'),
    isReady: (line: string) => line.includes('Server is ready'),
    readyTimeoutMs: natsReadyTimeoutMs,
    stopTimeoutMs: natsStopTimeoutMs,
  }
  const launch = async () => startProcess(plan, signal)
  return startService({ url: `nats://127.0.0.1:${port}`, port, program, launch })
}

/** How large a message may be is the one setting that NATS takes from a file only. */
async function writeConfig(folder: string, { port, store }: { port: number; store: string }) {
  const config = {
    listen: `127.0.0.1:${port}`,
    max_payload: natsPayloadBytesMax,
    jetstream: { store_dir: store },
  }
  const file = path.join(folder, 'nats.conf')
  // NATS's own format takes JSON as it is.
  await writeFile(file, JSON.stringify(config, null, 2))
  return file
}

const nats = { name: 'NATS', commandLine: /^\S*nats-server /, stopSignal: 'SIGTERM' } as const

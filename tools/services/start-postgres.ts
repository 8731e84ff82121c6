import { mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { findUnprivilegedAccountOrNull } from '../processes/account.ts'
import { endLeftovers, type Program } from '../processes/leftovers.ts'
import { startProcess, type ProcessPlan } from '../processes/running-process.ts'
import { createCluster, database, superuser } from './create-cluster.ts'
import { placeDataFolder } from './data-folder.ts'
import { postgresConnectionsMax, postgresReadyTimeoutMs, postgresStopTimeoutMs } from './limits.ts'
import { findPostgresBinary } from './postgres-binaries.ts'
import { rememberPort } from './remember-port.ts'
import { startService, type Service } from './service.ts'

export interface PostgresOptions {
  folder: string
  /** The one that it had in this folder before, or any free one, unless given. */
  port?: number
  /** false: fast, and gone with a crash of the machine. For tests. */
  durable: boolean
  /** The folder is not kept anyway, so that making the files need not wait for the disk. */
  temporary?: boolean | undefined
  /** What else it finds in its environment. */
  env?: NodeJS.ProcessEnv | undefined
  signal?: AbortSignal | undefined
}

export interface Postgres extends Service {
  /** `url` leads to the database `valley`; its superuser may enter any other, too. */
  urlOf(database: string): string
}

export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { folder, durable, temporary, signal } = options
  await mkdir(folder, { recursive: true })
  const account = await findUnprivilegedAccountOrNull()
  const data = await placeDataFolder(path.join(folder, 'postgres'), account)
  const program: Program = { ...postgres, folder: data }
  await endLeftovers(program)
  const password = await createCluster({ data, account, sync: durable && !temporary, signal })
  const port = options.port ?? (await rememberPort(folder, 'postgres'))
  const logPath = path.join(folder, 'postgres.log')
  const planned = planPostgres(data, port, durable)
  const plan: ProcessPlan = { ...planned, env: { ...planned.env, ...options.env }, account, logPath }

  const launch = async () => {
    // A postmaster killed with -9 leaves its children and its pid file behind; the former hold the shared
    // memory, and the latter may name a process that is someone else's by now.
    await endLeftovers(program)
    await rm(path.join(data, 'postmaster.pid'), { force: true })
    return startProcess(plan, signal)
  }
  const urlOf = (database: string) => `postgres://${superuser}:${password}@127.0.0.1:${port}/${database}`
  return Object.assign(await startService({ url: urlOf(database), port, program, launch }), { urlOf })
}

const postgres = {
  name: 'PostgreSQL',
  // A child calls itself `postgres: walwriter` and the like.
  commandLine: /^(\S*\/)?postgres[: ]/,
  // "Fast shutdown": SIGTERM would wait for clients to leave.
  stopSignal: 'SIGINT',
} as const

function planPostgres(data: string, port: number, durable: boolean) {
  return {
    ...postgres,
    command: findPostgresBinary('postgres', data),
    args: ['-D', data, ...settings(port, durable)],
    folder: data,
    // Nothing more: PGDATA, PGPORT and their like would have a say.
    env: { PATH: process.env['PATH'] },
    isReady: (line: string) => line.includes('database system is ready to accept connections'),
    readyTimeoutMs: postgresReadyTimeoutMs,
    stopTimeoutMs: postgresStopTimeoutMs,
  }
}

function settings(port: number, durable: boolean): string[] {
  const values = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: postgresConnectionsMax,
    shared_buffers: '256MB',
    ...(!durable && { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  return Object.entries(values).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

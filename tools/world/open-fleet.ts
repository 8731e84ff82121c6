import path from 'node:path'
import { newKeyText } from '@valley/server/env/keys.ts'
import { openRelay, type Relay } from '@valley/server/testing/open-relay.ts'
import { findFreePort } from '../services/find-free-port.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { type Postgres, startPostgres } from '../services/start-postgres.ts'
import { startValleyProcess, type ValleyProcess } from '../valley-processes/start-valley-process.ts'
import { chooseRunnerEnv, chooseServerEnv } from './choose-env.ts'
import { type FleetNats, openFleetNats } from './fleet-nats.ts'

export interface FleetOptions {
  readonly servers: number
  readonly runners: number
  readonly natsNodes: 1 | 3
  /** Settings of every server, over those that it inherits from us. */
  readonly serverEnv?: NodeJS.ProcessEnv
  readonly runnerEnv?: NodeJS.ProcessEnv
  readonly signal?: AbortSignal | undefined
}

/** A process of ours and its ways to the services, each of which can be cut. */
export interface Member {
  readonly name: string
  readonly process: ValleyProcess
  readonly ways: readonly Relay[]
}

export interface Fleet extends AsyncDisposable {
  readonly folder: string
  /** Past all relays. */
  readonly databaseUrl: string
  readonly postgres: Postgres
  readonly nats: FleetNats
  readonly servers: readonly Member[]
  readonly runners: readonly Member[]
}

/** A throw-away Valley of several machines, in which whatever can break between them can be broken. Needs root. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { natsNodes, signal } = options
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder()).path
  const postgres = stack.use(await startPostgres({ folder, durable: true, temporary: true, signal }))
  const nats = stack.use(await openFleetNats({ folder, nodes: natsNodes, signal }))
  const valsPort = await findFreePort()
  const ground: Ground = {
    options,
    stack,
    folder,
    postgresUrl: postgres.url,
    nats,
    shared: {
      NATS_REPLICAS: String(natsNodes),
      VALS_URL: `http://localhost:${valsPort}`,
      ENVIRONMENT_KEYS: newKeyText('fleet'),
    },
  }
  const servers = []
  for (let n = 1; n <= options.servers; n++) servers.push(await startServer(ground, `server-${n}`))
  const runners = []
  for (let n = 1; n <= options.runners; n++) runners.push(await startRunner(ground, `runner-${n}`))
  const opened = stack.move()
  return {
    folder,
    databaseUrl: postgres.url,
    postgres,
    nats,
    servers,
    runners,
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

interface Ground {
  readonly options: FleetOptions
  readonly stack: AsyncDisposableStack
  readonly folder: string
  readonly postgresUrl: string
  readonly nats: FleetNats
  /** Settings that all of them have. */
  readonly shared: NodeJS.ProcessEnv
}

async function startServer(ground: Ground, name: string): Promise<Member> {
  const { options, stack, folder, postgresUrl, shared } = ground
  const toPostgres = stack.use(await openRelay(new URL(postgresUrl), await findFreePort()))
  const toNats = await openWayToNats(ground)
  const databaseUrl = new URL(postgresUrl)
  databaseUrl.port = String(toPostgres.port)
  const own = { ...shared, NATS_URL: toNats.url, DATABASE_URL: databaseUrl.href, ...options.serverEnv }
  const env = await chooseServerEnv(own)
  const place = { folder: path.join(folder, name), env, signal: options.signal }
  const process = stack.use(await startValleyProcess('server', place))
  return { name, process, ways: [toPostgres, ...toNats.ways] }
}

async function startRunner(ground: Ground, name: string): Promise<Member> {
  const { options, stack, folder, shared } = ground
  const { ENVIRONMENT_KEYS: _, ...toldToRunners } = shared
  const { url, ways } = await openWayToNats(ground)
  const VALS_PORT = String(await findFreePort())
  const env = await chooseRunnerEnv({ ...toldToRunners, NATS_URL: url, VALS_PORT, ...options.runnerEnv })
  const place = { folder: path.join(folder, name), env, signal: options.signal }
  const process = stack.use(await startValleyProcess('runner', place))
  return { name, process, ways }
}

/** The nodes of a cluster tell each other's addresses to everybody, past any relay; there it is the nodes that are cut off. */
async function openWayToNats({ stack, nats }: Ground): Promise<{ url: string; ways: readonly Relay[] }> {
  if (nats.cluster !== null) return { url: nats.url, ways: [] }
  const relay = stack.use(await openRelay(new URL(nats.url), await findFreePort()))
  return { url: `nats://127.0.0.1:${relay.port}`, ways: [relay] }
}

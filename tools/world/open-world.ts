import { startServer, type ServerProcess } from '../server-process/start-server.ts'
import { findFreePort } from '../services/find-free-port.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { startServices, type Services } from '../services/start-services.ts'
import { createPeople, type Tokens } from './create-people.ts'

export interface WorldOptions {
  /** Settings of the server, over those that it inherits from us. */
  serverEnv?: NodeJS.ProcessEnv
  /** Whether PostgreSQL survives a crash of the machine, at the price of waiting for the disk. Yes, unless told. */
  durable?: boolean
  signal?: AbortSignal | undefined
}

export interface World extends AsyncDisposable {
  readonly url: string
  readonly tokens: Tokens
  readonly folder: string
  readonly services: Services
  readonly server: ServerProcess
  /** What a command needs to know to use it. */
  readonly env: NodeJS.ProcessEnv
}

/** An empty, throw-away Valley with the users alice and bob. */
export async function openWorld({ serverEnv, durable = true, signal }: WorldOptions = {}): Promise<World> {
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder()).path
  const services = stack.use(await startServices({ folder, durable, temporary: true, signal }))
  const { databaseUrl, natsUrl } = services
  const env = await chooseServerEnv({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl, ...serverEnv })
  const server = stack.use(await startServer({ folder, env, signal }))
  const tokens = await createPeople(databaseUrl)
  const opened = stack.move()
  return {
    url: server.url,
    tokens,
    folder,
    services,
    server,
    env: {
      VALLEY_URL: server.url,
      VALLEY_TOKEN: tokens.alice,
      VALLEY_TOKEN_BOB: tokens.bob,
      DATABASE_URL: databaseUrl,
      NATS_URL: natsUrl,
    },
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

async function chooseServerEnv(own: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const { PUBLIC_URL: _, ...inherited } = process.env
  return { ...inherited, HOST: '127.0.0.1', PORT: String(await findFreePort()), ...own }
}

import path from 'node:path'
import { findFreePort } from '../services/find-free-port.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { startServices, type Services } from '../services/start-services.ts'
import { startValleyProcess, type ValleyProcess } from '../valley-processes/start-valley-process.ts'
import { chooseRunnerEnv, chooseServerEnv, runnerState } from './choose-env.ts'
import { createPeople, type Tokens } from './create-people.ts'

export interface WorldOptions {
  /** Settings of the server, over those that it inherits from us. */
  serverEnv?: NodeJS.ProcessEnv
  /** Settings of the runner, likewise. */
  runnerEnv?: NodeJS.ProcessEnv
  /** Whether vals run in it. Yes, unless told. */
  withRunner?: boolean
  /** Whether PostgreSQL survives a crash of the machine, at the price of waiting for the disk. Yes, unless told. */
  durable?: boolean
  signal?: AbortSignal | undefined
}

export interface World extends AsyncDisposable {
  readonly url: string
  readonly tokens: Tokens
  readonly folder: string
  readonly services: Services
  readonly server: ValleyProcess
  /** null in a world without one. */
  readonly runner: ValleyProcess | null
  /** Beneath which every http val has its address. */
  readonly valsUrl: string
  /** Where the runner's /metrics are. */
  readonly runnerStatusUrl: string
  /** Where the runner keeps the state of its sandboxes. */
  readonly runnerStateFolder: string
  /** What a command needs to know to use it. */
  readonly env: NodeJS.ProcessEnv
}

/** An empty, throw-away Valley with the users alice and bob. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const { serverEnv, runnerEnv, withRunner = true, durable = true, signal } = options
  await using stack = new AsyncDisposableStack()
  const folder = stack.use(await openTemporaryFolder()).path
  const services = stack.use(await startServices({ folder, durable, temporary: true, signal }))
  const { databaseUrl, natsUrl } = services
  const valsPort = await findFreePort()
  const valsUrl = `http://localhost:${valsPort}`
  const shared = { NATS_URL: natsUrl, VALS_URL: valsUrl }
  const env = await chooseServerEnv({ DATABASE_URL: databaseUrl, ...shared, ...serverEnv })
  const server = stack.use(await startValleyProcess('server', { folder, env, signal }))
  const ownRunnerEnv = await chooseRunnerEnv({ ...shared, VALS_PORT: String(valsPort), ...runnerEnv })
  const runner = withRunner
    ? stack.use(await startValleyProcess('runner', { folder, env: ownRunnerEnv, signal }))
    : null
  const tokens = await createPeople(databaseUrl)
  const opened = stack.move()
  return {
    url: server.url,
    tokens,
    folder,
    services,
    server,
    runner,
    valsUrl,
    runnerStateFolder: path.join(folder, 'runner', runnerState),
    runnerStatusUrl: `http://127.0.0.1:${ownRunnerEnv['RUNNER_STATUS_PORT']}`,
    env: {
      VALLEY_URL: server.url,
      VALLEY_VALS_URL: valsUrl,
      VALLEY_TOKEN: tokens.alice,
      VALLEY_TOKEN_BOB: tokens.bob,
      DATABASE_URL: databaseUrl,
      NATS_URL: natsUrl,
    },
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

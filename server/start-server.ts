import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Bus, connectBus } from '@valley/bus/connect-bus.ts'
import { startDeliverer } from './alerts/deliverer.ts'
import type { Config } from './config.ts'
import { migrate } from './database/migrate.ts'
import { openDatabase } from './database/open-database.ts'
import { createHandlers } from './handlers.ts'
import { drain, trackConnections } from './http/drain.ts'
import { createListener } from './http/create-listener.ts'
import { RateLimiter } from './http/rate-limiter.ts'
import { UnderWay } from './http/under-way.ts'
import { limits } from './limits.ts'
import { createMetrics } from './metrics.ts'
import type { Observations } from './observations.ts'
import { readDocsFiles } from './platform/docs.ts'
import { Queue } from './queue/queue.ts'
import { findQueueSizeOrNull } from './queue/queue-size.ts'
import { recorderName } from './runs/recorder.ts'
import { startBackground } from './start-background.ts'
import { Tails } from './runs/tails.ts'
import { CallerCache } from './tokens/caller-cache.ts'
import { TokenUses } from './tokens/token-uses.ts'

export interface RunningServer extends AsyncDisposable {
  readonly url: string
}

/** Opens everything in order and, when disposed, closes it in the opposite order: requests first, pool last. */
export async function startServer(config: Config, observe: Observations): Promise<RunningServer> {
  await using opened = new AsyncDisposableStack()
  const migrated = await migrate(config.databaseUrl)
  if (migrated.length > 0) observe.migrated(migrated)
  const { db, pool } = opened.use(openPool(config, observe))
  const bus = opened.use(openBus(config, observe))
  const callers = new CallerCache()
  bus.subscribe('callerChanged', ({ userId }) => void callers.forgetUser(userId))
  const tokenUses = opened.use(new TokenUses(db, observe.tokenUsesLost))
  const queue = opened.use(new Queue(db, bus, config))
  const metrics = createMetrics({
    pool,
    callers,
    bus,
    recorderLag: () => bus.lagOf(recorderName),
    queueSize: () => findQueueSizeOrNull(db),
  })
  const shared = { config, db, bus, queue, callers, tokenUses, metrics, observe }
  opened.use(await startBackground(shared))

  const tails = new Tails()
  let url = ''
  const baseUrl = () => config.publicUrl ?? url
  const listener = createListener(
    {
      ...shared,
      limiter: new RateLimiter(),
      underWay: new UnderWay(),
      handlers: createHandlers(metrics, tails),
      defaultBaseUrl: baseUrl,
    },
    readDocsFiles(),
  )
  const server = createServer(serverOptions, listener)
  server.maxConnections = limits.connectionsMax
  const connections = trackConnections(server)
  url = await listen(server, config)
  opened.use(startDeliverer({ ...shared, environmentKeys: config.environmentKeys, baseUrl }))
  const endStreams = () => {
    tails.close()
    queue.waits[Symbol.dispose]()
  }
  opened.defer(() => drain(server, { observe, endStreams, connections }))
  const toClose = opened.move()
  return { url, [Symbol.asyncDispose]: () => toClose.disposeAsync() }
}

function openPool({ databaseUrl, databaseConnectionsMax }: Config, observe: Observations) {
  return openDatabase({
    url: databaseUrl,
    connectionsMax: databaseConnectionsMax,
    onIdleError: observe.connectionLost,
  })
}

function openBus({ natsUrl, natsReplicas }: Config, observe: Observations): Bus {
  return connectBus({
    url: natsUrl,
    replicas: natsReplicas,
    name: 'server',
    onChange: observe.busChanged,
    onBadMessage: observe.badMessage,
    onTrouble: observe.busTrouble,
  })
}

const serverOptions = {
  requestTimeout: limits.requestTimeoutMs,
  headersTimeout: limits.headersTimeoutMs,
  keepAliveTimeout: limits.keepAliveTimeoutMs,
}

function listen(server: Server, { host, port }: Config): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      const { port: actual } = server.address() as AddressInfo
      resolve(
        `http://${host === '0.0.0.0' || host === '127.0.0.1' || host === '::' ? 'localhost' : host}:${actual}`,
      )
    })
  })
}

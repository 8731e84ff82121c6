import { v7 } from 'uuid'
import { type Bus, connectBus } from '@valley/bus/connect-bus.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import { createDeliverAlert } from './alerts/deliver-alert.ts'
import type { Config } from './config.ts'
import { openEdge } from './edge/open-edge.ts'
import { OwnerGate } from './edge/owner-gate.ts'
import { HeadCache } from './heads/head-cache.ts'
import { limits } from './limits.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Observations } from './observations.ts'
import { Beats } from './queue/beats.ts'
import { Claims } from './queue/claims.ts'
import { HeldRuns } from './queue/held-runs.ts'
import { KnownKinds } from './queue/known-kinds.ts'
import { QueuedRuns } from './queue/queued-runs.ts'
import { RunDesk } from './reports/run-desk.ts'
import { readBootstrap } from './sandbox/bootstrap-files.ts'
import { openSandboxDriver } from './sandbox/open-sandbox-driver.ts'
import { openStatus } from './status.ts'
import { Workforce } from './workers/workforce.ts'

export interface RunningRunner extends AsyncDisposable {
  readonly url: string
}

/** Opens everything in order and, when disposed, closes it in the opposite order: requests first, sandboxes last. */
export async function startRunner(config: Config, observe: Observations): Promise<RunningRunner> {
  await using opened = new AsyncDisposableStack()
  const metrics = createMetrics()
  const driver = opened.use(await openDriver(config, observe))
  const bus = opened.use(
    connectBus({
      url: config.natsUrl,
      replicas: config.natsReplicas,
      name: 'runner',
      onChange: observe.busChanged,
      onBadMessage: observe.badMessage,
      onTrouble: observe.busTrouble,
    }),
  )
  const runnerId = v7()
  const held = new HeldRuns()
  const claims = new Claims()
  // Until all that it has is reported, it is alive.
  const beats = opened.use(new Beats({ bus, runnerId, held, claims }))
  const desk = opened.use(new RunDesk(bus, deskObservations(metrics, observe)))
  const workforce = opened.use(new Workforce({ ...config, driver, observe: watchWorkers(metrics, observe) }))
  bus.serve('deliverAlert', createDeliverAlert(workforce))
  const heads = new HeadCache(bus)
  const queued = opened.use(
    new QueuedRuns({
      bus,
      runnerId,
      heads,
      workforce,
      desk,
      held,
      claims,
      beats,
      kinds: new KnownKinds(),
      atOnceMax: config.queuedRunsAtOnce,
    }),
  )
  gaugeRunner(metrics, { workforce, desk, held, heads, bus })
  const { valsUrl, trustProxy } = config
  const edge = opened.use(
    await openEdge({ heads, gate: new OwnerGate(bus), workforce, desk, valsUrl, trustProxy }, config),
  )
  opened.use(await openStatus(metrics.register, { host: config.statusHost, port: config.statusPort }))
  opened.defer(() => {
    observe.draining()
    queued.stopClaiming()
  })
  const toClose = opened.move()
  const url = `http://localhost:${edge.port}`
  return { url, [Symbol.asyncDispose]: () => toClose.disposeAsync() }
}

interface Gauged {
  readonly workforce: Workforce
  readonly desk: RunDesk
  readonly held: HeldRuns
  readonly heads: HeadCache
  readonly bus: Bus
}

function gaugeRunner(metrics: Metrics, { workforce, desk, held, heads, bus }: Gauged): void {
  metrics.workersByState(() => ({ ...workforce.countByState(), booting: workforce.booting }))
  metrics.gauge('valley_workers_memory_bytes', 'Memory of all workers.', () => workforce.memoryBytes)
  metrics.gauge('valley_runs_waiting', 'Runs that wait for a worker.', () => workforce.runsWaiting)
  metrics.gauge(
    'valley_reports_waiting',
    'Reports of runs that NATS does not have yet.',
    () => desk.waitingCount,
  )
  metrics.gauge('valley_queued_runs', 'Claimed runs that are not over.', () => held.underWay)
  metrics.gauge('valley_heads_cached', 'Addresses whose val is known.', () => heads.size)
  metrics.gauge('valley_bus_up', '1 while connected to NATS.', () => (bus.state === 'up' ? 1 : 0))
}

async function openDriver({ sandbox, folder, egress }: Config, observe: Observations) {
  return openSandboxDriver({ kind: sandbox, folder, limits, egress, bootstrap: readBootstrap() }, observe)
}

function deskObservations(metrics: Metrics, observe: Observations) {
  return {
    reportsLost: (count: number) => {
      metrics.reportsLost(count)
      observe.reportsLost(count)
    },
    runEnded: (report: RunReport) => {
      metrics.runEnded(report)
      if (report.status !== 'succeeded') observe.valError(report)
    },
  }
}

function watchWorkers(
  metrics: Metrics,
  observe: Observations,
): ConstructorParameters<typeof Workforce>[0]['observe'] {
  return {
    workerBooted: (ms) => {
      metrics.booted(ms)
      observe.workerBooted(ms)
    },
    bootFailed: (cause) => {
      metrics.bootFailed()
      observe.bootFailed(cause)
    },
    workerEnded: (worker, cause) => {
      metrics.ended(cause)
      observe.workerEnded(worker, cause)
    },
  }
}

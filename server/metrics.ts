import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { QueueSize } from './queue/queries.ts'

interface Sources {
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  readonly callers: { readonly size: number }
  readonly bus: { readonly state: 'up' | 'down' }
  /** null when it is not known. */
  readonly recorderLag: () => Promise<number | null>
  /** null when the database does not say. */
  readonly queueSize: () => Promise<QueueSize | null>
}

export type Metrics = ReturnType<typeof createMetrics>

/** What Prometheus reads at /metrics. Gauges ask their source when they are read. */
export function createMetrics({ pool, callers, bus, recorderLag, queueSize }: Sources) {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const requestSeconds = new Histogram({
    name: 'valley_request_seconds',
    help: 'Time from the request line to the answer, by operation and status.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [register],
  })
  const gauges: readonly (readonly [name: string, help: string, read: () => number])[] = [
    ['valley_pool_connections', 'Database connections open.', () => pool.totalCount],
    ['valley_pool_idle', 'Database connections idle.', () => pool.idleCount],
    ['valley_pool_waiting', 'Requests that wait for a database connection.', () => pool.waitingCount],
    ['valley_callers_cached', 'Tokens whose caller is remembered.', () => callers.size],
    ['valley_bus_up', '1 while connected to NATS.', () => (bus.state === 'up' ? 1 : 0)],
  ]
  for (const [name, help, read] of gauges) {
    // oxlint-disable-next-line no-new -- a gauge registers itself and is read by the registry only.
    new Gauge({
      name,
      help,
      registers: [register],
      collect() {
        this.set(read())
      },
    })
  }
  return {
    register,
    observeRequest: observerOf(requestSeconds),
    ...recorderMetrics(register, recorderLag),
    ...queueMetrics(register, queueSize),
    ...scheduleMetrics(register),
    ...alertMetrics(register),
  }
}

function recorderMetrics(register: Registry, lag: Sources['recorderLag']) {
  const registers = [register]
  // oxlint-disable-next-line no-new -- a gauge registers itself and is read by the registry only.
  new Gauge({
    name: 'valley_run_reports_waiting',
    help: 'Messages with reports of runs that wait in NATS to be recorded.',
    registers,
    async collect() {
      const waiting = await lag()
      if (waiting !== null) this.set(waiting)
    },
  })
  return {
    runsRecorded: new Counter({ name: 'valley_runs_recorded_total', help: 'Runs written down.', registers }),
    runsDropped: new Counter({
      name: 'valley_run_reports_dropped_total',
      help: 'Reports of runs that are not written down, by the reason.',
      labelNames: ['why'],
      registers,
    }),
  }
}

function scheduleMetrics(register: Registry) {
  const registers = [register]
  return {
    scheduleLag: new Histogram({
      name: 'valley_schedule_lag_seconds',
      help: 'Time from when a run was planned to when it was enqueued.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600],
      registers,
    }),
    firings: new Counter({
      name: 'valley_firings_total',
      help: 'Planned times that were dealt with, by the outcome; what was missed at once counts once.',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

function queueMetrics(register: Registry, size: Sources['queueSize']) {
  const registers = [register]
  const oldest = new Gauge({
    name: 'valley_queue_oldest_seconds',
    help: 'How long the run that is due first has waited.',
    registers,
  })
  // oxlint-disable-next-line no-new -- a gauge registers itself and is read by the registry only.
  new Gauge({
    name: 'valley_queue_runs',
    help: 'Runs in the queue, by whether they wait or run.',
    labelNames: ['state'],
    registers,
    async collect() {
      const found = await size()
      if (found === null) return
      this.set({ state: 'waiting' }, found.waiting)
      this.set({ state: 'running' }, found.running)
      oldest.set(Math.max(0, found.oldest_waiting_seconds))
    },
  })
  return {
    runsLost: new Counter({
      name: 'valley_runs_lost_total',
      help: 'Runs that ended because their runner was gone.',
      registers,
    }),
  }
}

function alertMetrics(register: Registry) {
  const registers = [register]
  return {
    alertsRaised: new Counter({
      name: 'valley_alerts_raised_total',
      help: 'Alerts about failing runs.',
      registers,
    }),
    deliveryAttempts: new Counter({
      name: 'valley_alert_deliveries_total',
      help: 'Attempts to deliver an alert, by how they went: delivered, failed, not_tried (no runner had room).',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

/** Looks each pair of labels up once: the histogram's own look-up costs more than the observation. */
function observerOf(histogram: Histogram<'operation' | 'status'>) {
  const known = new Map<string, { observe(seconds: number): void }>()
  return (operation: string, status: number, seconds: number) => {
    const key = `${operation} ${status}`
    const child = known.get(key) ?? histogram.labels(operation, String(status))
    known.set(key, child)
    child.observe(seconds)
  }
}

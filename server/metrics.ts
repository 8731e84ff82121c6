import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

interface Sources {
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  readonly callers: { readonly size: number }
  readonly bus: { readonly state: 'up' | 'down' }
  /** null when it is not known. */
  readonly recorderLag: () => Promise<number | null>
}

export type Metrics = ReturnType<typeof createMetrics>

/** What Prometheus reads at /metrics. Gauges ask their source when they are read. */
export function createMetrics({ pool, callers, bus, recorderLag }: Sources) {
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
  return { register, observeRequest: observerOf(requestSeconds), ...recorderMetrics(register, recorderLag) }
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

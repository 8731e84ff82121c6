import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { EndCause } from './workers/end-cause.ts'

const secondBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export type Metrics = ReturnType<typeof createMetrics>

/** What Prometheus reads at the runner's /metrics. */
export function createMetrics() {
  const register = new Registry()
  collectDefaultMetrics({ register })
  const registers = [register]
  const boots = new Histogram({
    name: 'valley_worker_boot_seconds',
    help: 'Time until a sandbox was ready for a val, whichever comes.',
    buckets: secondBuckets,
    registers,
  })
  const bootFailures = new Counter({
    name: 'valley_worker_boot_failures',
    help: 'Boots that failed.',
    registers,
  })
  const ends = new Counter({
    name: 'valley_worker_ends',
    help: 'Workers that ended, by cause: evicted, outdated, out_of_memory, stalled, exited …',
    labelNames: ['cause'],
    registers,
  })
  const lost = new Counter({ name: 'valley_reports_lost', help: 'Runs whose report was lost.', registers })
  const runs = runMetrics(register)
  return {
    register,
    booted: (ms: number) => boots.observe(ms / 1_000),
    bootFailed: () => bootFailures.inc(),
    ended: (cause: EndCause) => ends.inc({ cause }),
    reportsLost: (count: number) => lost.inc(count),
    runEnded: runs,
    /** A gauge asks its source when it is read. */
    gauge: (name: string, help: string, read: () => number) => addGauge(register, { name, help }, read),
    workersByState: (read: () => Readonly<Record<string, number>>) => addStates(register, read),
  }
}

function runMetrics(register: Registry) {
  const registers = [register]
  const seconds = new Histogram({
    name: 'valley_run_seconds',
    help: 'Time from the call of a val to the end of its answer, by how the run ended.',
    labelNames: ['status'],
    buckets: secondBuckets,
    registers,
  })
  const waits = new Histogram({
    name: 'valley_run_queue_seconds',
    help: 'Time that runs waited for a worker.',
    buckets: secondBuckets,
    registers,
  })
  const loads = new Histogram({
    name: 'valley_val_load_seconds',
    help: 'Time to load a val into a worker, for the runs that waited for it.',
    buckets: secondBuckets,
    registers,
  })
  const byStatus = new Map<string, { observe(value: number): void }>()
  return ({ status, timings }: RunReport) => {
    const child = byStatus.get(status) ?? seconds.labels(status)
    byStatus.set(status, child)
    child.observe(timings.runMs / 1_000)
    waits.observe(timings.queuedMs / 1_000)
    if (timings.bootMs > 0) loads.observe(timings.bootMs / 1_000)
  }
}

function addGauge(register: Registry, named: { name: string; help: string }, read: () => number): void {
  // oxlint-disable-next-line no-new -- a gauge registers itself and is read by the registry only.
  new Gauge({
    ...named,
    registers: [register],
    collect() {
      this.set(read())
    },
  })
}

function addStates(register: Registry, read: () => Readonly<Record<string, number>>): void {
  // oxlint-disable-next-line no-new -- a gauge registers itself and is read by the registry only.
  new Gauge({
    name: 'valley_workers',
    help: 'Workers by state.',
    labelNames: ['state'],
    registers: [register],
    collect() {
      for (const [state, count] of Object.entries(read())) this.set({ state }, count)
    },
  })
}

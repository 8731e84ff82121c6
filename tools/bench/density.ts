import { readFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import type { RunnerNames } from '@valley/runner/sandbox/runner-names.ts'
import { findRunner } from '@valley/runner/sandbox/testing/find-traces.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { callVal } from '../vals/call-val.ts'
import { readMetric } from '../vals/runner-metrics.ts'
import { findRemains } from '../vals/runner-remains.ts'
import { saveVal } from '../vals/save-val.ts'
import { quantile, type Report, round } from './report.ts'

const residentVals = 100
const rotatedVals = 2_000
const rotations = 2
const callersAtOnce = 4
const mib = 1024 * 1024
/** What a warm val of this size is taken to need; a hundred of them are the budget. */
const budgetMib = 48 * residentVals

/** Many vals on few workers: what a warm one weighs, and that a budget holds while two thousand come and go. */
export async function benchDensity(end: AbortSignal): Promise<Report> {
  const runnerEnv = { MEMORY_BUDGET_MIB: String(budgetMib), WARM_IDLE_SECONDS: '3600' }
  const serverEnv = { RATE_LIMIT_PER_MINUTE: '100000000' }
  await using world = await openWorld({ signal: end, runnerEnv, serverEnv })
  const names = await findRunner(world.runnerStateFolder)
  for (let n = 0; n < rotatedVals; n++) await saveVal(world, `dense${n}`, writeCode(n))

  for (let n = 0; n < residentVals; n++) await call(world, n)
  const resident = await readPss(findRemains(names).processes)
  const stocks: Stock[] = [await takeStock(world, names)]

  const times: number[] = []
  let peakBytes = 0
  const watch = setInterval(() => {
    void readMetric(world.runnerStatusUrl, 'valley_workers_memory_bytes').then((bytes) => {
      peakBytes = Math.max(peakBytes, bytes)
    })
  }, 250)
  const startedAtMs = performance.now()
  for (let rotation = 0; rotation < rotations; rotation++) {
    const queue = Array.from({ length: rotatedVals }, (_, n) => n).values()
    const caller = async () => {
      for (const n of queue) times.push(await call(world, n))
    }
    await Promise.all(Array.from({ length: callersAtOnce }, caller))
    stocks.push(await takeStock(world, names))
  }
  const seconds = (performance.now() - startedAtMs) / 1_000
  clearInterval(watch)
  return report({ resident, stocks, times, seconds, peakBytes })
}

type Stock = Awaited<ReturnType<typeof takeStock>>

/** All that could be forgotten: in the runner, and on the host under its names. */
async function takeStock({ runnerStatusUrl }: World, names: RunnerNames) {
  const remains = findRemains(names)
  const metric = (name: string) => readMetric(runnerStatusUrl, name)
  return {
    sandboxes: remains.sandboxes.length,
    processes: remains.processes.length,
    namespaces: remains.namespaces.length,
    mounts: remains.mounts.length,
    workers: await metric('valley_workers{state="warm"}'),
    evicted: await metric('valley_worker_ends{cause="evicted"}'),
    runnerFiles: await metric('process_open_fds'),
    runnerMib: round((await metric('process_resident_memory_bytes')) / mib, 0),
  }
}

async function call({ valsUrl }: World, n: number): Promise<number> {
  const startedAtMs = performance.now()
  const { status, text } = await callVal(valsUrl, `alice--dense${n}`, agent)
  if (status !== 200 || text !== `dense ${n}`) throw new Error(`dense${n} answered ${status}: ${text}`)
  return performance.now() - startedAtMs
}

const agent = new Agent({ keepAlive: true })

/** With a little state of its own, as vals have. */
function writeCode(n: number): string {
  return `const seen: number[] = Array.from({ length: 1000 }, (_, i) => i * ${n})
export default () => new Response('dense ' + ${n} + (seen.length > 0 ? '' : '!'))
`
}

/** Each process's share of memory: pages that several have count by parts. */
async function readPss(pids: readonly string[]): Promise<number[]> {
  const texts = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')),
  )
  return texts.flatMap((text) => {
    const kib = /^Pss:\s+(\d+) kB/m.exec(text)?.[1]
    return kib === undefined ? [] : [Number(kib) / 1024]
  })
}

interface Found {
  readonly resident: readonly number[]
  /** With the first vals warm, and after each rotation. */
  readonly stocks: readonly Stock[]
  readonly times: readonly number[]
  readonly seconds: number
  readonly peakBytes: number
}

function report({ resident, stocks, times, seconds, peakBytes }: Found): Report {
  const [first, after, again] = stocks
  const figures = {
    residentVals,
    pssMibP50: round(quantile(resident, 0.5), 1),
    pssMibMax: round(Math.max(...resident), 1),
    rotatedCalls: times.length,
    callsPerSecond: round(times.length / seconds, 1),
    p50Ms: round(quantile(times, 0.5), 1),
    p99Ms: round(quantile(times, 0.99), 1),
    evictions: again?.evicted ?? Number.NaN,
    peakOfBudget: round(peakBytes / mib / budgetMib, 3),
    // Between two rotations nothing may grow: what the first one made, the second one uses.
    filesLeaked: (again?.runnerFiles ?? Number.NaN) - (after?.runnerFiles ?? 0),
    namespacesLeaked: (again?.namespaces ?? Number.NaN) - (after?.namespaces ?? 0),
  }
  return {
    table: [
      { when: `${residentVals} vals warm`, ...first },
      { when: `${rotatedVals} vals called in turn`, ...after },
      { when: 'and again', ...again },
    ],
    figures,
    goals: { peakOfBudget: { max: 1 }, filesLeaked: { max: 50 }, namespacesLeaked: { max: 20 } },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { openClient } from './open-client.ts'
import { median, quantile, type Report, round } from './report.ts'
import { startBareDeno } from './vals/bare-deno.ts'
import { callVal } from '../vals/call-val.ts'
import { startProgram } from './start-program.ts'
import { runOpenLoop } from './vals/open-loop.ts'
import { saveVal } from '../vals/save-val.ts'
import { type Load, type Measured, runWrk } from './wrk.ts'

const valsInRotation = 100
const rounds = 5
const secondsEach = 4
const connections = 32
const openLoopPerSecond = 500
const openLoopSeconds = 10
const edits = 60
const recordWaitMs = 120_000
const code = 'export default (): Response => new Response("hello world")\n'
const workerProxy = fileURLToPath(new URL('vals/worker-proxy.ts', import.meta.url))
const rotation = fileURLToPath(new URL('vals/rotate-hosts.lua', import.meta.url))

/** Warm vals, every run recorded, against bare Deno.serve and a plain proxy in front of the best-known worker. */
export async function benchWarm(end: AbortSignal): Promise<Report> {
  await using folder = await openTemporaryFolder()
  await using world = await openWorld({ signal: end, serverEnv: { RATE_LIMIT_PER_MINUTE: '100000000' } })
  await using bare = await startBareDeno(folder.path, code)
  await using proxy = await startProgram({ command: process.execPath, args: [workerProxy] })
  for (let n = 0; n < valsInRotation; n++) await saveVal(world, `warm${n}`, code)
  for (let n = 0; n < valsInRotation; n++) await callVal(world.valsUrl, labelOf(n))

  const edge = new URL(world.valsUrl)
  const direct = `http://127.0.0.1:${edge.port}/`
  const targets = {
    bare: { url: `${bare.url}/` },
    proxy: { url: `${proxy.url}/` },
    valley: { url: direct, headers: { Host: `${labelOf(0)}.${edge.hostname}` } },
    valley100: { url: direct, script: rotation, env: { VALS: String(valsInRotation) } },
  }
  const throughput = await measureThroughput(world, targets)
  const latency = await measureLatency(world, bare.url)
  const saveToLiveMs = await measureSaveToLive(world)
  await requireAllRecorded(world, throughput.answered + latency.answered)
  return report(throughput.perSecond, latency, saveToLiveMs)
}

type Target = Pick<Load, 'url' | 'headers' | 'script' | 'env'>
type Name = 'bare' | 'proxy' | 'valley' | 'valley100'

/** They take turns, so that what else the machine does falls on all. */
async function measureThroughput({ runner }: World, targets: Record<Name, Target>) {
  const names = Object.keys(targets) as Name[]
  const found = Object.fromEntries(names.map((name) => [name, [] as Measured[]])) as Record<Name, Measured[]>
  let answered = valsInRotation
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const measured = await runWrk({ ...targets[name], seconds: secondsEach, connections })
      if (measured.failed > 0) {
        throw new Error(`${measured.failed} requests to ${name} failed.\n${runner?.recentLines.toString()}`)
      }
      if (name.startsWith('valley')) answered += measured.answered
      if (round >= 0) found[name].push(measured)
    }
  }
  const perSecond = Object.fromEntries(
    names.map((name) => [name, median(found[name].map((measured) => measured.perSecond))]),
  ) as Record<Name, number>
  return { perSecond, answered }
}

async function measureLatency({ valsUrl }: World, bareUrl: string) {
  const { port, hostname } = new URL(valsUrl)
  const load = { perSecond: openLoopPerSecond, seconds: openLoopSeconds }
  const ours = { ...load, port }
  const one = () => `${labelOf(0)}.${hostname}`
  const bare: number[] = []
  const valley: number[] = []
  const valley100: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    bare.push(...(await runOpenLoop({ ...load, port: new URL(bareUrl).port, hostOf: () => 'val' })))
    valley.push(...(await runOpenLoop({ ...ours, hostOf: one })))
    valley100.push(
      ...(await runOpenLoop({ ...ours, hostOf: (n) => `${labelOf(n % valsInRotation)}.${hostname}` })),
    )
  }
  return { bare, valley, valley100, answered: valley.length + valley100.length }
}

/** From the API's answer to a save until the first answer of the new code. */
async function measureSaveToLive(world: World): Promise<number[]> {
  const times: number[] = []
  await saveVal(world, 'edited', code)
  await callVal(world.valsUrl, 'alice--edited')
  for (let n = 0; n < edits; n++) {
    await sleep(100)
    await saveVal(world, 'edited', `export default () => new Response("edit ${n}")`)
    const savedAtMs = performance.now()
    while ((await callVal(world.valsUrl, 'alice--edited')).text !== `edit ${n}`) continue
    times.push(performance.now() - savedAtMs)
  }
  return times
}

/** What was answered is recorded; the recorder may take its time, and no run may be missing in the end. */
async function requireAllRecorded({ services }: World, answered: number): Promise<void> {
  await using client = await openClient(services.databaseUrl)
  const deadline = performance.now() + recordWaitMs
  for (;;) {
    const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM runs')
    const recorded = Number(rows[0]?.count)
    if (recorded >= answered) return
    if (performance.now() > deadline)
      throw new Error(`${answered} requests were answered, ${recorded} recorded.`)
    await sleep(500)
  }
}

function report(
  perSecond: Record<Name, number>,
  latency: Awaited<ReturnType<typeof measureLatency>>,
  saveToLive: readonly number[],
): Report {
  const added = (times: readonly number[], at: number) =>
    round(quantile(times, at) - quantile(latency.bare, at))
  const figures = {
    throughputOfBare: round(perSecond.valley / perSecond.bare, 3),
    throughputOfProxy: round(perSecond.valley / perSecond.proxy),
    throughput100OfBare: round(perSecond.valley100 / perSecond.bare, 3),
    addedP50Ms: added(latency.valley, 0.5),
    addedP99Ms: added(latency.valley, 0.99),
    added100P50Ms: added(latency.valley100, 0.5),
    added100P99Ms: added(latency.valley100, 0.99),
    saveToLiveP50Ms: round(quantile(saveToLive, 0.5)),
    saveToLiveP99Ms: round(quantile(saveToLive, 0.99)),
  }
  return {
    table: [
      ...Object.entries(perSecond).map(([what, rate]) => ({
        what: `${what}, ${connections} connections`,
        perSecond: Math.round(rate),
      })),
      row(`bare, ${openLoopPerSecond}/s open loop`, latency.bare),
      row(`valley, ${openLoopPerSecond}/s open loop`, latency.valley),
      row(`valley, ${openLoopPerSecond}/s over ${valsInRotation} vals`, latency.valley100),
      row('save to live', saveToLive),
    ] as Report['table'],
    figures,
    goals: {
      throughputOfBare: { min: 0.2 },
      throughputOfProxy: { min: 1.5 },
      addedP50Ms: { max: 0.7 },
      addedP99Ms: { max: 5 },
      saveToLiveP50Ms: { max: 50 },
    },
  }
}

function labelOf(n: number): string {
  return `alice--warm${n}`
}

function row(what: string, times: readonly number[]) {
  return { what, p50Ms: round(quantile(times, 0.5)), p99Ms: round(quantile(times, 0.99)) }
}

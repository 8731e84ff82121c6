import { newDenoHTTPWorker } from '@valtown/deno-http-worker'
import { findDenoBinary } from '@valley/runner/sandbox/deno-binary.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { quantile, type Report, round } from './report.ts'
import { startBareDeno } from './vals/bare-deno.ts'
import { callVal } from '../vals/call-val.ts'
import { waitForMetric } from '../vals/runner-metrics.ts'
import { saveVal } from '../vals/save-val.ts'

const rounds = 100
const warmUpRounds = 5
const idleWorkers = 4

/** The same in all three; the number makes each val one that nobody has seen. */
const writeHandler = (number: number) =>
  `const greeting: string = 'hello ${number}'\nexport default (_: Request): Response => new Response(greeting)\n`

/** The first answer of a val that this host has never seen, against starting Deno for it. In turns, in one run. */
export async function benchCold(end: AbortSignal): Promise<Report> {
  await using folder = await openTemporaryFolder()
  await using world = await openWorld({ signal: end, runnerEnv: { IDLE_WORKERS: String(idleWorkers) } })
  const ours: number[] = []
  const bare: number[] = []
  const worker: number[] = []
  for (let number = -warmUpRounds; number < rounds; number++) {
    const times = [
      await timeValley(world, number),
      await timeBare(folder.path, number),
      await timeWorker(number),
    ] as const
    if (number < 0) continue
    ours.push(times[0])
    bare.push(times[1])
    worker.push(times[2])
  }
  const p50 = ratio(ours, bare, 0.5)
  const p99 = ratio(ours, bare, 0.99)
  return {
    table: [
      describe('valley, isolated', ours),
      describe('bare deno run', bare),
      describe('@valtown/deno-http-worker', worker),
      { what: 'valley / bare', p50Ms: p50, p90Ms: ratio(ours, bare, 0.9), p99Ms: p99 },
      {
        what: 'valley / worker',
        p50Ms: ratio(ours, worker, 0.5),
        p90Ms: ratio(ours, worker, 0.9),
        p99Ms: ratio(ours, worker, 0.99),
      },
    ],
    figures: { p50OfBare: p50, p99OfBare: p99, p50OfWorker: ratio(ours, worker, 0.5) },
    goals: { p50OfBare: { max: 0.4 }, p99OfBare: { max: 0.7 } },
  }
}

/** Saved, then called once the runner has sandboxes to spare again, as it has between two people's first calls. */
async function timeValley(world: World, number: number): Promise<number> {
  const name = `cold${number + warmUpRounds}`
  await saveVal(world, name, writeHandler(number))
  await waitForMetric(world.runnerStatusUrl, 'valley_workers{state="idle"}', (count) => count >= idleWorkers)
  const startedAtMs = performance.now()
  const { text } = await callVal(world.valsUrl, `alice--${name}`)
  const tookMs = performance.now() - startedAtMs
  requireAnswer(text, number)
  return tookMs
}

async function timeBare(folder: string, number: number): Promise<number> {
  const startedAtMs = performance.now()
  await using deno = await startBareDeno(folder, writeHandler(number))
  const text = await (await fetch(deno.url)).text()
  const tookMs = performance.now() - startedAtMs
  requireAnswer(text, number)
  return tookMs
}

async function timeWorker(number: number): Promise<number> {
  const startedAtMs = performance.now()
  const code = `const handler = (_: Request): Response => new Response('hello ${number}')\nexport default { fetch: handler }\n`
  const worker = await newDenoHTTPWorker(code, {
    denoExecutable: findDenoBinary(),
    runFlags: ['--allow-net'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const sent = worker.request('http://val/', {}, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => (text += chunk))
    response.on('end', () => resolve(text))
  })
  sent.on('error', reject)
  sent.end()
  const text = await promise
  const tookMs = performance.now() - startedAtMs
  worker.terminate()
  requireAnswer(text, number)
  return tookMs
}

function requireAnswer(text: string, number: number): void {
  if (text !== `hello ${number}`) throw new Error(`The val answered: ${text}`)
}

function describe(what: string, times: readonly number[]) {
  const at = (share: number) => round(quantile(times, share))
  return { what, p50Ms: at(0.5), p90Ms: at(0.9), p99Ms: at(0.99) }
}

function ratio(ours: readonly number[], theirs: readonly number[], at: number): number {
  return round(quantile(ours, at) / quantile(theirs, at))
}

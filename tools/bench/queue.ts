import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { newId } from '@valley/server/database/ids.ts'
import { openDatabase } from '@valley/server/database/open-database.ts'
import { enqueueRuns } from '@valley/server/queue/enqueue.ts'
import { openTemporaryFolder } from '../services/open-temporary-folder.ts'
import { openWorld, type World } from '../world/open-world.ts'
import { openClient } from './open-client.ts'
import { openBareCalls } from './queue/bare-calls.ts'
import {
  createVal,
  type Place,
  post,
  readDelaysMs,
  runAndWait,
  untilQueueIsEmpty,
} from './queue/queued-runs.ts'
import { median, quantile, type Report, round } from './report.ts'
import { runWrk } from './wrk.ts'

const rounds = 3
const warmSeconds = 6
const warmConnections = 64
const warmCalls = 10_000
const warmAtOnce = 64
const scripts = 400
const scriptsAtOnce = 8
const openPerSecond = 100
const openSeconds = 20
const backlogRuns = 100_000
const backlogBatch = 5_000
const strangersRuns = 20
const strangersPauseMs = 500
const functionCode = 'export default (n: number) => n + 1\n'
const scriptCode = 'console.log(1 + 1)\n'
const askForRuns = fileURLToPath(new URL('queue/run-val.lua', import.meta.url))

/** Runs from their acceptance to their record, against the same workers called in a bare loop. */
export async function benchQueue(end: AbortSignal): Promise<Report> {
  const serverEnv = { RATE_LIMIT_PER_MINUTE: '100000000', REQUESTS_AT_ONCE_MAX: '100000' }
  await using world = await openWorld({ signal: end, serverEnv })
  const alice = { url: world.url, token: world.tokens.alice }
  const warmVal = await createVal(alice, 'warm', functionCode)
  const scriptVal = await createVal(alice, 'plain', scriptCode)
  const throughput = await measureThroughput(world, warmVal, scriptVal)
  const delays = await measureDelays(world, warmVal)
  const strangerDelays = await measureFairness(world, warmVal)
  return report(throughput, delays, strangerDelays)
}

/** They take turns, so that what else the machine does falls on all. */
async function measureThroughput(world: World, warmVal: string, scriptVal: string) {
  await using folder = await openTemporaryFolder()
  await using bare = await openBareCalls(folder.path)
  const found = {
    warm: [] as number[],
    warmBare: [] as number[],
    plain: [] as number[],
    plainBare: [] as number[],
  }
  for (let round = 0; round < rounds; round++) {
    found.warmBare.push(
      await bare.measure(functionCode, { mode: 'warm', calls: warmCalls, atOnce: warmAtOnce }),
    )
    found.warm.push(await measureWarm(world, warmVal))
    found.plainBare.push(
      await bare.measure(scriptCode, { mode: 'fresh', calls: scripts, atOnce: scriptsAtOnce }),
    )
    found.plain.push(await measureScripts(world, scriptVal))
  }
  return {
    warm: median(found.warm),
    warmBare: median(found.warmBare),
    plain: median(found.plain),
    plainBare: median(found.plainBare),
  }
}

/** From the first request to the record of the last run. */
async function measureWarm({ url, tokens, services }: World, valId: string): Promise<number> {
  await using client = await openClient(services.databaseUrl)
  const startedAtMs = performance.now()
  const { answered, failed } = await runWrk({
    url: `${url}/v1/vals/${valId}/runs`,
    seconds: warmSeconds,
    connections: warmConnections,
    script: askForRuns,
    env: { TOKEN: tokens.alice },
  })
  if (failed > 0) throw new Error(`${failed} runs were not accepted.`)
  await untilQueueIsEmpty(client)
  return (answered * 1_000) / (performance.now() - startedAtMs)
}

async function measureScripts({ url, tokens, services }: World, valId: string): Promise<number> {
  await using client = await openClient(services.databaseUrl)
  const place = { url, token: tokens.alice }
  const startedAtMs = performance.now()
  const ask = async () => post(place, `/v1/vals/${valId}/runs`, {})
  await Promise.all(Array.from({ length: scripts }, ask))
  await untilQueueIsEmpty(client)
  return (scripts * 1_000) / (performance.now() - startedAtMs)
}

/** Runs at fixed times, whether or not earlier ones are over. */
async function measureDelays({ url, tokens, services }: World, valId: string): Promise<number[]> {
  await using client = await openClient(services.databaseUrl)
  const place = { url, token: tokens.alice }
  const since = new Date()
  const startedAtMs = performance.now()
  const asked: Promise<unknown>[] = []
  for (let n = 0; n < openPerSecond * openSeconds; n++) {
    const waitMs = startedAtMs + (n * 1_000) / openPerSecond - performance.now()
    if (waitMs > 0) await sleep(waitMs)
    asked.push(post(place, `/v1/vals/${valId}/runs`, { args: [1] }))
  }
  await Promise.all(asked)
  await untilQueueIsEmpty(client)
  return await readDelaysMs(client, valId, since)
}

/** While very many runs of alice's wait, bob asks for one now and then. */
async function measureFairness(world: World, valId: string): Promise<number[]> {
  const { url, tokens, services } = world
  const bob: Place = { url, token: tokens.bob }
  const bobsVal = await createVal(bob, 'single', functionCode)
  await using client = await openClient(services.databaseUrl)
  await enqueueBacklog(services.databaseUrl, valId)
  const since = new Date()
  for (let n = 0; n < strangersRuns; n++) {
    await runAndWait(bob, bobsVal)
    await sleep(strangersPauseMs)
  }
  const { rows } = await client.query<{ count: string }>('SELECT count(*) FROM queue')
  if (Number(rows[0]?.count) === 0)
    throw new Error('The backlog was gone before the last run of the other owner.')
  return await readDelaysMs(client, bobsVal, since)
}

/** As the API does it, many at once. */
async function enqueueBacklog(databaseUrl: string, valId: string): Promise<void> {
  await using database = openDatabase({ url: databaseUrl, connectionsMax: 1, onIdleError: () => undefined })
  const { rows } = await database.pool.query<{ owner_id: string }>(
    'SELECT owner_id FROM vals WHERE id = $1',
    [valId],
  )
  const ownerId = rows[0]?.owner_id ?? ''
  for (let left = backlogRuns; left > 0; left -= backlogBatch) {
    const batch = Array.from({ length: Math.min(left, backlogBatch) }, () => {
      return { id: newId(), ownerId, valId, source: 'api', args: [1] } as const
    })
    await enqueueRuns(database.db, batch)
  }
}

function report(
  perSecond: Awaited<ReturnType<typeof measureThroughput>>,
  delays: readonly number[],
  strangerDelays: readonly number[],
): Report {
  const figures = {
    warmPerSecond: Math.round(perSecond.warm),
    warmOfBare: round(perSecond.warm / perSecond.warmBare, 3),
    plainPerSecond: Math.round(perSecond.plain),
    plainOfBare: round(perSecond.plain / perSecond.plainBare, 3),
    startP50Ms: round(quantile(delays, 0.5)),
    startP99Ms: round(quantile(delays, 0.99)),
    strangerStartMaxMs: round(Math.max(...strangerDelays)),
  }
  return {
    table: [
      { what: 'a warm function, accepted to recorded', perSecond: Math.round(perSecond.warm) },
      { what: 'the same, workers called in a bare loop', perSecond: Math.round(perSecond.warmBare) },
      { what: 'a plain script, accepted to recorded', perSecond: Math.round(perSecond.plain) },
      { what: 'the same, workers called in a bare loop', perSecond: Math.round(perSecond.plainBare) },
      row(`accepted to begun, ${openPerSecond}/s`, delays),
      row(`another owner's, while ${backlogRuns} wait`, strangerDelays),
    ] as Report['table'],
    figures,
    goals: {
      warmPerSecond: { min: 1_000 },
      plainPerSecond: { min: 60 },
      startP50Ms: { max: 10 },
      startP99Ms: { max: 60 },
      strangerStartMaxMs: { max: 200 },
    },
  }
}

function row(what: string, times: readonly number[]) {
  return {
    what,
    p50Ms: round(quantile(times, 0.5)),
    p99Ms: round(quantile(times, 0.99)),
    maxMs: round(Math.max(...times)),
  }
}

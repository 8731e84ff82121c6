import { fileURLToPath } from 'node:url'
import { openWorld, type World } from '../world/open-world.ts'
import { openClient } from './open-client.ts'
import { median, type Report, round } from './report.ts'
import { startProgram } from './start-program.ts'
import { type Measured, runWrk } from './wrk.ts'

const rounds = 7
const secondsEach = 3
const secondsWarmUp = 4
const connections = 32
const runsListed = 100_000
const putScript = fileURLToPath(new URL('put-val.lua', import.meta.url))

/** The API against the engine run bare: the same statements, on the same pool, loaded in turns in one run. */
export async function benchApi(end: AbortSignal): Promise<Report> {
  await using world = await openWorld({ signal: end, serverEnv: { RATE_LIMIT_PER_MINUTE: '100000000' } })
  const { valId, ownerId } = await prepare(world)
  await using bare = await startBareServer(world, ownerId)
  const cases = {
    getVal: { path: `/v1/vals/${valId}`, goal: 0.8 },
    listMyRuns: { path: '/v1/me/runs', goal: 0.8 },
    putVal: { path: '/v1/vals', goal: 0.7, script: putScript },
  }
  const table = []
  const figures: Record<string, number> = {}
  for (const [name, { path, ...load }] of Object.entries(cases)) {
    const found = await compare(world, bare.url, { path, ...('script' in load && { script: load.script }) })
    table.push({ request: name, ...found, goal: `≥ ${load.goal}` })
    figures[`${name}Ratio`] = found.ratio
  }
  const goals = Object.fromEntries(
    Object.entries(cases).map(([name, { goal }]) => [`${name}Ratio`, { min: goal }]),
  )
  return { table, figures, goals }
}

interface Target {
  readonly path: string
  readonly script?: string
}

/** The two take turns, so that what else the machine does falls on both. */
async function compare({ tokens, ...world }: World, bareUrl: string, { path, script }: Target) {
  const url = world.url.replace('localhost', '127.0.0.1')
  const headers = { authorization: `Bearer ${tokens.alice}` }
  const load = { seconds: secondsEach, connections, headers, ...(script !== undefined && { script }) }
  const ours: Measured[] = []
  const bare: Measured[] = []
  // Both are compiled by V8 before they are measured.
  for (const base of [bareUrl, url]) await runWrk({ ...load, seconds: secondsWarmUp, url: base + path })
  for (let round = 0; round < rounds; round++) {
    bare.push(await runWrk({ ...load, url: bareUrl + path }))
    ours.push(await runWrk({ ...load, url: url + path }))
  }
  const failed = [...ours, ...bare].reduce((sum, measured) => sum + measured.failed, 0)
  if (failed > 0) throw new Error(`${failed} requests to ${path} failed: the figures would mean nothing.`)
  return {
    ratio: round(median(ours.map(({ perSecond }, i) => perSecond / (bare[i]?.perSecond ?? Number.NaN)))),
    valleyPerSecond: Math.round(median(ours.map(({ perSecond }) => perSecond))),
    barePerSecond: Math.round(median(bare.map(({ perSecond }) => perSecond))),
    valleyP50Ms: round(median(ours.map(({ p50Ms }) => p50Ms))),
    bareP50Ms: round(median(bare.map(({ p50Ms }) => p50Ms))),
    valleyP99Ms: round(median(ours.map(({ p99Ms }) => p99Ms))),
    bareP99Ms: round(median(bare.map(({ p99Ms }) => p99Ms))),
  }
}

async function prepare({ url, tokens, services }: World) {
  const headers = { authorization: `Bearer ${tokens.alice}`, 'content-type': 'application/json' }
  const code = 'export default () => new Response("Hello from the valley")\n'.repeat(8)
  const created = await fetch(`${url}/v1/vals`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: 'measured', code, readme: 'A val to measure with.' }),
  })
  const val = (await created.json()) as { id: string; author: { id: string } }
  await using client = await openClient(services.databaseUrl)
  await client.query(
    `INSERT INTO runs (id, owner_id, val_id, version, source, status, started_at, ended_at)
     SELECT (left(uuid_floor(now() - n * interval '100 ms')::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
       $1, $2, 1, 'http', 'succeeded', now(), now() FROM generate_series(1, $3::integer) n`,
    [val.author.id, val.id, runsListed],
  )
  await client.query('VACUUM ANALYZE')
  return { valId: val.id, ownerId: val.author.id }
}

async function startBareServer({ services }: World, ownerId: string) {
  const file = fileURLToPath(new URL('bare-server.ts', import.meta.url))
  const env = {
    ...process.env,
    DATABASE_URL: services.databaseUrl,
    BARE_CALLER: JSON.stringify({ id: ownerId }),
  }
  return startProgram({ command: process.execPath, args: [file], env })
}

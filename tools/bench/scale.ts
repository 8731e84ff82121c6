import { writeFile } from 'node:fs/promises'
import { openWorld, type World } from '../world/open-world.ts'
import { type Report, round } from './report.ts'
import { chart } from './scale/chart.ts'
import { load, type Size } from './scale/load.ts'
import { type Compared, compareDeepPages, compareFirstPage } from './scale/measure.ts'
import { findBadPlans } from './scale/plans.ts'
import { measureSizes } from './scale/sizes.ts'
import { figureName, listRoutes } from './scale/routes.ts'

const sizes = {
  small: { users: 100, vals: 5_000, runs: 50_000, own: 2_000 },
  large: { users: 100_000, vals: 1_000_000, runs: 10_000_000, own: 20_000 },
} as const satisfies Record<string, Size>

const ratioMax = 1.5

interface Row extends Compared {
  readonly route: string
  readonly page: 'first' | 'deep'
}

/** Whether a list costs the same at any size and any depth: two services, one small, one large, asked in turns. */
export async function benchScale(end: AbortSignal): Promise<Report> {
  const options = { signal: end, durable: false, serverEnv: { RATE_LIMIT_PER_MINUTE: '100000000' } }
  await using small = await openWorld(options)
  await using large = await openWorld(options)
  const smallTarget = await prepare(small, sizes.small)
  const largeTarget = await prepare(large, sizes.large)
  console.table(await measureSizes(large.services.databaseUrl))
  const badPlans = await findBadPlans(large.services.databaseUrl, largeTarget)
  for (const problem of badPlans) console.log(`Plan: ${problem}`)
  const rows: Row[] = []
  for (const [route, largePath] of Object.entries(listRoutes(largeTarget))) {
    const paths = [listRoutes(smallTarget)[route] ?? '', largePath] as const
    rows.push({ route, page: 'first', ...(await compareFirstPage(smallTarget, largeTarget, paths)) })
    const deep = await compareDeepPages(smallTarget, largeTarget, paths)
    if (deep) rows.push({ route, page: 'deep', ...deep })
    console.error(`  measured ${route}`)
  }
  await writeFile('docs/scale.svg', chart(rows))
  return reportOf(rows, badPlans.length)
}

function reportOf(rows: readonly Row[], badPlans: number): Report {
  const ratios = rows.map(({ route, page, ratio }) => [figureName(route, page), ratio] as const)
  return {
    table: rows.map((row) => ({ ...row, goal: `≤ ${ratioMax}` })),
    figures: { ...Object.fromEntries(ratios), badPlans },
    goals: { ...Object.fromEntries(ratios.map(([name]) => [name, { max: ratioMax }])), badPlans: { max: 0 } },
  }
}

async function prepare({ url, tokens, services }: World, size: Size) {
  const startedAt = performance.now()
  const headers = { authorization: `Bearer ${tokens.alice}` }
  const { id: me } = (await (await fetch(`${url}/v1/me`, { headers })).json()) as { id: string }
  await load(services.databaseUrl, me, size)
  const listed = await fetch(`${url}/v1/me/vals?limit=1`, { headers })
  const { data } = (await listed.json()) as { data: { id: string }[] }
  const seconds = round((performance.now() - startedAt) / 1_000, 0)
  console.error(`Loaded ${size.users} users, ${size.vals} vals and ${size.runs} runs in ${seconds} s`)
  return { url, token: tokens.alice, me, val: data[0]?.id ?? '' }
}

import { cp, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openClient } from '../bench/open-client.ts'
import { openFleet, type Fleet } from '../world/open-fleet.ts'
import { auditFirings } from './audit-firings.ts'
import { auditRuns } from './audit-runs.ts'
import { comeToRest } from './come-to-rest.ts'
import { faultsOf } from './faults.ts'
import { type Facts, readFacts } from './facts.ts'
import { Lives } from './lives.ts'
import { Load } from './load.ts'
import { type Counter, openCounter } from './open-counter.ts'
import { planFaults } from './plan-faults.ts'
import { Random } from './random.ts'
import { tabulateAnswers, tabulateEnds } from './report.ts'
import { setScene } from './scene.ts'
import type { ChaosSettings } from './settings.ts'
import { strikeFaults } from './strike-faults.ts'

/** Nobody of the load is held up for asking too much. */
const serverEnv = { RATE_LIMIT_PER_MINUTE: '100000000', REQUESTS_AT_ONCE_MAX: '1000000' }
const calmMs = [2_000, 6_000] as const
/** After each, a cluster elects anew: while it does, the loss of another node is more than it bears. */
const clusterCalmMs = [10_000, 15_000] as const

/** Load and faults together, then calm; prints what happened and returns what is wrong, one line each. */
export async function runChaos(settings: ChaosSettings, signal?: AbortSignal): Promise<readonly string[]> {
  const { seed, natsNodes, logs } = settings
  console.log(`Seed ${seed}: ${settings.seconds} s of chaos, ${natsNodes} NATS.`)
  await using counter = await openCounter()
  await using fleet = await openFleet({ servers: 2, runners: 2, natsNodes, serverEnv, signal })
  try {
    return await endure({ fleet, counter, signal }, settings)
  } finally {
    if (logs !== null) await cp(fleet.folder, logs, { recursive: true, filter: isLog })
  }
}

interface Stage {
  readonly fleet: Fleet
  readonly counter: Counter
  readonly signal: AbortSignal | undefined
}

async function endure(
  { fleet, counter, signal }: Stage,
  { seconds, seed, natsNodes, logs }: ChaosSettings,
): Promise<readonly string[]> {
  const { databaseUrl } = fleet
  const urls = fleet.servers.map((server) => server.process.url)
  const [url = ''] = urls
  const scene = await setScene({ databaseUrl, url, counterUrl: counter.url })
  const lives = new Lives([...fleet.servers, ...fleet.runners])
  await using load = new Load(scene.owners, urls, new Random(seed))
  const rounds = planFaults(
    faultsOf(fleet, lives),
    new Random(seed + 1),
    natsNodes === 1 ? calmMs : clusterCalmMs,
  )
  const struck = await strikeFaults(rounds, { seconds, signal })
  await load.finish()

  await using client = await openClient(databaseUrl)
  const restedAt = new Date()
  const restless = await comeToRest(client, url, scene)
  const facts = await readFacts(client)
  if (logs !== null) await writeRuns(logs, facts)
  lives.finish()
  console.table(
    struck.map(({ name, fromSeconds, toSeconds }) => ({
      fault: name,
      from: fromSeconds.toFixed(1),
      to: toSeconds.toFixed(1),
    })),
  )
  console.table(tabulateAnswers(load))
  console.table(tabulateEnds(facts, counter))
  console.log(`${facts.firings.length} firings, ${counter.executions.size} runs executed.`)
  return [
    ...lives.unexpectedEnds,
    ...restless,
    ...auditRuns(facts, { load, scene, counter }),
    ...auditFirings(facts, scene, restedAt),
  ]
}

async function writeRuns(folder: string, { runs }: Facts): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, 'runs.json'), JSON.stringify([...runs.values()]))
}

function isLog(file: string): boolean {
  return !/\/(postgres|nats|state)(\/|$)/.test(file)
}

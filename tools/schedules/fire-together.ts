import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { openClient } from '../bench/open-client.ts'
import { startValleyProcess } from '../valley-processes/start-valley-process.ts'
import { chooseServerEnv } from '../world/choose-env.ts'
import { openWorld } from '../world/open-world.ts'
import { loadSchedules } from './load-schedules.ts'

export const schedules = 20_000
const owners = 2_000
const dueInSeconds = 5
/** One of the two servers is killed once so many have fired. */
const firedBeforeKill = 5_000
const timeoutMs = 120_000

export interface Together {
  /** From the planned time until it was written down that it has fired, for each. */
  readonly lagsMs: readonly number[]
  readonly firedBeforeKill: number
  readonly counts: Counts
}

interface Counts {
  readonly firings: number
  readonly runs: number
  readonly queued: number
  readonly valsWithRuns: number
  /** Schedules that are not planned for later by now. */
  readonly stillDue: number
}

/** Twenty thousand schedules that are due at once, two servers, and one of them killed with -9 in the middle of it. */
export async function fireTogether(signal?: AbortSignal): Promise<Together> {
  await using world = await openWorld({ withRunner: false, signal })
  const { databaseUrl, natsUrl } = world.services
  const env = await chooseServerEnv({ DATABASE_URL: databaseUrl, NATS_URL: natsUrl })
  const folder = path.join(world.folder, 'second')
  await using second = await startValleyProcess('server', { folder, env, signal })
  await using client = await openClient(databaseUrl)
  await loadSchedules(client, { schedules, owners, dueInSeconds })
  const fired = await untilFired(client, firedBeforeKill)
  await second.kill()
  await untilFired(client, schedules)
  return { lagsMs: await readLags(client), firedBeforeKill: fired, counts: await count(client) }
}

async function untilFired(client: Client, wanted: number): Promise<number> {
  const deadline = Date.now() + timeoutMs
  while (true) {
    const { rows } = await client.query<{ fired: number }>('SELECT count(*)::integer AS fired FROM firings')
    const fired = rows[0]?.fired ?? 0
    if (fired >= wanted) return fired
    if (Date.now() > deadline) throw new Error(`Only ${fired} of ${wanted} have fired after ${timeoutMs} ms.`)
    await sleep(20)
  }
}

async function readLags(client: Client): Promise<readonly number[]> {
  const { rows } = await client.query<{ lag_ms: number }>(`
    SELECT extract(epoch FROM decided_at - planned_at)::float8 * 1000 AS lag_ms FROM firings
    WHERE outcome = 'fired' ORDER BY 1`)
  return rows.map(({ lag_ms }) => lag_ms)
}

async function count(client: Client): Promise<Counts> {
  const { rows } = await client.query<Counts>(`
    SELECT (SELECT count(*)::integer FROM firings) AS firings,
      (SELECT count(*)::integer FROM runs WHERE source = 'schedule') AS runs,
      (SELECT count(*)::integer FROM queue WHERE source = 'schedule') AS queued,
      (SELECT count(DISTINCT val_id)::integer FROM runs WHERE source = 'schedule') AS "valsWithRuns",
      (SELECT count(*)::integer FROM schedules WHERE next_at IS NULL OR next_at <= now()) AS "stillDue"`)
  return rows[0] ?? { firings: 0, runs: 0, queued: 0, valsWithRuns: 0, stillDue: 0 }
}

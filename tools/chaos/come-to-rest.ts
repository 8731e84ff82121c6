import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { PlannedVal, Scene } from './scene.ts'

const catchUpMsMax = 120_000
const stopMsMax = 60_000
const queueMsMax = 240_000
const lookMs = 200
const stillMs = 2_000

/**
 * Once nothing breaks any more: waits until the schedules have caught up, ends them, and waits until the queue is empty.
 * Returns what did not come to rest in time.
 */
export async function comeToRest(client: pg.Client, url: string, { planned }: Scene): Promise<string[]> {
  const problems: string[] = []
  const waitFor = async (what: string, timeoutMs: number, isThere: () => Promise<boolean>) => {
    const deadlineMs = performance.now() + timeoutMs
    let isInTime = true
    while (isInTime && !(await isThere())) {
      await sleep(lookMs)
      isInTime = performance.now() < deadlineMs
    }
    if (!isInTime) problems.push(`${what} after ${timeoutMs / 1_000} s`)
  }
  const count = async (sql: string) => {
    const { rows } = await client.query<{ count: string }>(sql)
    return Number(rows[0]?.count)
  }
  const late = `SELECT count(*) FROM schedules WHERE next_at < now() - interval '2 seconds'`
  await waitFor('schedules are still behind', catchUpMsMax, async () => (await count(late)) === 0)
  for (const val of planned) {
    await waitFor(`the schedule of ${val.valId} cannot be ended`, stopMsMax, async () => isEnded(url, val))
  }
  await waitFor(
    'the queue is not empty',
    queueMsMax,
    async () => (await count('SELECT count(*) FROM queue')) === 0,
  )
  // What would still be executed now, though it is over, is executed within this time.
  await sleep(stillMs)
  return problems
}

async function isEnded(url: string, { valId, token }: PlannedVal): Promise<boolean> {
  const body = JSON.stringify({ cron: '* * * * * *', overlap: 'queue', enabled: false })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  try {
    const response = await fetch(`${url}/v1/vals/${valId}/schedule`, { method: 'PUT', headers, body })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}

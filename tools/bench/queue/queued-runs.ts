import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { RunDetails } from '@valley/contract/runs.ts'

const queueMsMax = 300_000
const lookMs = 20

export interface Place {
  readonly url: string
  readonly token: string
}

/** Creates a val and returns its id, once it has run for the first time. */
export async function createVal(place: Place, name: string, code: string): Promise<string> {
  const { id } = await post<{ id: string }>(place, '/v1/vals', { name, code })
  await runAndWait(place, id)
  // The first run finds out what kind of val it is; the second is warm.
  await runAndWait(place, id)
  return id
}

export async function runAndWait(place: Place, valId: string): Promise<RunDetails> {
  const run = await post<RunDetails>(place, `/v1/vals/${valId}/runs?wait=60`, { args: [1] })
  if (run.status !== 'succeeded') throw new Error(`A run is ${run.status}: ${JSON.stringify(run.error)}`)
  return run
}

export async function post<Answer>({ url, token }: Place, path: string, body: object): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as Answer
}

/** All that was accepted is over and recorded once the queue is empty. */
export async function untilQueueIsEmpty(client: pg.Client): Promise<void> {
  const deadlineMs = performance.now() + queueMsMax
  for (;;) {
    const { rows } = await client.query<{ is_empty: boolean }>(
      'SELECT NOT EXISTS (SELECT FROM queue) AS is_empty',
    )
    if (rows[0]?.is_empty) return
    if (performance.now() > deadlineMs) throw new Error(`The queue is not empty after ${queueMsMax} ms.`)
    await sleep(lookMs)
  }
}

/** How long after its acceptance each run of a val was begun, of those that were accepted since. */
export async function readDelaysMs(client: pg.Client, valId: string, since: Date): Promise<number[]> {
  const { rows } = await client.query<{ status: string; delay: string }>(
    `SELECT status, extract(epoch FROM started_at) * 1000
       - ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint AS delay
     FROM runs WHERE val_id = $1 AND started_at >= $2`,
    [valId, since],
  )
  const failed = rows.filter(({ status }) => status !== 'succeeded')
  if (failed.length > 0)
    throw new Error(`${failed.length} runs did not succeed, the first is ${failed[0]?.status}`)
  return rows.map(({ delay }) => Number(delay))
}

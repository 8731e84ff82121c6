import assert from 'node:assert/strict'
import { sql } from 'kysely'
import type { Val } from '@valley/contract/vals.ts'
import { newCaller, type TestCaller } from '../../testing/call-as.ts'
import { createVal } from '../../testing/create-val.ts'
import type { TestServer } from '../../testing/open-test-server.ts'

/** A val of a new user with a schedule. */
export async function scheduleVal(
  server: TestServer,
  schedule: object,
): Promise<{ val: Val; owner: TestCaller }> {
  const owner = await newCaller(server, 'owner')
  const val = await createVal(owner)
  await putSchedule(owner, val, schedule)
  return { val, owner }
}

export async function putSchedule(owner: TestCaller, { id }: Val, schedule: object): Promise<void> {
  const { status, text } = await owner.put(`/v1/vals/${id}/schedule`, schedule)
  assert.equal(status, 200, text)
}

/** Makes them due, as if what is planned next had been planned for so many seconds ago. */
export async function makeDue({ db }: TestServer, vals: readonly Val[], secondsAgo: number): Promise<void> {
  await sql`
    UPDATE schedules SET next_at = date_trunc('second', now()) - make_interval(secs => ${secondsAgo})
    WHERE val_id = ANY(${vals.map(({ id }) => id)}::uuid[])`.execute(db)
}

export interface FiringSeen {
  readonly planned_at: Date
  readonly outcome: string
  readonly through_at: Date | null
  readonly count: number | null
  /** Of the run that is in the queue for it; null: there is none. */
  readonly args: readonly { readonly plannedAt: string; readonly lastRunAt: string | null }[] | null
}

/** What has become of a val's planned times, in their order. */
export async function firingsOf({ db }: TestServer, { id }: Val): Promise<readonly FiringSeen[]> {
  const { rows } = await sql<FiringSeen>`
    SELECT f.planned_at, f.outcome, f.through_at, f.count, d.args FROM firings f
    LEFT JOIN queue q ON q.run_id = f.run_id AND q.source = 'schedule' AND q.val_id = f.val_id
    LEFT JOIN run_details d ON d.id = q.run_id
    WHERE f.val_id = ${id} ORDER BY f.planned_at`.execute(db)
  return rows
}

/** How many scheduled runs of a val there ever were. */
export async function countRuns({ db }: TestServer, { id }: Val): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::integer FROM runs WHERE val_id = ${id} AND source = 'schedule'`.execute(db)
  return rows[0]?.count ?? 0
}

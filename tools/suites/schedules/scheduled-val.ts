import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClockWorld } from './open-clock-world.ts'

const timeoutMs = 30_000

export interface FiringSeen {
  readonly outcome: string
  readonly plannedAt: number
  readonly throughAt: number | null
  readonly count: number | null
}

/** A val with a schedule, in the world whose clock is stepped. Times are in seconds since 1970. */
export class ScheduledVal {
  readonly #world: ClockWorld
  readonly #id: string

  private constructor(world: ClockWorld, id: string) {
    this.#world = world
    this.#id = id
  }

  static async create(world: ClockWorld, schedule: object): Promise<ScheduledVal> {
    const send = async (method: string, path: string, body: object) => {
      const headers = { authorization: `Bearer ${world.token}`, 'content-type': 'application/json' }
      const response = await fetch(world.url + path, { method, headers, body: JSON.stringify(body) })
      assert.ok(response.ok, `${method} ${path} answered ${response.status}`)
      return (await response.json()) as { id: string }
    }
    const { id } = await send('POST', '/v1/vals', { code: 'export default () => 1' })
    await send('PUT', `/v1/vals/${id}/schedule`, schedule)
    return new ScheduledVal(world, id)
  }

  async firings(): Promise<readonly FiringSeen[]> {
    const { rows } = await this.#world.client.query<FiringSeen>(
      `SELECT outcome, count, extract(epoch FROM planned_at)::float8 AS "plannedAt",
         extract(epoch FROM through_at)::float8 AS "throughAt"
       FROM firings WHERE val_id = $1 ORDER BY decided_at`,
      [this.#id],
    )
    return rows
  }

  /** The planned times that its runs were told, whether or not there is a row for them. */
  async plannedTimesOfRuns(): Promise<readonly number[]> {
    const { rows } = await this.#world.client.query<{ at: number }>(
      `SELECT extract(epoch FROM (d.args -> 0 ->> 'plannedAt')::timestamptz)::float8 AS at
       FROM runs r JOIN run_details d ON d.id = r.id WHERE r.val_id = $1 ORDER BY at`,
      [this.#id],
    )
    return rows.map(({ at }) => at)
  }

  /** Waits for so many more runs than there are now. */
  async untilFiredAgain(more: number): Promise<void> {
    const wanted = (await this.plannedTimesOfRuns()).length + more
    await this.until(`${more} more runs`, async () => (await this.plannedTimesOfRuns()).length >= wanted)
  }

  async until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + timeoutMs
    while (!(await isTrue())) {
      assert.ok(performance.now() < deadline, `waited ${timeoutMs} ms in vain for ${what}`)
      await sleep(50)
    }
  }

  async stop(): Promise<void> {
    await this.#world.client.query('UPDATE schedules SET next_at = NULL WHERE val_id = $1', [this.#id])
  }
}

import { newId } from '../database/ids.ts'
import type { Db } from '../database/statement.ts'
import { enqueueRuns, type NewRun } from '../queue/enqueue.ts'
import type { Decision, Firing } from './decide-firing.ts'
import type { RunAllowance } from '../usage/run-allowance.ts'
import * as queries from './queries.ts'

/** A schedule that is due, and what to do. */
export interface Step extends Decision {
  readonly schedule: queries.DueRow
}

/** How many more runs an owner may have. */
export type Allowance = Pick<RunAllowance, 'take'>

export interface Fired {
  /** How many schedules were dealt with. */
  readonly decided: number
  readonly outcomes: readonly Written[]
}

interface Written {
  readonly outcome: FiringRow['outcome']
  readonly lagMs: number
}

/** As the database takes it. */
interface FiringRow {
  readonly valId: string
  readonly ownerId: string
  readonly plannedAt: Date
  readonly outcome: Firing['outcome'] | 'refused'
  readonly runId: string | null
  readonly throughAt: Date | null
  readonly count: number | null
}

/** What became of each planned time comes first: a run is enqueued only for those that nobody has written before. */
export async function writeFirings(tx: Db, steps: readonly Step[], allowance: Allowance): Promise<Fired> {
  const rows = toRows(steps, await takeRoom(tx, steps, allowance))
  const { rows: inserted } = await queries.insertFirings(tx, { firings: JSON.stringify(rows) })
  const isNew = new Set(inserted.map(({ val_id, planned_at }) => keyOf(val_id, planned_at)))
  const fresh = rows.filter(({ valId, plannedAt }) => isNew.has(keyOf(valId, plannedAt)))
  await enqueueRuns(tx, toRuns(steps, fresh))
  const [now] = (await queries.advanceSchedules(tx, { schedules: toAdvances(steps, fresh) })).rows
  const outcomes = fresh.map(({ outcome, plannedAt }) => ({
    outcome,
    lagMs: (now?.at ?? plannedAt).getTime() - plannedAt.getTime(),
  }))
  return { decided: steps.length, outcomes }
}

function keyOf(valId: string, plannedAt: Date): string {
  return `${valId} ${plannedAt.getTime()}`
}

/** How many of the runs that each owner is to get they may have. */
async function takeRoom(tx: Db, steps: readonly Step[], allowance: Allowance): Promise<Map<string, number>> {
  const fired = steps.filter(({ firings }) => firings.some(({ outcome }) => outcome === 'fired'))
  const byOwner = Map.groupBy(fired, ({ schedule }) => schedule.owner_id)
  const wanted = new Map([...byOwner].map(([ownerId, runs]) => [ownerId, runs.length]))
  return new Map(await allowance.take(tx, wanted))
}

/** Runs beyond the room of their owner are refused. */
function toRows(steps: readonly Step[], room: Map<string, number>): readonly FiringRow[] {
  const hasRoom = (ownerId: string) => {
    const left = room.get(ownerId) ?? 0
    room.set(ownerId, left - 1)
    return left > 0
  }
  return steps.flatMap(({ schedule: { val_id: valId, owner_id: ownerId }, firings }) =>
    firings.map((firing): FiringRow => {
      const whose = { valId, ownerId, runId: null, throughAt: null, count: null }
      if (firing.outcome !== 'fired') return { ...whose, ...firing }
      return hasRoom(ownerId)
        ? { ...whose, ...firing, runId: newId() }
        : { ...whose, ...firing, outcome: 'refused' }
    }),
  )
}

function toRuns(steps: readonly Step[], fresh: readonly FiringRow[]): readonly NewRun[] {
  const lastRuns = new Map(steps.map(({ schedule }) => [schedule.val_id, schedule.last_run_at]))
  return fresh.flatMap(({ runId: id, valId, ownerId, plannedAt }) => {
    if (id === null) return []
    const args = [{ plannedAt, lastRunAt: lastRuns.get(valId) ?? null }]
    return [{ id, valId, ownerId, source: 'schedule', args }]
  })
}

function toAdvances(steps: readonly Step[], fresh: readonly FiringRow[]): string {
  const ran = new Set(fresh.filter(({ runId }) => runId !== null).map(({ valId }) => valId))
  const missed = new Map(
    fresh.map(({ valId, throughAt }) => [valId, throughAt] as const).filter(([, at]) => at),
  )
  return JSON.stringify(
    steps.map(({ schedule: { val_id: valId }, nextAt }) => ({
      valId,
      nextAt,
      hasRun: ran.has(valId),
      lastMissedAt: missed.get(valId) ?? null,
    })),
  )
}

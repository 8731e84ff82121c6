import type { RunReport } from '@valley/bus/run-report.ts'
import type { Db } from '../database/statement.ts'
import { insertRuns } from './queries.ts'
import { storableJson } from './storable-json.ts'

export interface Recorded {
  /** New rows. */
  readonly recorded: number
  /** Of vals that are gone. */
  readonly orphaned: number
  /** Why others can never be recorded. */
  readonly faults: readonly unknown[]
}

/**
 * Records each run once, however often it is reported, in one statement. When one report cannot be stored, both halves
 * are tried by themselves, until what is at fault stands alone. Throws when the database does not answer.
 */
export async function recordReports(db: Db, reports: readonly RunReport[]): Promise<Recorded> {
  try {
    return await recordTogether(db, reports)
  } catch (error) {
    if (!isAboutData(error)) throw error
    if (reports.length === 1) return { recorded: 0, orphaned: 0, faults: [error] }
    const half = Math.ceil(reports.length / 2)
    return add(await recordReports(db, reports.slice(0, half)), await recordReports(db, reports.slice(half)))
  }
}

async function recordTogether(db: Db, reports: readonly RunReport[]): Promise<Recorded> {
  if (reports.length === 0) return { recorded: 0, orphaned: 0, faults: [] }
  const [row] = (await insertRuns(db, { reports: storableJson(reports.map(toRow)) })).rows
  const { recorded = 0, known = 0 } = row ?? {}
  return { recorded, orphaned: reports.length - known, faults: [] }
}

/** A run that printed nothing has no logs to store. */
function toRow({ logs, ...report }: RunReport) {
  return logs.length === 0 ? report : { ...report, logs }
}

/** SQLSTATE classes of what a row itself is to blame for: its values, its partition, its size. */
function isAboutData(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|54)/.test(String(error.code))
}

function add(one: Recorded, other: Recorded): Recorded {
  return {
    recorded: one.recorded + other.recorded,
    orphaned: one.orphaned + other.orphaned,
    faults: [...one.faults, ...other.faults],
  }
}

import type { RunReport } from '@valley/bus/run-report.ts'
import { isFailing, raiseAlerts } from '../alerts/raise-alerts.ts'
import { isAboutData } from '../database/database-fault.ts'
import type { Db } from '../database/statement.ts'
import { newId } from '../database/ids.ts'
import { raiseForEnded } from '../queue/raise-for-ended.ts'
import { endReported, type EndedRow } from '../queue/transitions.ts'
import { insertRuns } from './queries.ts'
import { storableJson } from './storable-json.ts'

export interface Recorded {
  /** New rows, and runs that were under way and now are over. */
  readonly recorded: number
  readonly ended: readonly EndedRow[]
  readonly alertsRaised: number
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
    const [first, ...others] = reports
    if (first === undefined || others.length === 0) return recordBare(db, first, error)
    const half = Math.ceil(reports.length / 2)
    return add(await recordReports(db, reports.slice(0, half)), await recordReports(db, reports.slice(half)))
  }
}

/** A run that was queued has to end, also if what it printed or returned cannot be kept. */
async function recordBare(db: Db, report: RunReport | undefined, fault: unknown): Promise<Recorded> {
  if (report === undefined || report.source === 'http') return { ...nothing, faults: [fault] }
  const bare = {
    ...report,
    error: report.error && { name: 'NotKept', message: 'Why it did not succeed could not be kept.' },
    returnValue: 'What it printed and returned could not be kept.',
    returnValueCut: true,
    logs: [],
    memoryPeakBytes: null,
  }
  const ended = await endQueued(db, [bare]).catch((error: unknown) => {
    if (isAboutData(error)) return nothing
    throw error
  })
  return { ...ended, faults: [fault] }
}

async function recordTogether(db: Db, reports: readonly RunReport[]): Promise<Recorded> {
  const { http = [], queued = [] } = Object.groupBy(reports, ({ source }) =>
    source === 'http' ? 'http' : 'queued',
  )
  return add(await insertNew(db, http), await endQueued(db, queued))
}

const nothing: Recorded = { recorded: 0, ended: [], alertsRaised: 0, orphaned: 0, faults: [] }

async function insertNew(db: Db, reports: readonly RunReport[]): Promise<Recorded> {
  if (reports.length === 0) return nothing
  const [row] = (await insertRuns(db, { reports: storableJson(reports.map(toRow)) })).rows
  const { recorded = 0, known = 0 } = row ?? {}
  // Should this process end in between, the reports come again, and this is said once more.
  const alertsRaised = await raiseAlerts(db, reports)
  return { ...nothing, recorded, alertsRaised, orphaned: reports.length - known }
}

/** Of those that are over already nothing is heard: reported twice, or given up before. */
async function endQueued(db: Db, reports: readonly RunReport[]): Promise<Recorded> {
  if (reports.length === 0) return nothing
  const byRunAndRunner = Object.fromEntries(
    reports.map((report) => [`${report.id} ${report.runnerId}`, { ...toRow(report), retryId: newId() }]),
  )
  const run_ids = reports.map(({ id }) => id)
  const reported = { run_ids, reports: storableJson(byRunAndRunner) }
  const end = async (on: Db) => (await endReported(on, reported)).rows
  const { ended, alertsRaised } = reports.some(isFailing)
    ? await db.transaction().execute(async (transaction) => {
        const rows = await end(transaction)
        return { ended: rows, alertsRaised: await raiseForEnded(transaction, rows) }
      })
    : { ended: await end(db), alertsRaised: 0 }
  return { ...nothing, recorded: ended.length, ended, alertsRaised }
}

/** A run that printed nothing has no logs to store. */
function toRow({ logs, ...report }: RunReport) {
  return logs.length === 0 ? report : { ...report, logs }
}

function add(one: Recorded, other: Recorded): Recorded {
  return {
    recorded: one.recorded + other.recorded,
    ended: [...one.ended, ...other.ended],
    alertsRaised: one.alertsRaised + other.alertsRaised,
    orphaned: one.orphaned + other.orphaned,
    faults: [...one.faults, ...other.faults],
  }
}

import type { UsageDay } from '@valley/contract/usage.ts'
import { limits } from '../limits.ts'
import type { Handler } from '../reply.ts'
import { countRunning, type DayRow, selectDays, selectStandings } from './queries.ts'

export const getMyUsage: Handler<'getMyUsage'> = async ({ db, bounds }, { id }) => {
  const [[standing], { rows: days }, [running]] = await Promise.all([
    selectStandings(db, { owner_ids: [id], limit: bounds.queuedRunsPerOwnerMax }).then(({ rows }) => rows),
    selectDays(db, { owner_id: id, limit: limits.usageDaysShown }),
    countRunning(db, { owner_id: id }).then(({ rows }) => rows),
  ])
  const { runs_today = 0, queued = 0, seconds_left = 0 } = standing ?? {}
  return {
    runsToday: { used: runs_today, limit: bounds.runsPerDayMax },
    resetsAt: new Date(Date.now() + seconds_left * 1_000).toISOString(),
    queuedRuns: { used: queued, limit: bounds.queuedRunsPerOwnerMax },
    runsAtOnce: { used: running?.running ?? 0, limit: bounds.runsAtOncePerOwner },
    runsKeptDays: bounds.runRetentionDays,
    logsKeptDays: bounds.logRetentionDays,
    days: days.map(presentDay),
  }
}

function presentDay({ day, runs, failed, run_ms }: DayRow): UsageDay {
  return { day, runs: Number(runs), failedRuns: Number(failed), runMs: Number(run_ms) }
}

import type { Facts, FiringFact } from './facts.ts'
import type { PlannedVal, Scene } from './scene.ts'

const secondMs = 1_000

/** What is wrong with the schedules, whose vals run every second: each of their planned times was decided once. */
export function auditFirings({ firings, runs }: Facts, { planned }: Scene, restedAt: Date): string[] {
  const byVal = Map.groupBy(firings, ({ val_id }) => val_id)
  const fired = new Set(firings.flatMap(({ run_id }) => run_id ?? []))
  const unplanned = [...runs.values()].filter(
    ({ id, source, parent_id }) => source === 'schedule' && parent_id === null && !fired.has(id),
  )
  return [
    ...planned.flatMap((val) => auditVal(val, byVal.get(val.valId) ?? [], restedAt)),
    ...unplanned.map(({ id }) => `${id} is a run of a schedule, but no planned time made it`),
    ...firings
      .filter(({ outcome, run_id }) => outcome === 'fired' && !runs.has(run_id ?? ''))
      .map(({ val_id, planned_at }) => `${val_id} fired at ${planned_at.toISOString()}, but there is no run`),
  ]
}

/** From the first planned time to the moment when all was well, each second is in exactly one row. */
function auditVal({ valId, firstAt }: PlannedVal, rows: readonly FiringFact[], restedAt: Date): string[] {
  const problems: string[] = []
  let expectedMs = firstAt.getTime()
  for (const { planned_at, through_at, count, outcome } of rows) {
    const fromMs = planned_at.getTime()
    const toMs = (through_at ?? planned_at).getTime()
    const at = planned_at.toISOString()
    if (fromMs > expectedMs)
      problems.push(`${valId}: ${(fromMs - expectedMs) / secondMs} s before ${at} are nowhere`)
    if (fromMs < expectedMs) problems.push(`${valId}: ${at} is there twice`)
    const seconds = (toMs - fromMs) / secondMs + 1
    if (outcome === 'missed' && count !== seconds)
      problems.push(`${valId}: ${count} missed at ${at}, not ${seconds}`)
    if (outcome === 'refused' || outcome === 'skipped') problems.push(`${valId}: ${at} was ${outcome}`)
    expectedMs = toMs + secondMs
  }
  if (expectedMs < restedAt.getTime())
    problems.push(`${valId}: nothing from ${new Date(expectedMs).toISOString()} on`)
  return problems
}

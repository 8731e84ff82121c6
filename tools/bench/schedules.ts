import { writeFile } from 'node:fs/promises'
import { fireTogether, schedules } from '../schedules/fire-together.ts'
import { binsOf, drawBins, summarize } from '../schedules/lag-histogram.ts'
import type { Report } from './report.ts'
import { chartLags } from './schedules/chart.ts'

const lagMsMax = 10_000

/** How late twenty thousand runs are enqueued that are all planned for the same second. */
export async function benchSchedules(end: AbortSignal): Promise<Report> {
  const { lagsMs, firedBeforeKill, counts } = await fireTogether(end)
  const summary = summarize(lagsMs)
  const bins = binsOf(lagsMs)
  console.log(drawBins(bins))
  const { p50Ms, p99Ms, maxMs } = summary
  const chart = chartLags({
    bins,
    title: `${schedules.toLocaleString('en')} schedules due in the same second, two servers, one killed after a quarter`,
    summary: `half within ${p50Ms} ms, 99 % within ${p99Ms} ms, all within ${maxMs} ms`,
  })
  await writeFile('docs/schedules.svg', chart)
  return {
    table: [{ schedules, firedBeforeKill, ...counts, ...summary }],
    figures: { ...summary, fired: counts.runs, doubled: counts.runs - counts.valsWithRuns },
    goals: { maxMs: { max: lagMsMax }, fired: { min: schedules, max: schedules }, doubled: { max: 0 } },
  }
}

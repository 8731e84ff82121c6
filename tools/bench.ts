import { benchApi } from './bench/api.ts'
import { benchCold } from './bench/cold.ts'
import { benchDensity } from './bench/density.ts'
import { benchQueue } from './bench/queue.ts'
import { benchScale } from './bench/scale.ts'
import { benchSchedules } from './bench/schedules.ts'
import { benchWarm } from './bench/warm.ts'
import { printReport, type Report } from './bench/report.ts'
import { runMain } from './processes/run-main.ts'

const benches: Readonly<Record<string, (end: AbortSignal) => Promise<Report>>> = {
  api: benchApi,
  scale: benchScale,
  cold: benchCold,
  warm: benchWarm,
  density: benchDensity,
  queue: benchQueue,
  schedules: benchSchedules,
}

/** `npm run bench -- NAME`. Exits with 0 when it ran, whether or not its goals were met. */
async function main(end: AbortSignal): Promise<number> {
  const [name = ''] = process.argv.slice(2)
  const bench = benches[name]
  if (bench === undefined) {
    console.error(`npm run bench -- NAME, where NAME is one of: ${Object.keys(benches).join(', ')}`)
    return 1
  }
  printReport(name, await bench(end))
  return 0
}

await runMain(main)

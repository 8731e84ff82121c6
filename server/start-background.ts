import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Config } from './config.ts'
import type { Db } from './database/statement.ts'
import type { Metrics } from './metrics.ts'
import type { Observations } from './observations.ts'
import type { Lost } from './queue/lose-runs.ts'
import type { Queue } from './queue/queue.ts'
import { serveQueue } from './queue/serve-queue.ts'
import { watchRunners } from './queue/watch-runners.ts'
import { recorderName, startRecorder } from './runs/recorder.ts'
import { startScheduler } from './schedules/scheduler.ts'
import { serveRunners } from './serve-runners.ts'
import type { CallerCache } from './tokens/caller-cache.ts'
import type { TokenUses } from './tokens/token-uses.ts'
import { startUpkeep } from './upkeep/upkeep.ts'

interface Workings {
  readonly config: Config
  readonly db: Db
  readonly bus: Bus
  readonly queue: Queue
  readonly callers: CallerCache
  readonly tokenUses: TokenUses
  readonly metrics: Metrics
  readonly observe: Observations
}

/** All that a server does besides answering requests: for runners, and by itself. */
export async function startBackground(workings: Workings): Promise<AsyncDisposable> {
  const { config, db, bus, queue, callers, tokenUses, metrics, observe } = workings
  await using opened = new AsyncDisposableStack()
  const onLost = ({ runs, alertsRaised }: Lost) => {
    queue.announceEnds(runs)
    metrics.alertsRaised.inc(alertsRaised)
  }
  const { environmentKeys, runsPerDayMax } = config
  serveRunners(bus, { db, callers, tokenUses, environmentKeys, runsPerDayMax, observe })
  const bounds = { ownerRunsMax: config.runsAtOncePerOwner, valRunsMax: config.runsAtOncePerVal }
  const isRecorderBehind = async () => (await bus.lagOf(recorderName)) !== 0
  serveQueue(bus, { db, queue, bounds, observe, isRecorderBehind, onLost })
  opened.use(watchRunners({ db, bus, metrics, observe, onLost }))
  opened.use(await startUpkeep({ db, config, observe }))
  opened.use(startScheduler({ db, queue, metrics, observe }))
  opened.use(startRecorder({ db, bus, queue, metrics, observe }))
  return opened.move()
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Db } from '../database/statement.ts'
import { keepDoing } from '../keep-doing.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Observations } from '../observations.ts'
import { loseRuns, type Lost } from './lose-runs.ts'
import { forgetRunner, selectRunners } from './queries.ts'
import { RunnerWatch } from './runner-watch.ts'
import { loseRunsOfRunner } from './transitions.ts'

interface Watching {
  readonly db: Db
  readonly bus: Pick<Bus, 'state'>
  readonly metrics: Pick<Metrics, 'runsLost'>
  readonly observe: Pick<Observations, 'runnerLost' | 'watchFailed'>
  readonly onLost: (lost: Lost) => void
}

/** Ends the runs of runners that are gone. Every server does; they find the same, and a run ends once. */
export function watchRunners(watching: Watching): AsyncDisposable {
  return keepDoing((stop) => keepWatching(watching, stop))
}

async function keepWatching(watching: Watching, stop: AbortSignal): Promise<void> {
  const watch = new RunnerWatch({
    silenceMsMax: limits.runnerSilenceMsMax,
    gapMsMax: limits.runnerLookMs * 3,
  })
  while (!stop.aborted) {
    try {
      await lookOnce(watching, watch)
    } catch (error) {
      watch.startOver()
      watching.observe.watchFailed(error)
    }
    await sleep(limits.runnerLookMs, undefined, { signal: stop }).catch(() => {})
  }
}

async function lookOnce({ db, bus, metrics, observe, onLost }: Watching, watch: RunnerWatch): Promise<void> {
  // Their beats come over the bus.
  if (bus.state === 'down') return watch.startOver()
  const { rows } = await selectRunners(db, {})
  for (const { runner_id, beat } of watch.look(rows, performance.now())) {
    const lost = await loseRuns(db, loseRunsOfRunner, { runner_id })
    metrics.runsLost.inc(lost.runs.length)
    if (lost.runs.length > 0) observe.runnerLost(runner_id, lost.runs.length)
    onLost(lost)
    await forgetRunner(db, { runner_id, beat })
  }
}

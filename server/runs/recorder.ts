import { setTimeout as sleep } from 'node:timers/promises'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Taken } from '@valley/bus/consume-stream.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { Db } from '../database/statement.ts'
import { limits } from '../limits.ts'
import type { Metrics } from '../metrics.ts'
import type { Observations } from '../observations.ts'
import type { Queue } from '../queue/queue.ts'
import { readReports } from './read-reports.ts'
import { recordReports } from './record-reports.ts'

interface Recorder {
  readonly db: Db
  readonly bus: Bus
  readonly queue: Pick<Queue, 'announceEnds'>
  readonly metrics: Pick<Metrics, 'runsRecorded' | 'runsDropped' | 'alertsRaised'>
  readonly observe: Pick<Observations, 'reportDropped' | 'recordingPaused'>
}

/** Under this name all servers share the reports. */
export const recorderName = { stream: 'RUNS', name: 'recorder' } as const

/**
 * Takes reports of runs off the stream and writes them down. A message is accepted once its runs are committed; what
 * the database does not take now goes back, for any server to take, and this one pauses for ever longer.
 */
export function startRecorder(recorder: Recorder): AsyncDisposable {
  const stop = new AbortController()
  let pauseMs: number = limits.recorderPauseMsMin
  const take = async (messages: readonly Taken[]) => {
    for (const group of groupsOf(messages)) {
      const isDone = await recordGroup(recorder, group, pauseMs)
      if (!isDone) await sleep(pauseMs, undefined, { signal: stop.signal }).catch(() => {})
      pauseMs = isDone ? limits.recorderPauseMsMin : Math.min(pauseMs * 2, limits.recorderPauseMsMax)
    }
  }
  const consuming = recorder.bus.consume({ ...recorderName, take })
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await consuming[Symbol.asyncDispose]()
    },
  }
}

/** Messages whose reports are recorded in one statement. */
interface Group {
  readonly messages: Taken[]
  readonly reports: RunReport[]
  readonly faults: unknown[]
  bytes: number
}

function groupsOf(messages: readonly Taken[]): readonly Group[] {
  const groups: Group[] = []
  for (const message of messages) {
    const { reports, faults } = readReports(message.json)
    let group = groups.at(-1)
    if (!group || isFull(group)) {
      group = { messages: [], reports: [], faults: [], bytes: 0 }
      groups.push(group)
    }
    group.messages.push(message)
    group.reports.push(...reports)
    group.faults.push(...faults)
    group.bytes += message.bytes
  }
  return groups
}

function isFull({ reports, bytes }: Group): boolean {
  return reports.length >= limits.recordedAtOnceRows || bytes >= limits.recordedAtOnceBytes
}

/** Whether it is dealt with; if not, its messages went back. */
async function recordGroup(
  { db, queue, metrics, observe }: Recorder,
  { messages, reports, faults }: Group,
  pauseMs: number,
): Promise<boolean> {
  try {
    const outcome = await recordReports(db, reports)
    for (const message of messages) message.accept()
    queue.announceEnds(outcome.ended)
    metrics.runsRecorded.inc(outcome.recorded)
    metrics.alertsRaised.inc(outcome.alertsRaised)
    metrics.runsDropped.inc({ why: 'val_gone' }, outcome.orphaned)
    metrics.runsDropped.inc({ why: 'bad_shape' }, faults.length)
    metrics.runsDropped.inc({ why: 'not_storable' }, outcome.faults.length)
    for (const fault of [...faults, ...outcome.faults].slice(0, limits.faultsObservedMax))
      observe.reportDropped(fault)
    return true
  } catch (error) {
    for (const message of messages) message.giveBack(pauseMs)
    observe.recordingPaused(error)
    return false
  }
}

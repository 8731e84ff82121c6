import { createLog, type Log } from '@valley/process/create-log.ts'
import type { LogLevel } from '@valley/process/settings.ts'

export interface RequestSeen {
  readonly requestId: string
  readonly operation: string
  readonly status: number
  readonly durationMs: number
  readonly userId: string | null
}

export type Observations = ReturnType<typeof createObservations>

/** Everything that the server ever logs, one function each. Codes, secrets and bodies are never among it. */
export function createObservations(level: LogLevel) {
  const { log, always } = createLog('server', level)
  return {
    migrated: (names: readonly string[]) => log.info({ event: 'migrated', names }, 'Migrations applied'),
    listening: (url: string, pid: number) =>
      always.info({ event: 'listening', url, pid }, `Listening on ${url}`),
    draining: () => log.info({ event: 'draining' }, 'Finishing what is under way'),
    stopped: () => log.info({ event: 'stopped' }, 'Stopped'),
    answered: (request: RequestSeen) => log.debug({ event: 'answered', ...request }, 'Answered'),
    unavailable: (request: RequestSeen, cause: unknown) =>
      log.warn({ event: 'unavailable', ...request, err: cause }, 'Could not answer'),
    failed: (request: RequestSeen, cause: unknown) =>
      log.error({ event: 'failed', ...request, err: cause }, 'A request failed by our fault'),
    answerLost: (cause: unknown) =>
      log.error({ event: 'answer_lost', err: cause }, 'An answer could not be written'),
    busChanged: (state: 'up' | 'down') => log.info({ event: 'bus_changed', state }, `The bus is ${state}`),
    badMessage: (subject: string, cause: unknown) =>
      log.warn({ event: 'bad_message', subject, err: cause }, 'A message on the bus was not understood'),
    connectionLost: (cause: unknown) =>
      log.warn({ event: 'connection_lost', err: cause }, 'An idle database connection was lost'),
    tokenUsesLost: (cause: unknown) =>
      log.warn(
        { event: 'token_uses_lost', err: cause },
        'When tokens were last used could not be written down',
      ),
    upkeepDone: (done: Readonly<Record<string, number>>) =>
      log.info({ event: 'upkeep', ...done }, 'Upkeep done'),
    upkeepFailed: (cause: unknown) =>
      log.warn({ event: 'upkeep_failed', err: cause }, 'Upkeep will try again'),
    ...observationsOfRuns(log),
    ...observationsOfAlerts(log),
    ...observationsOfSchedules(log),
    startFailed: (cause: unknown) =>
      log.fatal({ event: 'start_failed', err: cause }, 'The server cannot start'),
  }
}

/** What has to do with runners and the runs that they report. */
function observationsOfRuns(log: Log) {
  return {
    busTrouble: (doing: string, cause: unknown) =>
      log.warn({ event: 'bus_trouble', doing, err: cause }, `NATS is there but would not ${doing}`),
    reportDropped: (cause: unknown) =>
      log.error({ event: 'report_dropped', err: cause }, 'A run cannot be recorded, and will not be'),
    recordingPaused: (cause: unknown) =>
      log.warn({ event: 'recording_paused', err: cause }, 'Runs cannot be recorded now; they wait in NATS'),
    runnerNotAnswered: (question: string, cause: unknown) =>
      log.warn(
        { event: 'runner_not_answered', question, err: cause },
        'A runner was told to ask again later',
      ),
    runnerAnswerFailed: (question: string, cause: unknown) =>
      log.error(
        { event: 'runner_answer_failed', question, err: cause },
        'A runner got no answer by our fault',
      ),
    runnerLost: (runnerId: string, runs: number) =>
      log.warn(
        { event: 'runner_lost', runnerId, runs },
        'A runner is gone, and with it the runs that it had',
      ),
    watchFailed: (cause: unknown) =>
      log.warn({ event: 'watch_failed', err: cause }, 'Could not look after runners; will try again'),
    environmentUnreadable: (valId: string, names: readonly string[]) =>
      log.error(
        { event: 'environment_unreadable', valId, names },
        'A val cannot run: no key of ENVIRONMENT_KEYS opens these variables',
      ),
  }
}

function observationsOfSchedules(log: Log) {
  return {
    schedulerPaused: (cause: unknown) =>
      log.warn({ event: 'scheduler_paused', err: cause }, 'Schedules cannot fire now; will try again'),
    scheduleBroken: (valId: string, cause: unknown) =>
      log.error(
        { event: 'schedule_broken', valId, err: cause },
        'A schedule rests: its expression or time zone is not known any more',
      ),
    clockSteppedBack: (schedules: number) =>
      log.warn(
        { event: 'clock_stepped_back', schedules },
        "The database's clock was put back; schedules were planned anew",
      ),
  }
}

/** Addresses of webhooks are never among it: some are secrets. */
function observationsOfAlerts(log: Log) {
  return {
    alertGivenUp: (delivery: { valId: string; deliveryId: string; status: number | null }) =>
      log.info({ event: 'alert_given_up', ...delivery }, 'An alert could not be delivered, and will not be'),
    alertSecretUnreadable: (valId: string) =>
      log.error(
        { event: 'alert_secret_unreadable', valId },
        'An alert cannot be signed: no key of ENVIRONMENT_KEYS opens its secret',
      ),
    deliveringPaused: (cause: unknown) =>
      log.warn(
        { event: 'delivering_paused', err: cause },
        'Alerts cannot be delivered now; they will be later',
      ),
  }
}

import { createLog, type Log } from '@valley/process/create-log.ts'
import type { LogLevel } from '@valley/process/settings.ts'
import type { RunReport } from '@valley/bus/run-report.ts'
import type { SandboxObservations } from './sandbox/sandbox-observations.ts'
import { type EndCause, isValsFault } from './workers/end-cause.ts'
import type { Worker } from './workers/worker.ts'

const slowBootMs = 1_000

export type Observations = ReturnType<typeof createObservations>

/** Everything that the runner ever logs, one function each. What vals print, their code and their variables never are. */
export function createObservations(level: LogLevel) {
  const { log, always } = createLog('runner', level)
  return {
    ...sandboxObservations(log),
    listening: (url: string, pid: number) =>
      always.info({ event: 'listening', url, pid }, `Vals answer at ${url}`),
    draining: () => log.info({ event: 'draining' }, 'Finishing what is under way'),
    stopped: () => log.info({ event: 'stopped' }, 'Stopped'),
    busChanged: (state: 'up' | 'down') => log.info({ event: 'bus_changed', state }, `The bus is ${state}`),
    busTrouble: (doing: string, cause: unknown) =>
      log.warn({ event: 'bus_trouble', doing, err: cause }, `NATS did not ${doing}`),
    badMessage: (subject: string, cause: unknown) =>
      log.warn({ event: 'bad_message', subject, err: cause }, 'A message on the bus was not understood'),
    workerBooted: (ms: number) => {
      const booted = { event: 'worker_booted', ms: Math.round(ms) }
      if (ms > slowBootMs) log.warn(booted, 'A worker was slow to boot')
      else log.debug(booted, 'A worker booted')
    },
    bootFailed: (cause: unknown) =>
      log.error({ event: 'boot_failed', err: cause }, 'A worker could not be booted'),
    workerEnded: ({ id, valId }: Worker, cause: EndCause) =>
      log[isValsFault(cause) ? 'info' : 'debug'](
        { event: 'worker_ended', worker: id, valId, cause },
        `A worker ended: ${cause}`,
      ),
    /** Runs that went well are for the metrics; of the others, who and why. */
    valError: ({ id, valId, version, status, error }: RunReport) =>
      log.info(
        { event: 'val.error', runId: id, valId, version, status, error: error?.name },
        'A run did not succeed',
      ),
    reportsLost: (count: number) =>
      log.error({ event: 'reports_lost', count }, 'Reports of runs were lost: NATS was away for too long'),
    startFailed: (cause: unknown) =>
      log.fatal({ event: 'start_failed', err: cause }, 'The runner cannot start'),
  }
}

function sandboxObservations(log: Log): SandboxObservations {
  return {
    sandboxIsWeak: () =>
      log.warn(
        { event: 'sandbox_is_weak' },
        'SANDBOX=process: only Deno’s permissions stand between a val and this machine. Never for strangers’ code.',
      ),
    leftoversSwept: (names) =>
      log.info({ event: 'leftovers_swept', names }, 'What an earlier runner left behind was removed'),
    removalFailed: (id, cause) =>
      log.warn({ event: 'removal_failed', id, err: cause }, 'Something of a sandbox could not be removed'),
    forwardingEnabled: (sysctl) =>
      log.info(
        { event: 'forwarding_enabled', sysctl },
        `Switched ${sysctl} on, so that vals reach the internet`,
      ),
  }
}

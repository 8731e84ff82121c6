import { pino } from 'pino'
import type { Config } from './config.ts'

export interface RequestSeen {
  readonly requestId: string
  readonly operation: string
  readonly status: number
  readonly durationMs: number
  readonly userId: string | null
}

export type Observations = ReturnType<typeof createObservations>

/** Everything that the server ever logs, one function each. Codes, secrets and bodies are never among it. */
export function createObservations(level: Config['logLevel']) {
  const log = pino({
    level,
    base: { process: 'server' },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
  })
  // Whoever starts the server waits for this line, whatever the level.
  const always = log.child({}, { level: 'info' })
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
    startFailed: (cause: unknown) =>
      log.fatal({ event: 'start_failed', err: cause }, 'The server cannot start'),
  }
}

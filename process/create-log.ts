import { type Logger, pino } from 'pino'
import type { LogLevel } from './settings.ts'

export type Log = Logger

interface Logs {
  readonly log: Log
  /** For the one line for which whoever started the process waits, whatever the level. */
  readonly always: Log
}

/** Lines of JSON on standard output. */
export function createLog(processName: string, level: LogLevel): Logs {
  const log = pino({
    level,
    base: { process: processName },
    messageKey: 'message',
    timestamp: pino.stdTimeFunctions.isoTime,
  })
  return { log, always: log.child({}, { level: 'info' }) }
}

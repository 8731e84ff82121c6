import type { LogLevel } from '@valley/contract/runs.ts'
import type { Returned, ThrownError } from './control-message.ts'

/** What an isolate says of its run. The val in it can say the same, and anything else. */
export type FromIsolate =
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly level: LogLevel; readonly message: string }
  | ({ readonly kind: 'returned' } & Omit<Returned, 'runId'>)
  | { readonly kind: 'threw'; readonly error: ThrownError; readonly hasDefault?: boolean }

const levels: readonly unknown[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[]

/** Exactly what is meant by it, and nothing besides; null for what means nothing here. */
export function readFromIsolate(said: unknown): FromIsolate | null {
  if (typeof said !== 'object' || said === null) return null
  const { kind, level, message, text, isCut, hasDefault, error } = said as Record<string, unknown>
  switch (kind) {
    case 'ready':
      return { kind }
    case 'log':
      return typeof message === 'string' && levels.includes(level)
        ? { kind, level: level as LogLevel, message }
        : null
    case 'returned':
      return typeof text === 'string' && typeof isCut === 'boolean' && typeof hasDefault === 'boolean'
        ? { kind, text, isCut, hasDefault }
        : null
    case 'threw':
      if (!isThrown(error)) return null
      return typeof hasDefault === 'boolean' ? { kind, error, hasDefault } : { kind, error }
    default:
      return null
  }
}

function isThrown(error: unknown): error is ThrownError {
  if (typeof error !== 'object' || error === null) return false
  const { name, message, stack = '' } = error as Record<string, unknown>
  return [name, message, stack].every((text) => typeof text === 'string')
}

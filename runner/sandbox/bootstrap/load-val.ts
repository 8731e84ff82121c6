import type { Control } from './control.ts'
import type { ToWorker } from './control-message.ts'
import type { DenoApi, ServeHandler } from './deno-api.ts'
import { describeError } from './describe-error.ts'
import type { Val } from './handler.ts'

interface Loading {
  readonly deno: DenoApi
  readonly control: Control
  readonly val: Val
  readonly message: Extract<ToWorker, { kind: 'assign' }>
}

/** Imports the val and finds what answers requests: a default export that is a function or has `fetch`. */
export async function loadVal({ deno, control, val, message }: Loading): Promise<void> {
  for (const [name, value] of Object.entries(message.environment)) deno.env.set(name, value)
  try {
    const module = await importFirst(message.modules)
    val.fetch = findFetch(module.default)
    control.send({ kind: 'loaded', handles: val.fetch === null ? 'nothing' : 'fetch' })
  } catch (thrown) {
    control.send({ kind: 'load_failed', error: describeError(thrown) })
  }
}

/** A module that does not parse one way is tried the next; if none does, the first complaint is the telling one. */
async function importFirst(modules: readonly string[]): Promise<{ default?: unknown }> {
  let complaint: unknown
  for (const module of modules) {
    try {
      return (await import(module)) as { default?: unknown }
    } catch (thrown) {
      complaint ??= thrown
      if (!isParseError(thrown)) throw thrown
    }
  }
  throw complaint
}

/** Deno wraps what its parser says in an error of another name. */
function isParseError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith('SyntaxError: ')
}

function findFetch(exported: unknown): ServeHandler | null {
  if (typeof exported === 'function') return exported as ServeHandler
  if (typeof exported !== 'object' || exported === null) return null
  const { fetch } = exported as { fetch?: unknown }
  return typeof fetch === 'function' ? (fetch.bind(exported) as ServeHandler) : null
}

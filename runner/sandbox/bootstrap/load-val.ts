import type { ServeHandler } from './deno-api.ts'
import type { Handles } from './control-message.ts'

/** A val's default export by what it can be used for. */
export interface Exported {
  /** The default export itself; undefined where there is none. */
  readonly value: unknown
  readonly hasDefault: boolean
  readonly fetch: ServeHandler | null
  readonly call: ((...args: unknown[]) => unknown) | null
  readonly scheduled: ((event: unknown) => unknown) | null
}

/** Imports the val. A module that does not parse one way is tried the next; if none does, the first complaint tells. */
export async function importVal(modules: readonly string[]): Promise<Exported> {
  let complaint: unknown
  for (const module of modules) {
    try {
      return look((await import(module)) as { default?: unknown })
    } catch (thrown) {
      complaint ??= thrown
      if (!isParseError(thrown)) throw thrown
    }
  }
  throw complaint
}

export function handlesOf({ fetch, call, scheduled }: Exported): Handles {
  return { fetch: fetch !== null, call: call !== null, scheduled: scheduled !== null }
}

/** Deno wraps what its parser says in an error of another name. */
function isParseError(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.message.startsWith('SyntaxError: ')
}

function look(module: { default?: unknown }): Exported {
  const value = module.default
  const call = typeof value === 'function' ? (value as NonNullable<Exported['call']>) : null
  const fetch = methodOf(value, 'fetch') as ServeHandler | null
  const scheduled = methodOf(value, 'scheduled') as Exported['scheduled']
  return {
    value,
    hasDefault: 'default' in module,
    call,
    fetch: (call as ServeHandler | null) ?? fetch,
    scheduled,
  }
}

function methodOf(value: unknown, name: string): Function | null {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return null
  const method = (value as Record<string, unknown>)[name]
  return typeof method === 'function' ? (method.bind(value) as Function) : null
}

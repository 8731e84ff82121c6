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
      if (!isParseError(thrown, module)) throw thrown
    }
  }
  throw complaint
}

export function handlesOf({ fetch, call, scheduled }: Exported): Handles {
  return { fetch: fetch !== null, call: call !== null, scheduled: scheduled !== null }
}

/**
 * Deno wraps what its parser says of this module in an error of another name, with the place at the end. A module that
 * was evaluated, and threw something like it, must not be evaluated again: what it did would be done twice.
 */
function isParseError(thrown: unknown, module: string): boolean {
  if (!(thrown instanceof TypeError)) return false
  const { message, stack = '' } = thrown
  const isAboutIt = message.startsWith('SyntaxError: ') && / at (\S+):\d+:\d+$/.exec(message)?.[1] === module
  return isAboutIt && !stack.slice(stack.indexOf(message) + message.length).includes(module)
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

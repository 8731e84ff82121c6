import type { Call, Returned } from './control-message.ts'
import type { DenoApi } from './deno-api.ts'
import type { Exported } from './load-val.ts'

/** Calls what the run is for, with its arguments; without anything to call, the value of the default export. */
export function runCall(
  { value, hasDefault, fetch, call, scheduled }: Exported,
  { entry, args }: Call,
): unknown {
  if (entry === 'scheduled' && scheduled) return scheduled(eventOf(args))
  if (call) return entry === 'scheduled' ? call(eventOf(args)) : call(...args)
  if (!hasDefault || (!fetch && !scheduled)) return value
  throw new TypeError(nothingToCall[entry])
}

const nothingToCall = {
  call: 'The default export is an object that cannot be called. Export a function, or call its endpoint.',
  scheduled: 'The default export has no scheduled(). Add one, or export a function.',
} as const

/** Times travel as text, and are used as dates. */
function eventOf([event]: readonly unknown[]) {
  const { plannedAt, lastRunAt } = event as { plannedAt: string; lastRunAt: string | null }
  return { plannedAt: new Date(plannedAt), lastRunAt: lastRunAt === null ? null : new Date(lastRunAt) }
}

export type ReturnWriter = (value: unknown) => Pick<Returned, 'text' | 'isCut'>

/** What a run returned as a text within its bound. What the val breaks of it, it breaks for itself. */
export function createReturnWriter(inspect: DenoApi['inspect'], charsMax: () => number): ReturnWriter {
  const { stringify } = JSON
  const cut = (text: string) => text.slice(0, charsMax())
  return (value) => {
    try {
      const text = stringify(value) ?? 'null'
      if (typeof value !== 'function' && typeof value !== 'symbol' && !isEmptyObject(value, text)) {
        return text.length > charsMax() ? { text: cut(text), isCut: true } : { text, isCut: false }
      }
    } catch {
      // A cycle, a BigInt, a toJSON that throws: shown rather than kept.
    }
    return { text: cut(inspect(value, { depth: 4, colors: false })), isCut: true }
  }
}

/** `{}` says nothing of a Response, a Map or an Error. */
function isEmptyObject(value: unknown, text: string): boolean {
  return text === '{}' && Object.getPrototypeOf(value) !== Object.prototype
}

import type { LogLevel } from '@valley/contract/runs.ts'
import type { DenoApi } from './deno-api.ts'
import type { RunScope } from './handler.ts'

interface Line {
  readonly kind: 'log'
  readonly runId: string | null
  readonly level: LogLevel
  readonly message: string
}

interface Capture {
  readonly send: (line: Line) => void
  readonly getScope: () => RunScope
  readonly inspect: DenoApi['inspect']
}

const levels = {
  debug: 'debug',
  log: 'info',
  info: 'info',
  dir: 'info',
  table: 'info',
  trace: 'info',
  warn: 'warn',
  error: 'error',
  assert: 'error',
} as const satisfies Record<string, LogLevel>

const messageCharsMax = 16_384
const inspectOptions = { depth: 4, iterableLimit: 100, strAbbreviateSize: messageCharsMax, colors: false }

/** Each console method sends a line that belongs to the run in whose course it was called. Returns what sends one. */
export function captureConsole({
  send: sendLine,
  getScope,
  inspect,
}: Capture): (level: LogLevel, text: string) => void {
  const indentation: string[] = []
  const send = (level: LogLevel, text: string) => {
    const scope = getScope()
    // The one that goes over a bound is still sent: by it the runner knows that there was more.
    if (scope.linesLeft <= 0 || scope.charsLeft <= 0) return
    const message = text.slice(0, messageCharsMax + 1)
    scope.linesLeft -= 1
    scope.charsLeft -= message.length
    sendLine({ kind: 'log', runId: scope.runId, level, message })
  }
  const print = (level: LogLevel, values: readonly unknown[]) =>
    send(level, indentation.join('') + format(inspect, values))
  const own = console as unknown as Record<string, (...values: unknown[]) => void>
  for (const [method, level] of Object.entries(levels)) own[method] = (...values) => print(level, values)
  own['assert'] = (condition, ...values) => {
    if (!condition) print('error', ['Assertion failed', ...values])
  }
  own['group'] = own['groupCollapsed'] = (...values) => {
    if (values.length > 0) print('info', values)
    if (indentation.length < 16) indentation.push('  ')
  }
  own['groupEnd'] = () => void indentation.pop()
  own['trace'] = (...values) => print('info', ['Trace', ...values, new Error('here').stack])
  countAndTime(own, (text) => print('info', [text]))
  return send
}

function countAndTime(
  own: Record<string, (...values: unknown[]) => void>,
  print: (text: string) => void,
): void {
  const counts = new Map<string, number>()
  const starts = new Map<string, number>()
  const took = (label: string) =>
    `${label}: ${(performance.now() - (starts.get(label) ?? performance.now())).toFixed(1)} ms`
  own['count'] = (label = 'default') => {
    const count = (counts.get(String(label)) ?? 0) + 1
    counts.set(String(label), count)
    print(`${String(label)}: ${count}`)
  }
  own['countReset'] = (label = 'default') => void counts.delete(String(label))
  own['time'] = (label = 'default') => void starts.set(String(label), performance.now())
  own['timeLog'] = (label = 'default') => print(took(String(label)))
  own['timeEnd'] = (label = 'default') => {
    print(took(String(label)))
    starts.delete(String(label))
  }
}

/** As a console would: the first text may have places for the values after it. */
function format(inspect: DenoApi['inspect'], values: readonly unknown[]): string {
  const [first, ...rest] = values
  if (typeof first !== 'string') return values.map((value) => show(inspect, value)).join(' ')
  let next = 0
  const text = first.replace(/%([sdifoOjc%])/g, (place, kind: string) => {
    if (kind === '%') return '%'
    if (next >= rest.length) return place
    const value = rest[next++]
    if (kind === 'c') return ''
    if (kind === 'd' || kind === 'i') return String(kind === 'i' ? Math.trunc(Number(value)) : Number(value))
    if (kind === 'f') return String(Number(value))
    return show(inspect, value)
  })
  return [text, ...rest.slice(next).map((value) => show(inspect, value))].join(' ')
}

function show(inspect: DenoApi['inspect'], value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return inspect(value, inspectOptions)
  } catch {
    return '[a value that cannot be shown]'
  }
}

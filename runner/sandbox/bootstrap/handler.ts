import type { Control } from './control.ts'
import type { ServeHandler } from './deno-api.ts'
import { describeError } from './describe-error.ts'
import type { Exported } from './load-val.ts'

/** What the loaded val can be used for; null until it is loaded. */
export interface Val {
  exported: Exported | null
  logLinesMax: number
  logCharsMax: number
}

/** What is known wherever a run's code runs: which one it is, and how much it may still print. */
export interface RunScope {
  readonly runId: string | null
  linesLeft: number
  charsLeft: number
}

type Answer = Response | Promise<Response>
export type RunWithin = <Result>(scope: RunScope, call: () => Result) => Result

interface Parts {
  readonly val: Val
  readonly control: Control
  readonly runWithin: RunWithin
}

/** Told by the runner with every request; also where a val can read which run it is in. */
const runHeader = 'valley-run'

/** The mark of an answer that is not the val's own, because it threw: the runner puts its error page there. */
const threwHeaders = { 'valley-outcome': 'threw' }

/** Stays synchronous where the val does: a promise more per request is measurable. */
export function createHandler({ val, control, runWithin }: Parts): ServeHandler {
  const NativeResponse = Response
  const fail = (runId: string, thrown: unknown): Response => {
    control.send({ kind: 'threw', runId, error: describeError(thrown) })
    return new NativeResponse(null, { status: 500, headers: threwHeaders })
  }
  const findMistake = createMistakeFinder()
  const check = (runId: string, answer: unknown): Response => {
    const mistake = findMistake(answer)
    return mistake === null ? (answer as Response) : fail(runId, new TypeError(mistake))
  }
  const { apply } = Reflect
  // oxlint-disable-next-line typescript/unbound-method -- always applied to a request's own headers.
  const readHeader = Headers.prototype.get

  return (request, info) => {
    const runId = apply(readHeader, request.headers, [runHeader]) ?? ''
    try {
      const answer = runWithin(
        { runId, linesLeft: val.logLinesMax, charsLeft: val.logCharsMax },
        (): Answer => {
          const fetch = val.exported?.fetch
          if (!fetch) throw new TypeError('The val is not loaded.')
          return fetch(request, info)
        },
      )
      if (!isPromise(answer)) return check(runId, answer)
      return answer.then(
        (settled) => check(runId, settled),
        (thrown: unknown) => fail(runId, thrown),
      )
    } catch (thrown) {
      return fail(runId, thrown)
    }
  }
}

function isPromise(value: unknown): value is Promise<Response> {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  )
}

/**
 * What is wrong with an answer, in words; null for a good one. Deno would leave the client of a bad one waiting when it
 * came from an async function. Asked of the getters themselves: the prototype alone does not make a Response.
 */
function createMistakeFinder(): (answer: unknown) => string | null {
  const { apply } = Reflect
  const readType = getterOf('type')
  const readBodyUsed = getterOf('bodyUsed')
  return (answer) => {
    try {
      if (apply(readType, answer, []) === 'error')
        return 'The val returned Response.error(), which no client can be sent.'
      return apply(readBodyUsed, answer, []) ? usedBefore : null
    } catch {
      const got = answer === null ? 'null' : typeof answer
      return `The val must return a Response, and returned ${got}. Try: return new Response("hello")`
    }
  }
}

const usedBefore =
  'The val returned a Response whose body was read or sent before. Make a new one for each request, or clone() it.'

function getterOf(name: 'type' | 'bodyUsed'): () => unknown {
  // oxlint-disable-next-line typescript/unbound-method -- always applied to an answer.
  const getter = Object.getOwnPropertyDescriptor(Response.prototype, name)?.get
  if (getter === undefined) throw new TypeError(`Response.prototype has no ${name}.`)
  return getter
}

import { type Answer, answerFrom } from './answer.ts'
import { attempt } from './attempt.ts'
import { rememberEtag } from './etags.ts'
import type { AnswerFor, InputFor, RequestOptionsFor, WholeOperation } from './operation-types.ts'
import { type AnyInput, type AnyOptions, type Call, outgoingFor, type Settings } from './outgoing.ts'
import { retryWaitMs, wasTurnedAway } from './retries.ts'
import { routes } from './routes.ts'
import { ValleyError } from './valley-error.ts'
import { wait } from './wait.ts'

/** Any operation by its name in the contract, answered with status and headers. */
export type Request = <N extends WholeOperation>(
  name: N,
  input: InputFor<N>,
  options?: RequestOptionsFor<N>,
) => Promise<AnswerFor<N>>

export function createRequest(settings: Settings): Request {
  async function request(name: WholeOperation, input: AnyInput, options: AnyOptions = {}): Promise<Answer> {
    const answer = await sendWithRetries(settings, { route: routes[name], input, options })
    rememberEtag(answer.body, answer.headers)
    return answer
  }
  return request as Request
}

async function sendWithRetries(settings: Settings, call: Call): Promise<Answer> {
  const { method, answer: kind } = call.route
  const outgoing = outgoingFor(settings, call)
  const repeatable = isRepeatable(call)
  let mayHaveHappened = false
  for (let attempts = 1; ; attempts++) {
    const reply = await attempt(outgoing)
    const answer = reply instanceof ValleyError ? reply : answerFrom(reply, kind)
    if (!(answer instanceof ValleyError)) return answer
    // What an earlier attempt deleted is gone, which is all that was asked for.
    if (method === 'DELETE' && mayHaveHappened && answer.code === 'not_found') return deleted(answer)
    const waitMs = retryWaitMs(answer, { failures: attempts, retriesMax: settings.retriesMax, repeatable })
    if (waitMs === null) throw answer
    mayHaveHappened ||= !wasTurnedAway(answer)
    await wait(waitMs, outgoing.signal)
  }
}

/**
 * GET, PUT and DELETE are idempotent, and every POST carries a key that makes it so. But a conditional PUT or DELETE
 * whose answer was lost would fail on the very change that it made, and tell the caller that somebody else was faster.
 */
function isRepeatable({ route, options }: Call): boolean {
  return route.method === 'POST' || options.ifMatch === undefined
}

function deleted({ headers = new Headers() }: ValleyError): Answer {
  return { status: 204, headers, body: undefined }
}

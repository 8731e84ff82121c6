import { limits } from './limits.ts'
import { ValleyError } from './valley-error.ts'

/** Anything with the shape of the platform's fetch. */
export type Fetch = (url: URL, init: RequestInit) => Promise<Response>

/** All that is needed to send a request once, and to send exactly the same again. */
export interface Outgoing {
  readonly fetch: Fetch
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** What came back, whatever it says, read to its end. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/**
 * Sends the request once. A lost answer is a value, for the retries to decide about; only the caller's abort throws.
 * Redirects are not followed: the API has none, and a token must not travel to where a stranger points.
 */
export async function attempt(outgoing: Outgoing): Promise<Reply | ValleyError> {
  const { fetch, url, method, headers, timeoutMs, signal } = outgoing
  const timeout = AbortSignal.timeout(Math.min(timeoutMs, limits.timeoutMsMax))
  try {
    const response = await fetch(url, {
      method,
      headers,
      body: outgoing.body ?? null,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  } catch (cause) {
    signal?.throwIfAborted()
    return timeout.aborted ? timeoutError(outgoing, cause) : networkError(outgoing, cause)
  }
}

function timeoutError({ method, url, timeoutMs }: Outgoing, cause: unknown) {
  const message = `${method} ${url.origin}${url.pathname} got no answer within ${timeoutMs} ms.`
  return new ValleyError('timeout', message, { cause })
}

function networkError({ method, url }: Outgoing, cause: unknown) {
  const message = `${method} ${url.origin}${url.pathname} got no answer: ${reasonOf(cause)}.`
  return new ValleyError('network', message, { cause })
}

/** Node says "fetch failed" and keeps the reason one level below, at times as a code without a message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return reasonOf(error.cause)
  return error.message || ('code' in error ? String(error.code) : error.name)
}

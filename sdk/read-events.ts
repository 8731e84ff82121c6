import { answerFrom } from './answer.ts'
import { reasonOf } from './attempt.ts'
import { limits } from './limits.ts'
import { type Call, outgoingFor, type Settings } from './outgoing.ts'
import { parseEvents } from './parse-events.ts'
import { retryWaitMs } from './retries.ts'
import { ValleyError } from './valley-error.ts'
import { wait } from './wait.ts'

/** An event, once its operation no longer matters to the compiler. */
export interface AnyEvent {
  readonly event: string
  readonly id: string
  readonly data: unknown
}

/**
 * Reads an answer that goes on, for as long as it is wanted. When the connection is lost or the server ends it, it is
 * asked for again after the last event; what will not pass, such as a revoked token, is thrown.
 */
export async function* readEvents(settings: Settings, call: Call): AsyncGenerator<AnyEvent> {
  const { signal } = call.options
  let lastEventId: string | undefined
  let failures = 0
  while (true) {
    try {
      for await (const { event, id, data } of readOnce(settings, call, lastEventId)) {
        failures = 0
        lastEventId = id
        if (data !== '') yield { event, id, data: JSON.parse(data) as unknown }
      }
      await wait(limits.eventsAgainMs, signal)
    } catch (error) {
      signal?.throwIfAborted()
      failures++
      const retries = { failures, retriesMax: limits.eventRetriesMax, repeatable: true }
      const waitMs = error instanceof ValleyError ? retryWaitMs(error, retries) : null
      if (waitMs === null) throw error
      await wait(waitMs, signal)
    }
  }
}

/** Until the connection ends. Silence counts as its end: the server would have said that it is still there. */
async function* readOnce(settings: Settings, call: Call, lastEventId: string | undefined) {
  const { fetch, method, url, headers, signal } = outgoingFor(settings, call)
  if (lastEventId !== undefined) headers.set('last-event-id', lastEventId)
  const ending = new AbortController()
  const end = () => ending.abort()
  signal?.addEventListener('abort', end)
  let silence = setTimeout(end, limits.silenceMsMax)
  const onChunk = () => {
    clearTimeout(silence)
    silence = setTimeout(end, limits.silenceMsMax)
  }
  try {
    signal?.throwIfAborted()
    const response = await fetch(url, { method, headers, redirect: 'manual', signal: ending.signal })
    yield* parseEvents(await bodyOf(response), onChunk)
  } catch (cause) {
    if (cause instanceof ValleyError) throw cause
    throw new ValleyError('network', `${url.origin}${url.pathname} was lost: ${reasonOf(cause)}.`, { cause })
  } finally {
    clearTimeout(silence)
    signal?.removeEventListener('abort', end)
    end()
  }
}

/** The events, or the error that came in their place. */
async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array>> {
  const { status, headers, body } = response
  if (headers.get('content-type')?.startsWith('text/event-stream') && body) return body
  const answer = answerFrom({ status, headers, text: await response.text() }, 'events')
  if (answer instanceof ValleyError) throw answer
  throw new ValleyError('unexpected_answer', 'Something other than events came. Is the base URL right?', {
    status,
    headers,
  })
}

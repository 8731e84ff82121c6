import type { Link } from './link.ts'
import { limits } from './limits.ts'
import { type ReplyBody, type RequestBody, type RequestName, requests } from './requests.ts'

export interface AskOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** Waits within its time for a bus that is down, instead of giving up at once. */
  readonly patient?: boolean
}

interface Asker {
  readonly link: Link
  readonly onBadMessage: (subject: string, error: unknown) => void
}

/** Makes the function that asks. An answer that does not come, or that is not understood, is null. */
export function createAsk({ link, onBadMessage }: Asker) {
  let underWay = 0

  return async <Name extends RequestName>(
    name: Name,
    body: RequestBody<Name>,
    options: AskOptions,
  ): Promise<ReplyBody<Name> | null> => {
    if (underWay >= limits.requestsUnderWayMax) return null
    underWay++
    try {
      const reply = await send(link, name, { body, ...options })
      return reply === null ? null : (requests[name].reply.parse(JSON.parse(reply)) as ReplyBody<Name>)
    } catch (error) {
      onBadMessage(requests[name].subject, error)
      return null
    } finally {
      underWay--
    }
  }
}

/** The text of the reply, or null as soon as it is known that none will come. */
async function send(
  link: Link,
  name: RequestName,
  { body, timeoutMs, signal, patient = false }: AskOptions & { readonly body: unknown },
): Promise<string | null> {
  const untilMs = performance.now() + timeoutMs
  const connection = link.connection ?? (patient ? await link.whenUp(within(timeoutMs, signal)) : null)
  if (connection === null || signal?.aborted) return null
  const { promise, resolve } = Promise.withResolvers<string | null>()
  const giveUp = () => resolve(null)
  using _ = link.onLost(giveUp)
  signal?.addEventListener('abort', giveUp)
  const timeout = Math.max(1, untilMs - performance.now())
  connection.request(requests[name].subject, JSON.stringify(body), { timeout }).then(
    (message) => resolve(message.string()),
    () => resolve(null),
  )
  const reply = await promise
  signal?.removeEventListener('abort', giveUp)
  return reply
}

function within(timeoutMs: number, signal: AbortSignal | undefined): AbortSignal {
  const timeout = AbortSignal.timeout(timeoutMs)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

import type { Msg, NatsConnection } from '@nats-io/transport-node'
import { limits } from './limits.ts'
import { type ReplyBody, type RequestBody, type RequestName, requests } from './requests.ts'

export type AnswerRequest<Name extends RequestName> = (body: RequestBody<Name>) => Promise<ReplyBody<Name>>

export interface Served {
  /** Takes no more requests, and waits, within a bound, for those under way to be answered. */
  end(): Promise<void>
}

interface Serving<Name extends RequestName> {
  readonly answer: AnswerRequest<Name>
  readonly onBadMessage: (subject: string, error: unknown) => void
}

/** Every request has a reply of this kind, so that whoever asks need not wait for an answer that will not come. */
const unavailable = JSON.stringify({ kind: 'unavailable' } satisfies ReplyBody<RequestName>)

/** Answers requests, of which each goes to any one of the processes that serve it. */
export function serveRequests<Name extends RequestName>(
  connection: NatsConnection,
  name: Name,
  { answer, onBadMessage }: Serving<Name>,
): Served {
  const { subject, servedBy, request } = requests[name]
  const underWay = new Set<Promise<void>>()
  const subscription = connection.subscribe(subject, {
    queue: servedBy,
    callback: (error, message) => {
      if (error) return onBadMessage(subject, error)
      if (underWay.size >= limits.servedAtOnceMax) return respond(message, unavailable)
      begin(message)
    },
  })

  function begin(message: Msg): void {
    const answering = answerOne(message).finally(() => underWay.delete(answering))
    underWay.add(answering)
  }

  async function answerOne(message: Msg): Promise<void> {
    try {
      const body = request.parse(message.json()) as RequestBody<Name>
      respond(message, JSON.stringify(await answer(body)))
    } catch (error) {
      onBadMessage(subject, error)
      respond(message, unavailable)
    }
  }

  /** A reply that is larger than NATS takes is answered in its place by a small one. */
  function respond(message: Msg, reply: string): void {
    try {
      message.respond(reply)
    } catch (error) {
      onBadMessage(subject, error)
      if (reply !== unavailable) respond(message, unavailable)
    }
  }

  return {
    async end() {
      if (!connection.isClosed()) subscription.unsubscribe()
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, limits.closeTimeoutMs)
      await Promise.race([Promise.all(underWay), promise])
      clearTimeout(timer)
    },
  }
}

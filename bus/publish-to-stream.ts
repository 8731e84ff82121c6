import { jetstream } from '@nats-io/jetstream'
import { NoRespondersError } from '@nats-io/transport-node'
import type { Link } from './link.ts'
import { limits } from './limits.ts'
import type { StreamKeeper } from './stream-keeper.ts'
import { type StreamBody, type StreamName, streams } from './streams.ts'

export interface StorePublisher {
  readonly link: Link
  readonly keeper: StreamKeeper
  readonly onTrouble: (doing: string, error: unknown) => void
}

/** Makes the function that publishes to a stream and waits until NATS has it. */
export function createPublishToStream({ link, keeper, onTrouble }: StorePublisher) {
  let underWay = 0

  return async <Name extends StreamName>(
    name: Name,
    body: StreamBody<Name>,
    { messageId }: { readonly messageId: string },
  ): Promise<'stored' | 'refused'> => {
    if (link.connection === null || underWay >= limits.publishesUnderWayMax) return 'refused'
    underWay++
    try {
      return await store(link, { subject: streams[name].subject, text: JSON.stringify(body), messageId })
    } catch (error) {
      onTrouble(`publish to ${name}`, error)
      if (wasMissing(error)) keeper.ensureSoon()
      return 'refused'
    } finally {
      underWay--
    }
  }
}

interface Stored {
  readonly subject: string
  readonly text: string
  readonly messageId: string
}

/** Of a lost connection it is not known whether the message was stored; its id makes a second try harmless. */
async function store(link: Link, { subject, text, messageId }: Stored): Promise<'stored' | 'refused'> {
  const { connection } = link
  if (connection === null) return 'refused'
  const { promise, resolve, reject } = Promise.withResolvers<'stored' | 'refused'>()
  using _ = link.onLost(() => resolve('refused'))
  const options = { msgID: messageId, timeout: limits.publishTimeoutMs }
  jetstream(connection)
    .publish(subject, text, options)
    .then(() => resolve('stored'), reject)
  return await promise
}

/** Nobody takes what is published to the subject: the stream is gone. */
function wasMissing(error: unknown): boolean {
  return error instanceof NoRespondersError || (error instanceof Error && wasMissing(error.cause))
}

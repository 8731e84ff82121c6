import { setTimeout as sleep } from 'node:timers/promises'
import { type ConsumerMessages, DeliverPolicy, jetstream, type JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { openManager } from './ensure-streams.ts'
import type { Link } from './link.ts'
import { limits } from './limits.ts'
import type { StreamKeeper } from './stream-keeper.ts'
import { type StreamBody, streams, subjectAbout } from './streams.ts'
import { type Position, startAfter } from './position.ts'

export interface WatchOptions {
  /** Goes on after this message; left out, with what happens from now on. */
  readonly after?: Position | undefined
  /** Ends the watch. */
  readonly signal: AbortSignal
}

/** gap: what happened between the position asked for and the one given may be lost. */
export type Watched =
  | { readonly kind: 'message'; readonly position: Position; readonly body: StreamBody<'TAIL'> }
  | { readonly kind: 'gap'; readonly position: Position }

export interface Watch {
  /** Where it begins: whoever comes back with this misses nothing that the watch would have brought. */
  readonly position: Position
  readonly events: AsyncIterable<Watched>
}

interface Surroundings {
  readonly link: Link
  readonly keeper: StreamKeeper
  readonly onBadMessage: (subject: string, error: unknown) => void
  readonly onTrouble: (doing: string, error: unknown) => void
}

/**
 * Watches a val: what is published about it from now on, or after a position. When the bus goes away, the watch waits
 * for its return and goes on where it was. null when the bus is away to begin with.
 */
export async function watchStream(
  surroundings: Surroundings,
  valId: string,
  { after, signal }: WatchOptions,
): Promise<Watch | null> {
  const { link, onTrouble } = surroundings
  const { connection } = link
  if (connection === null) return null
  try {
    const first = await openPart(surroundings, connection, { valId, after, signal })
    return { position: first.start, events: follow(surroundings, first, { valId, signal }) }
  } catch (error) {
    if (link.connection !== null) onTrouble('watch TAIL', error)
    return null
  }
}

/** A watch while one connection lasts. Its messages end with the connection, or with the watch. */
interface Part {
  readonly start: Position
  readonly isGap: boolean
  readonly messages: ConsumerMessages
}

interface Following {
  readonly valId: string
  readonly signal: AbortSignal
}

async function* follow(surroundings: Surroundings, first: Part, { valId, signal }: Following) {
  let part: Part | null = first
  let position = first.start
  while (part !== null) {
    if (part.isGap) yield { kind: 'gap', position: part.start } as const
    position = part.start
    for await (const watched of readPart(surroundings, part)) {
      position = watched.position
      yield watched
    }
    part = await reopen(surroundings, { valId, after: position, signal })
  }
}

async function* readPart({ onBadMessage }: Surroundings, { start, messages }: Part) {
  try {
    for await (const message of messages) {
      const body = bodyOf(message, onBadMessage)
      if (body === null) continue
      const position = { epoch: start.epoch, sequence: message.info.streamSequence }
      yield { kind: 'message', position, body } as const
    }
  } finally {
    messages.stop()
  }
}

async function reopen(surroundings: Surroundings, where: Where): Promise<Part | null> {
  const { link, onTrouble } = surroundings
  const { signal } = where
  while (!signal.aborted) {
    const connection = await link.whenUp(signal)
    if (connection === null) return null
    try {
      return await openPart(surroundings, connection, where)
    } catch (error) {
      if (link.connection !== null) onTrouble('watch TAIL', error)
      await sleep(limits.consumeAgainMs, undefined, { signal }).catch(() => {})
    }
  }
  return null
}

interface Where {
  readonly valId: string
  readonly after: Position | undefined
  readonly signal: AbortSignal
}

async function openPart(
  { link, keeper }: Surroundings,
  connection: NatsConnection,
  { valId, after, signal }: Where,
): Promise<Part> {
  await keeper.ensure(connection)
  const manager = await openManager(connection)
  const { created, state } = await manager.streams.info('TAIL')
  const { position, isGap } = startAfter(after, {
    epoch: Date.parse(created),
    firstSequence: state.first_seq,
    lastSequence: state.last_seq,
  })
  const consumer = await jetstream(connection, { timeout: limits.manageTimeoutMs }).consumers.get('TAIL', {
    filter_subjects: subjectAbout('TAIL', valId),
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: position.sequence + 1,
  })
  const messages = await consumer.consume({
    max_messages: limits.watchedAtOnceMax,
    expires: limits.pullExpiresMs,
    idle_heartbeat: limits.pullHeartbeatMs,
    abort_on_missing_resource: true,
  })
  endWith({ link, signal }, messages, () => void consumer.delete().catch(() => {}))
  return { start: position, isGap, messages }
}

interface Ends {
  readonly link: Link
  readonly signal: AbortSignal
}

/** Also a part that nobody reads ends in time. */
function endWith({ link, signal }: Ends, messages: ConsumerMessages, onEnd: () => void): void {
  const end = () => messages.stop()
  const lost = link.onLost(end)
  signal.addEventListener('abort', end)
  void messages.closed().then(() => {
    lost[Symbol.dispose]()
    signal.removeEventListener('abort', end)
    onEnd()
  })
  if (signal.aborted || link.connection === null) end()
}

function bodyOf(message: JsMsg, onBadMessage: Surroundings['onBadMessage']): StreamBody<'TAIL'> | null {
  try {
    return streams.TAIL.shape.parse(message.json())
  } catch (error) {
    onBadMessage(message.subject, error)
    return null
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import {
  AckPolicy,
  type Consumer,
  type ConsumerMessages,
  DeliverPolicy,
  jetstream,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream'
import { ClosedConnectionError, type NatsConnection, nanos } from '@nats-io/transport-node'
import { openManager } from './ensure-streams.ts'
import type { Link } from './link.ts'
import { limits } from './limits.ts'
import type { StreamKeeper } from './stream-keeper.ts'
import type { StreamName } from './streams.ts'

/** A message in hand. Whoever takes it says what became of it; otherwise it is given to another process in time. */
export interface Taken {
  /** As it was sent; not yet held against its shape. */
  readonly json: () => unknown
  readonly bytes: number
  accept(): void
  /** Gives it back, for any process to take after this time. */
  giveBack(delayMs: number): void
}

export interface ConsumePlan {
  readonly stream: StreamName
  /** Processes that consume under the same name share the messages. */
  readonly name: string
  /** Gets what has arrived, at most messagesAtOnceMax, and one call ends before the next. */
  readonly take: (messages: readonly Taken[]) => Promise<void>
}

interface Surroundings {
  readonly link: Link
  readonly keeper: StreamKeeper
  readonly onTrouble: (doing: string, error: unknown) => void
}

/** Consumes while there is a bus, until disposed of, which waits for the call that is under way. */
export function consumeStream(surroundings: Surroundings, plan: ConsumePlan): AsyncDisposable {
  const stop = new AbortController()
  const consuming = keepConsuming(surroundings, plan, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await consuming
    },
  }
}

/** How many messages wait for the consumer or are in someone's hand; null when NATS does not say. */
export async function lagOf(link: Link, { stream, name }: Pick<ConsumePlan, 'stream' | 'name'>) {
  const { connection } = link
  if (connection === null) return null
  try {
    const manager = await openManager(connection)
    const { num_pending, num_ack_pending } = await manager.consumers.info(stream, name)
    return num_pending + num_ack_pending
  } catch {
    return null
  }
}

async function keepConsuming(
  { link, keeper, onTrouble }: Surroundings,
  plan: ConsumePlan,
  stop: AbortSignal,
) {
  while (!stop.aborted) {
    const connection = await link.whenUp(stop)
    if (connection === null) return
    try {
      await keeper.ensure(connection)
      const consumer = await openConsumer(connection, plan)
      await consumeUntilLost({ link, stop, onTrouble }, consumer, plan)
    } catch (error) {
      if (link.connection !== null) onTrouble(`consume ${plan.stream}`, error)
    }
    await sleep(limits.consumeAgainMs, undefined, { signal: stop }).catch(() => {})
  }
}

async function openConsumer(connection: NatsConnection, { stream, name }: ConsumePlan): Promise<Consumer> {
  const manager = await openManager(connection)
  await ensureConsumer(manager, stream, name)
  if (await isAhead(manager, stream, name)) {
    await manager.consumers.delete(stream, name)
    await ensureConsumer(manager, stream, name)
  }
  return jetstream(connection, { timeout: limits.manageTimeoutMs }).consumers.get(stream, name)
}

async function ensureConsumer(manager: JetStreamManager, stream: string, name: string): Promise<void> {
  const config = {
    ack_wait: nanos(limits.handTimeMs),
    max_ack_pending: limits.messagesInHandMax,
    max_deliver: -1,
  }
  try {
    await manager.consumers.add(stream, {
      durable_name: name,
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ...config,
    })
  } catch {
    await manager.consumers.update(stream, name, config)
  }
}

/**
 * Whether it takes new messages for old. A NATS whose disk was full may come back counting from the start, while the
 * consumer remembers how far it was, and would pass over as many. Messages are removed once they are accepted: so one
 * that is still there, below what is accepted, tells as well. A consumer made anew begins with the first message.
 */
async function isAhead(manager: JetStreamManager, stream: string, name: string): Promise<boolean> {
  const { delivered, ack_floor: accepted } = await manager.consumers.info(stream, name)
  const { state } = await manager.streams.info(stream)
  const passesOver = state.messages > 0 && state.first_seq <= accepted.stream_seq
  return delivered.stream_seq > state.last_seq || passesOver
}

interface Stay {
  readonly link: Link
  readonly stop: AbortSignal
  readonly onTrouble: Surroundings['onTrouble']
}

async function consumeUntilLost({ link, stop, onTrouble }: Stay, consumer: Consumer, plan: ConsumePlan) {
  const messages = await consumer.consume({
    max_messages: limits.messagesAtOnceMax,
    expires: limits.pullExpiresMs,
    idle_heartbeat: limits.pullHeartbeatMs,
    abort_on_missing_resource: true,
  })
  const end = () => messages.stop()
  using _ = link.onLost(end)
  stop.addEventListener('abort', end)
  if (stop.aborted || link.connection === null) end()
  try {
    await takeInBatches(messages, { take: (batch) => takeOrGiveBack(plan, batch, onTrouble), stop })
  } finally {
    stop.removeEventListener('abort', end)
    end()
  }
}

interface Taking {
  readonly take: ConsumePlan['take']
  readonly stop: AbortSignal
}

/** While one batch is dealt with, the next one gathers; no more is asked for once it is full. */
async function takeInBatches(messages: ConsumerMessages, { take, stop }: Taking): Promise<void> {
  let gathered: JsMsg[] = []
  let batch: JsMsg[] = []
  let taking: Promise<void> | null = null
  const takeGathered = async () => {
    while (gathered.length > 0 && !stop.aborted) {
      batch = gathered
      gathered = []
      await take(batch.map(takenFrom))
    }
    taking = null
  }
  // Of a process that is gone NATS knows soon; one that is slow keeps what it has. Nothing is said of settled ones.
  const holding = setInterval(() => {
    for (const message of [...gathered, ...batch]) settle(() => message.working())
  }, limits.handTimeMs / 3)
  try {
    for await (const message of messages) {
      gathered.push(message)
      taking ??= takeGathered()
      if (gathered.length >= limits.messagesAtOnceMax) await taking
    }
  } finally {
    await taking
    clearInterval(holding)
    for (const message of gathered) takenFrom(message).giveBack(0)
  }
}

async function takeOrGiveBack(
  { stream, take }: ConsumePlan,
  batch: readonly Taken[],
  onTrouble: Stay['onTrouble'],
) {
  try {
    await take(batch)
  } catch (error) {
    onTrouble(`consume ${stream}`, error)
    for (const message of batch) message.giveBack(limits.handTimeMs)
  }
}

function takenFrom(message: JsMsg): Taken {
  return {
    json: () => message.json(),
    bytes: message.data.length,
    accept: () => settle(() => message.ack()),
    giveBack: (delayMs) => settle(() => message.nak(delayMs)),
  }
}

/** Without a connection it cannot be said what became of a message, which is then given to some process again. */
function settle(say: () => void): void {
  try {
    say()
  } catch (error) {
    if (!(error instanceof ClosedConnectionError)) throw error
  }
}

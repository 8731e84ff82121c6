import type { NatsConnection } from '@nats-io/transport-node'
import { type AskOptions, createAsk } from './ask.ts'
import { type ConsumePlan, consumeStream, lagOf } from './consume-stream.ts'
import { Hints } from './hints.ts'
import { limits } from './limits.ts'
import { Link } from './link.ts'
import { type MessageBody, type MessageName, messages } from './messages.ts'
import { openConnection } from './open-connection.ts'
import { createPublishToStream } from './publish-to-stream.ts'
import type { ReplyBody, RequestBody, RequestName } from './requests.ts'
import { type AnswerRequest, type Served, serveRequests } from './serve-requests.ts'
import { StreamKeeper } from './stream-keeper.ts'
import type { StreamBody, StreamName } from './streams.ts'
import { createTell } from './tell.ts'
import { type Watch, type WatchOptions, watchStream } from './watch-stream.ts'

export interface BusOptions {
  readonly url: string
  readonly name: string
  /** On how many servers of a cluster each stream is kept. One, unless told. */
  readonly replicas?: number
  readonly onChange: (state: 'up' | 'down') => void
  readonly onBadMessage: (subject: string, error: unknown) => void
  /** What NATS refused or could not do though it is there. */
  readonly onTrouble?: (doing: string, error: unknown) => void
}

export interface Bus extends AsyncDisposable {
  readonly state: 'up' | 'down'
  /** How large a message NATS takes; larger ones are refused. */
  readonly payloadBytesMax: number
  /** Sends a hint. While the bus is down it is dropped: nobody waits for it and nothing piles up. */
  publish<Name extends MessageName>(name: Name, body: MessageBody<Name>): void
  /** Once NATS has passed on the hints sent until now; at once while it is away, and soon in any case. */
  hintsTaken(): Promise<void>
  subscribe<Name extends MessageName>(name: Name, receive: (body: MessageBody<Name>) => void): void
  /** Asks any one of those who serve it. null when no answer came in time or none can come; it never throws. */
  request<Name extends RequestName>(
    name: Name,
    body: RequestBody<Name>,
    options: AskOptions,
  ): Promise<ReplyBody<Name> | null>
  /** Answers what is asked, one of all who serve it. An answer that fails is told to the asker as `unavailable`. */
  serve<Name extends RequestName>(name: Name, answer: AnswerRequest<Name>): void
  /** stored: NATS has it. refused: it may not; the same message id makes another try harmless. It never throws. */
  publishToStream<Name extends StreamName>(
    name: Name,
    body: StreamBody<Name>,
    options: { readonly messageId: string },
  ): Promise<'stored' | 'refused'>
  /** Tells whoever watches the val, now or within the time that the stream keeps it. Dropped while the bus is down. */
  tell(name: 'TAIL', body: StreamBody<'TAIL'>): void
  consume(plan: ConsumePlan): AsyncDisposable
  lagOf(consumer: Pick<ConsumePlan, 'stream' | 'name'>): Promise<number | null>
  watch(name: 'TAIL', valId: string, options: WatchOptions): Promise<Watch | null>
}

/** Connects in the background, for as long as it takes, and again whenever the connection is lost. */
export function connectBus(options: BusOptions): Bus {
  const { url, name, replicas = 1, onChange, onBadMessage, onTrouble = () => {} } = options
  const link = new Link()
  const stop = new AbortController()
  const keeper = new StreamKeeper(link, replicas, (error) => onTrouble('make the streams', error))
  const surroundings = { link, keeper, onBadMessage, onTrouble }
  const hints = new Hints(link)
  const served: Served[] = []
  let opened: NatsConnection | undefined
  const waiting: ((connection: NatsConnection) => void)[] = []
  const opening = openConnection(url, name, stop.signal).then((connection) => {
    if (connection === null) return
    opened = connection
    for (const start of waiting.splice(0)) start(connection)
    void followStatus(connection, link, onChange)
  })
  /** Subscriptions outlive a lost connection: the client makes them again. */
  const onceOpened = (start: (connection: NatsConnection) => void) => {
    if (opened) start(opened)
    else waiting.push(start)
  }

  return {
    get state() {
      return link.connection === null ? 'down' : 'up'
    },
    get payloadBytesMax() {
      return opened?.info?.max_payload ?? limits.payloadBytesAssumed
    },
    publish: (message, body) => hints.publish(message, body),
    hintsTaken: () => hints.taken(),
    subscribe: (message, receive) =>
      onceOpened((connection) => subscribeOn(connection, message, { receive, onBadMessage })),
    request: createAsk(surroundings),
    serve: (request, answer) =>
      onceOpened((connection) => served.push(serveRequests(connection, request, { answer, onBadMessage }))),
    publishToStream: createPublishToStream(surroundings),
    tell: createTell(surroundings),
    consume: (plan) => consumeStream(surroundings, plan),
    lagOf: (consumer) => lagOf(link, consumer),
    watch: (_, valId, watchOptions) => watchStream(surroundings, valId, watchOptions),
    async [Symbol.asyncDispose]() {
      stop.abort()
      await opening
      await Promise.all(served.map((each) => each.end()))
      keeper[Symbol.dispose]()
      await opened?.close()
    },
  }
}

async function followStatus(connection: NatsConnection, link: Link, onChange: BusOptions['onChange']) {
  const change = (state: 'up' | 'down') => {
    if (state === (link.connection === null ? 'down' : 'up')) return
    if (state === 'up') link.up(connection)
    else link.down()
    onChange(state)
  }
  change('up')
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'staleConnection') change('down')
    if (type === 'reconnect') change('up')
  }
  change('down')
}

interface Receiver<Name extends MessageName> {
  readonly receive: (body: MessageBody<Name>) => void
  readonly onBadMessage: BusOptions['onBadMessage']
}

function subscribeOn<Name extends MessageName>(
  connection: NatsConnection,
  name: Name,
  { receive, onBadMessage }: Receiver<Name>,
) {
  connection.subscribe(`${messages[name].subject}.*`, {
    callback: (error, message) => {
      try {
        if (error) throw error
        receive(messages[name].shape.parse(message.json()) as MessageBody<Name>)
      } catch (problem) {
        onBadMessage(message.subject, problem)
      }
    },
  })
}

import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { limits } from './limits.ts'
import { type MessageBody, type MessageName, messages, subjectOf } from './messages.ts'

export interface BusOptions {
  readonly url: string
  readonly name: string
  readonly onChange: (state: 'up' | 'down') => void
  readonly onBadMessage: (subject: string, error: unknown) => void
}

export interface Bus extends AsyncDisposable {
  readonly state: 'up' | 'down'
  /** Sends a hint. While the bus is down it is dropped: nobody waits for it and nothing piles up. */
  publish<Name extends MessageName>(name: Name, body: MessageBody<Name>): void
  subscribe<Name extends MessageName>(name: Name, receive: (body: MessageBody<Name>) => void): void
}

/** Connects in the background, for as long as it takes, and again whenever the connection is lost. */
export function connectBus({ url, name, onChange, onBadMessage }: BusOptions): Bus {
  let connection: NatsConnection | undefined
  let state: 'up' | 'down' = 'down'
  const stop = new AbortController()
  const waiting: ((connection: NatsConnection) => void)[] = []

  const setState = (next: 'up' | 'down') => {
    if (state === next) return
    state = next
    onChange(next)
  }
  const opening = openWhenReachable(url, name, stop.signal).then((opened) => {
    if (opened === null) return
    connection = opened
    setState('up')
    for (const start of waiting.splice(0)) start(opened)
    void watch(opened, setState)
  })

  return {
    get state() {
      return state
    },
    publish(message, body) {
      if (state === 'up') connection?.publish(subjectOf(message, body), JSON.stringify(body))
    },
    subscribe(message, receive) {
      const start = (on: NatsConnection) => subscribeOn(on, message, { receive, onBadMessage })
      if (connection) start(connection)
      else waiting.push(start)
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await opening
      await connection?.close()
    },
  }
}

/** The first connection is ours to wait for, so that the wait can end; the client itself sees to later ones. */
async function openWhenReachable(
  url: string,
  name: string,
  signal: AbortSignal,
): Promise<NatsConnection | null> {
  while (!signal.aborted) {
    try {
      return await open(url, name)
    } catch {
      const waitMs = limits.reconnectWaitMs + Math.random() * limits.reconnectJitterMs
      await sleep(waitMs, undefined, { signal }).catch(() => {})
    }
  }
  return null
}

async function open(url: string, name: string): Promise<NatsConnection> {
  return connect({
    servers: url.split(','),
    name,
    timeout: limits.connectTimeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: limits.reconnectWaitMs,
    reconnectJitter: limits.reconnectJitterMs,
    pingInterval: limits.pingIntervalMs,
    maxPingOut: limits.pingsLostMax,
  })
}

async function watch(connection: NatsConnection, setState: (state: 'up' | 'down') => void) {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect' || type === 'staleConnection') setState('down')
    if (type === 'reconnect') setState('up')
  }
  setState('down')
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

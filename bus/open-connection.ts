import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { limits } from './limits.ts'

/** The first connection is ours to wait for, so that the wait can end; the client itself sees to later ones. */
export async function openConnection(
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
    // A trace for every request would cost more than the request.
    noAsyncTraces: true,
  })
}

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EventStream, Piece } from '../event-stream.ts'
import { limits } from '../limits.ts'

export interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** Any event, once its operation no longer matters to the compiler. */
export interface SentEvent {
  readonly event: string
  readonly id: string
  readonly data: unknown
}

/**
 * Writes an answer that goes on. The next piece is taken only once the socket has room, so that what waits is in the
 * stream's hands and not in our memory; a reader that takes nothing for eventStallMsMax is cut off.
 */
export async function sendEvents(
  { incoming, outgoing }: Exchange,
  headers: string[],
  stream: EventStream<SentEvent>,
): Promise<void> {
  outgoing.on('close', stream.end)
  try {
    // A proxy that gathers an answer before it passes it on would gather for ever.
    outgoing.writeHead(200, [...headers, 'x-accel-buffering', 'no'])
    if (incoming.method === 'HEAD' || outgoing.destroyed) return
    for await (const piece of stream.pieces) {
      if (outgoing.destroyed) return
      if (!outgoing.write(textOf(piece)) && !(await hasRoomInTime(outgoing))) return void outgoing.destroy()
    }
  } finally {
    stream.end()
    if (!outgoing.destroyed) outgoing.end()
  }
}

async function hasRoomInTime(outgoing: ServerResponse): Promise<boolean> {
  if (outgoing.destroyed) return false
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), limits.eventStallMsMax)
  const abort = () => stop.abort()
  outgoing.once('close', abort)
  try {
    await once(outgoing, 'drain', { signal: stop.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(timer)
    outgoing.off('close', abort)
  }
}

function textOf(piece: Piece<SentEvent>): string {
  switch (piece.kind) {
    case 'start': {
      return `retry: ${piece.retryMs}\nid: ${piece.id}\n\n`
    }
    case 'heartbeat': {
      return ': still here\n\n'
    }
    case 'event': {
      const { event, id, data } = piece.event
      // JSON has no line breaks of its own, so that the data is one line.
      return `event: ${event}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`
    }
    default: {
      return piece satisfies never
    }
  }
}

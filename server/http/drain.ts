import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { limits } from '../limits.ts'
import type { Observations } from '../observations.ts'

interface Draining {
  readonly observe: Observations
  /** Ends the answers that would go on for ever. */
  readonly endStreams: () => void
  readonly connections: ReadonlySet<Socket>
}

/** All connections of the server: Node lists none, and does not count as idle one on which nothing was ever said. */
export function trackConnections(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  return connections
}

/** Takes no new connection, ends idle ones, and waits, within a bound, for what is under way. */
export async function drain(server: Server, { observe, endStreams, connections }: Draining): Promise<void> {
  observe.draining()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  endStreams()
  const closeIdle = () => {
    server.closeIdleConnections()
    // Browsers open connections ahead of need.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  closeIdle()
  // A connection that was busy a moment ago turns idle once its answer is out.
  const sweep = setInterval(closeIdle, 50)
  const cut = setTimeout(() => server.closeAllConnections(), limits.drainTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

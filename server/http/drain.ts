import type { Server } from 'node:http'
import { limits } from '../limits.ts'
import type { Observations } from '../observations.ts'

/** Takes no new connection, ends idle ones, and waits, within a bound, for what is under way. */
export async function drain(server: Server, observe: Observations): Promise<void> {
  observe.draining()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  // A connection that was busy a moment ago turns idle once its answer is out.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  const cut = setTimeout(() => server.closeAllConnections(), limits.drainTimeoutMs)
  await closed
  clearInterval(sweep)
  clearTimeout(cut)
}

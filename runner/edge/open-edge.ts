import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { limits } from '../limits.ts'
import { Edge, type EdgeParts } from './edge.ts'

export interface OpenEdge extends AsyncDisposable {
  readonly port: number
}

/** Listens for requests to vals. Disposed, it takes no more and waits for those under way, for a while. */
export async function openEdge(parts: EdgeParts, at: { host: string; port: number }): Promise<OpenEdge> {
  const edge = new Edge(parts)
  const server = createServer({
    maxHeaderSize: limits.requestHeaderBytesMax,
    requestTimeout: limits.requestReceiveMsMax,
    headersTimeout: limits.headersReceiveMsMax,
    keepAliveTimeout: limits.keepAliveMs,
    // Whatever else a client offers to speak, such as h2c, it may be declined by an ordinary answer.
    shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  })
  server.maxConnections = limits.connectionsMax
  server.on('request', (request, response) => edge.answer(request, response))
  // Whether the body is wanted is known once the val is: until then the client waits for its go-ahead.
  server.on('checkContinue', (request, response) => edge.answer(request, response))
  const upgraded = new Set<Duplex>()
  server.on('upgrade', (request, socket, head) => {
    upgraded.add(socket)
    socket.once('close', () => upgraded.delete(socket))
    edge.upgrade(request, socket, head)
  })
  const { port } = await listen(server, at)
  return { port, [Symbol.asyncDispose]: () => close(server, upgraded) }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

/** The server itself knows nothing of connections that went over to another protocol. */
async function close(server: Server, upgraded: ReadonlySet<Duplex>): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve))
  server.closeIdleConnections()
  const timer = setTimeout(() => {
    server.closeAllConnections()
    for (const socket of upgraded) socket.destroy()
  }, limits.stopMsMax)
  await closed
  clearTimeout(timer)
}

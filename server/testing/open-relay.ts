import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export interface Relay extends AsyncDisposable {
  readonly port: number
  /** Ends every connection and takes no new one. */
  cut(): Promise<void>
  /** Takes new ones again. */
  mend(): Promise<void>
}

/** Passes TCP on to another address until it is cut: how a service goes away for one server only. */
export async function openRelay({ hostname, port }: URL, ownPort = 0): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy()).on('close', () => sockets.delete(from))
      from.pipe(to)
    }
  })
  const actual = await listen(server, ownPort)
  const cut = async () => {
    const closed = server.listening ? once(server, 'close') : null
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  const mend = async () => {
    if (!server.listening) await listen(server, actual)
  }
  return { port: actual, cut, mend, [Symbol.asyncDispose]: cut }
}

async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

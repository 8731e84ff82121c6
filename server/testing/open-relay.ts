import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay extends AsyncDisposable {
  readonly port: number
  /** Ends every connection and takes no new one. */
  cut(): Promise<void>
}

/** Passes TCP on to another address until it is cut: how a service goes away for one server only. */
export async function openRelay({ hostname, port }: URL): Promise<Relay> {
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = async () => {
    const closed = server.listening ? once(server, 'close') : null
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { port: (server.address() as AddressInfo).port, cut, [Symbol.asyncDispose]: cut }
}

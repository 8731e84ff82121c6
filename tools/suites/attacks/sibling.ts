import { createSocket } from 'node:dgram'
import { promisify } from 'node:util'
import { callVal, until, type ValAddress } from './call-val.ts'

/** Listens on every address of its sandbox, and says who came. */
export const siblingCode = (port: number) => `
  import { createSocket } from 'node:dgram'
  let connections = 0
  let datagrams = 0
  async function accept() {
    for await (const connection of Deno.listen({ hostname: '0.0.0.0', port: ${port} })) {
      connections++
      connection.close()
    }
  }
  void accept()
  createSocket('udp4').on('message', () => datagrams++).bind(${port}, '0.0.0.0')
  export default () => Response.json({ connections, datagrams })`

/** Calls it, so that it lives while it is attacked. */
export async function countVisits(address: ValAddress): Promise<number> {
  const { kind, text } = await callVal(address)
  if (kind !== 200) throw new Error(`The sibling answered ${kind}: ${text}`)
  const { connections, datagrams } = JSON.parse(text) as { connections: number; datagrams: number }
  return connections + datagrams
}

interface SiblingNetwork {
  readonly addresses: readonly string[]
  readonly port: number
}

/** From the host, which may: otherwise a sibling that cannot hear would make every attack on it look failed. */
export async function seeThatItHears(
  sibling: ValAddress,
  { addresses, port }: SiblingNetwork,
): Promise<number> {
  const before = await countVisits(sibling)
  const socket = createSocket('udp4')
  for (const address of addresses) {
    await promisify<void>((done) => socket.send('hello', port, address, (error) => done(error)))()
  }
  socket.close()
  return until(
    async () => {
      const visits = await countVisits(sibling)
      return visits > before ? visits : null
    },
    { withinMs: 3_000, what: 'a datagram from the host reaches the sibling' },
  )
}

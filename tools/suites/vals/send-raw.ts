import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'

const timeoutMs = 10_000

/** Bytes as no client library would send them; returns all that comes back until the other side hangs up. */
export async function sendRaw(port: number, parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = await connect(port)
  let heard = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (heard += chunk))
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(timeoutMs) })
  for (const part of parts) socket.write(part)
  try {
    await closed
  } catch {
    throw new Error(`The connection stayed open after: ${heard}`)
  } finally {
    socket.destroy()
  }
  return heard
}

export async function connect(port: number): Promise<Socket> {
  const socket = createConnection(port, '127.0.0.1')
  // Being hung up on is an answer too.
  socket.on('error', () => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Reads on a socket until the text is there. */
export async function readUntil(socket: Socket, text: string): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs)
  let heard = ''
  while (!heard.includes(text)) {
    const [chunk] = (await once(socket, 'data', { signal })) as [Buffer]
    heard += chunk.toString('latin1')
  }
  return heard
}

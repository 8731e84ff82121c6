import type { IncomingMessage } from 'node:http'
import { limits } from '@valley/contract/limits.ts'
import { Fault } from '../fault.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

/** The whole body as text, read from the socket with a bound. */
export async function readBody(incoming: IncomingMessage): Promise<string> {
  if (Number(incoming.headers['content-length'] ?? 0) > limits.bodyBytesMax) {
    // Read and thrown away, for requestTimeoutMs at most: a client that still writes would not see the answer.
    incoming.resume()
    throw tooLarge()
  }
  const bytes = await collect(incoming)
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new Fault('invalid_request', 'The body is not valid UTF-8.', { cause })
  }
}

function collect(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    incoming.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= limits.bodyBytesMax) chunks.push(chunk)
      else reject(tooLarge())
    })
    incoming.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    incoming.on('close', () => reject(cutShort()))
    incoming.on('error', (cause) => reject(cutShort(cause)))
  })
}

function tooLarge() {
  return new Fault('payload_too_large', `The body may have ${limits.bodyBytesMax} bytes at most.`)
}

function cutShort(cause?: unknown) {
  return new Fault('invalid_request', 'The body ended before it was complete.', { cause })
}

import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { limits } from '../limits.ts'

/**
 * A request's body for undici, counted; null where there is none. Never the request itself: undici destroys what it
 * was given when the answer comes first, and then nobody could read the rest from a client that still sends it.
 */
export function bodyOf(request: IncomingMessage, onTooLarge: () => void): Transform | null {
  const { headers } = request
  if (headers['transfer-encoding'] === undefined && !(Number(headers['content-length']) > 0)) return null
  let bytes = 0
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (bytes <= limits.requestBodyBytesMax) return done(null, chunk)
      onTooLarge()
      return done(new Error('The body is too large.'))
    },
  })
  // Whoever reads it hears of an error; once nobody does, it is of no interest.
  return request.pipe(counted.on('error', () => undefined))
}

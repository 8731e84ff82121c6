import type { Link } from './link.ts'
import { limits } from './limits.ts'
import { type StreamBody, subjectAbout } from './streams.ts'

interface Teller {
  readonly link: Link
  readonly onTrouble: (doing: string, error: unknown) => void
}

/**
 * Makes the function that tells whoever watches a val. Nobody waits for it. What NATS has not taken yet is counted by
 * asking it now and then whether it has caught up, so that a slow NATS costs events and not memory.
 */
export function createTell({ link, onTrouble }: Teller) {
  let waitingBytes = 0
  let isCatchingUp = false

  async function catchUp(): Promise<void> {
    isCatchingUp = true
    const bytes = waitingBytes
    try {
      await link.connection?.flush()
      waitingBytes -= bytes
    } catch {
      // The connection is lost, and what was on its way with it.
      waitingBytes = 0
    } finally {
      isCatchingUp = false
    }
  }

  return (name: 'TAIL', body: StreamBody<'TAIL'>): void => {
    const { connection } = link
    if (connection === null || waitingBytes >= limits.toldBytesMax) return
    const bytes = Buffer.from(JSON.stringify(body))
    try {
      connection.publish(subjectAbout(name, body.valId), bytes)
    } catch (error) {
      return onTrouble(`tell ${name}`, error)
    }
    waitingBytes += bytes.length
    if (!isCatchingUp) void catchUp()
  }
}

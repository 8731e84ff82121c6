import { type Agent, type IncomingMessage, request as open } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostileCall } from '../../attacks/attack.ts'

export interface ValAnswer {
  readonly kind: number | 'broken' | 'left'
  readonly head: string
  /** The beginning of it. */
  readonly text: string
  readonly bytes: number
}

export interface ValAddress {
  readonly port: number
  readonly host: string
}

const textBytesMax = 64 * 1024
const patienceMs = 60_000
const chunk = Buffer.alloc(64 * 1024)

/** Calls a val at its address. Resolves however it goes; throws only when nobody answers at all. */
export async function callVal(
  { port, host }: ValAddress,
  call: HostileCall = {},
  agent: Agent | false = false,
): Promise<ValAnswer> {
  const { method = 'GET', headers = {}, bodyBytes = 0, leavesAfterMs } = call
  const answered = Promise.withResolvers<ValAnswer>()
  const sent = open({
    host: '127.0.0.1',
    port,
    method,
    agent,
    headers: { ...headers, host, ...(bodyBytes > 0 ? { 'transfer-encoding': 'chunked' } : {}) },
    signal: AbortSignal.timeout(patienceMs),
  })
  let hasLeft = false
  const leaving = { kind: 'left', head: '', text: '', bytes: 0 } as const
  if (leavesAfterMs !== undefined) {
    setTimeout(() => {
      hasLeft = true
      sent.destroy()
      answered.resolve(leaving)
    }, leavesAfterMs)
  }
  sent.on('response', (response) => void read(response).then(answered.resolve))
  sent.on('error', (error: NodeJS.ErrnoException) => {
    if (hasLeft) answered.resolve(leaving)
    else if (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      answered.resolve({ ...leaving, kind: 'broken' })
    else answered.reject(error)
  })
  await sendBody(sent, call, answered.promise)
  return answered.promise
}

type Sent = ReturnType<typeof open>

async function sendBody(sent: Sent, call: HostileCall, answered: Promise<unknown>): Promise<void> {
  const { bodyBytes = 0, stallsAfterBytes = Infinity } = call
  const stop = new AbortController()
  const over = answered.then(
    () => stop.abort(),
    () => stop.abort(),
  )
  for (let bytes = 0; bytes < bodyBytes && !stop.signal.aborted; bytes += chunk.length) {
    if (bytes >= stallsAfterBytes) return
    if (!sent.write(chunk)) await Promise.race([over, drained(sent)])
  }
  sent.end()
}

function drained(sent: Sent): Promise<void> {
  return new Promise((resolve) => {
    sent.once('drain', resolve)
  })
}

async function read(response: IncomingMessage): Promise<ValAnswer> {
  const { statusCode = 0, rawHeaders } = response
  const head = rawHeaders.map((part, at) => (at % 2 === 0 ? `${part}: ` : `${part}\n`)).join('')
  let text = ''
  let bytes = 0
  let kind: ValAnswer['kind'] = statusCode
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.length
      if (text.length < textBytesMax) text += part.toString('utf8')
    }
  } catch {
    kind = 'broken'
  }
  return { kind, head, text, bytes }
}

/** Asks again until the condition holds or the time is over. */
export async function until<Value>(
  find: () => Promise<Value | null>,
  { withinMs, what }: { withinMs: number; what: string },
): Promise<Value> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const value = await find()
    if (value !== null) return value
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`)
    await sleep(50)
  }
}

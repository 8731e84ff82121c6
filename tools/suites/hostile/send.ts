import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { startWatch } from '../stolen-time.ts'
import type { RawCase } from './raw-cases.ts'
import { bytesOf, type HostileRequest } from './target.ts'

/** What came back. Status 0: the connection was closed without an answer. */
export interface Answer {
  readonly status: number
  /** Without the time that the machine gave to others. */
  readonly durationMs: number
  readonly wallMs: number
  readonly text: string
  readonly isJson: boolean
}

type Received = Omit<Answer, 'durationMs' | 'wallMs'>

const answerTimeoutMs = 10_000
const agent = new Agent({ keepAlive: true, maxSockets: 64, scheduling: 'fifo' })

export interface Destination {
  readonly url: string
  /** Of the server. */
  readonly pid: number
}

export async function send({ url, pid }: Destination, hostile: HostileRequest): Promise<Answer> {
  const body = bytesOf(hostile.body)
  const elapsed = startWatch([process.pid, pid])
  const received = await exchange(url, { ...hostile, body })
  return { ...received, ...elapsed() }
}

function exchange(
  url: string,
  { method, path, headers, body, isChunked }: HostileRequest & { readonly body: Buffer | null },
) {
  const { hostname, port } = new URL(url)
  const length = body === null || isChunked ? {} : { 'content-length': String(body.length) }
  return new Promise<Received>((resolve, reject) => {
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      headers: { ...headers, ...length },
      agent,
      timeout: answerTimeoutMs,
      setHost: !('host' in headers),
    })
    outgoing.on('timeout', () =>
      outgoing.destroy(new Error(`${method} ${path.slice(0, 100)} had no answer in ${answerTimeoutMs} ms`)),
    )
    // The server may refuse a body before all of it is sent: then the answer counts, not the broken pipe.
    let answered = false
    outgoing.on('error', (error) => {
      if (answered) return
      if (isClosed(error)) resolve({ status: 0, text: '', isJson: false })
      else reject(error)
    })
    outgoing.on('response', (incoming) => {
      answered = true
      readAnswer(incoming).then(resolve, reject)
    })
    if (body === null) outgoing.end()
    else outgoing.end(body)
  })
}

async function readAnswer(incoming: IncomingMessage): Promise<Received> {
  const { statusCode: status = 0, headers } = incoming
  if (headers['content-type'] === 'text/event-stream') {
    incoming.destroy()
    return { status, text: '', isJson: false }
  }
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
  } catch (error) {
    if (!isClosed(error)) throw error
  }
  const text = decode(Buffer.concat(chunks), headers['content-encoding']).toString()
  return { status, text, isJson: headers['content-type'] === 'application/json' && text !== '' }
}

function decode(bytes: Buffer, encoding: string | undefined): Buffer {
  if (bytes.length === 0 || encoding === undefined) return bytes
  return encoding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)
}

/** Every status that a socket was answered with; its time counts from the last byte sent. */
export async function sendRaw(
  { url, pid }: Destination,
  { pieces, after }: RawCase,
): Promise<readonly Answer[]> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), timeout: answerTimeoutMs })
  const chunks: Buffer[] = []
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', (error) => (isClosed(error) ? resolve() : reject(error)))
    socket.on('timeout', () => socket.destroy(new Error('The socket had no answer.')))
    socket.on('close', () => resolve())
  })
  for (const piece of pieces) {
    socket.write(piece, 'latin1')
    await turn()
  }
  const elapsed = startWatch([process.pid, pid])
  if (after === 'end') socket.end()
  if (after === 'destroy') socket.end(() => socket.destroy())
  await closed
  const times = elapsed()
  const text = Buffer.concat(chunks).toString('latin1')
  const statuses = [...text.matchAll(/^HTTP\/1\.[01] (\d{3}) /gm)].map(([, status]) => Number(status))
  return statuses.length === 0
    ? [{ status: 0, text: '', isJson: false, ...times }]
    : statuses.map((status) => ({ status, text, isJson: false, ...times }))
}

function isClosed(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return (
    code === 'ECONNRESET' || code === 'EPIPE' || code === 'ECONNABORTED' || code === 'HPE_INVALID_CONSTANT'
  )
}

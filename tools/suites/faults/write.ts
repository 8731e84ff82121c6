import { once } from 'node:events'
import { type Agent, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { json } from 'node:stream/consumers'
import type { Val } from '@valley/contract/vals.ts'

/** One write of the load: what is sent, and what becomes of it. */
export interface Write {
  readonly method: 'POST' | 'PUT'
  readonly path: string
  readonly name?: string
  /** No two writes have the same, so that each can be found again. */
  readonly code: string
  readonly startedAt: number
  outcome: Outcome
}

/**
 * acknowledged: saved, says the server. unavailable: 503, as the contract has it. refused: no connection. reset: the
 * connection broke before an answer. wrong: anything else, which must not be.
 */
export type Outcome =
  | { readonly kind: 'pending' }
  | { readonly kind: 'acknowledged'; readonly at: number; readonly valId: string; readonly version: number }
  | { readonly kind: 'unavailable' | 'refused' | 'reset'; readonly at: number }
  | { readonly kind: 'wrong'; readonly at: number; readonly what: string }

interface Destination {
  readonly url: string
  readonly token: string
  readonly agent: Agent
}

const answerTimeoutMs = 20_000

/** Sends a write once and never again: a client that retries would hide what was lost. */
export async function sendWrite(destination: Destination, write: Write): Promise<Outcome> {
  const { outgoing, body, outcome } = open(destination, write, {})
  outgoing.end(body)
  return outcome
}

export interface HeldWrite {
  readonly outcome: Promise<Outcome>
  release(): void
}

/** Begins a write and keeps its body back. Resolves once the server has said that it has begun with it. */
export async function holdWrite(destination: Destination, write: Write): Promise<HeldWrite> {
  const { outgoing, body, outcome } = open(destination, write, { expect: '100-continue' })
  const accepted = once(outgoing, 'continue', { signal: AbortSignal.timeout(answerTimeoutMs) })
  outgoing.flushHeaders()
  await accepted
  return { outcome, release: () => outgoing.end(body) }
}

function open({ url, token, agent }: Destination, write: Write, more: OutgoingHttpHeaders) {
  const { method, path, name, code } = write
  const body = JSON.stringify({ code, ...(name && { name }) })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...more,
  }
  const outgoing = request(url + path, { method, headers, agent, timeout: answerTimeoutMs })
  const outcome = new Promise<Outcome>((resolve) => {
    outgoing.on('response', (incoming) => {
      readOutcome(incoming).then(resolve, (error: unknown) => resolve(failure(error)))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer after ${answerTimeoutMs} ms`)))
    outgoing.on('error', (error) => resolve(failure(error)))
  })
  return { outgoing, body, outcome }
}

async function readOutcome(incoming: IncomingMessage): Promise<Outcome> {
  const { statusCode: status = 0, headers } = incoming
  const body = (await json(incoming)) as Partial<Val> & { readonly code?: string }
  const at = performance.now()
  if ((status === 200 || status === 201) && body.id !== undefined && body.version !== undefined)
    return { kind: 'acknowledged', at, valId: body.id, version: body.version }
  if (status === 503 && body.code === 'unavailable' && Number(headers['retry-after']) >= 1)
    return { kind: 'unavailable', at }
  return { kind: 'wrong', at, what: `${status} ${JSON.stringify(body)}` }
}

function failure(error: unknown): Outcome {
  const at = performance.now()
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ECONNREFUSED') return { kind: 'refused', at }
  if (code === 'ECONNRESET' || code === 'EPIPE') return { kind: 'reset', at }
  return { kind: 'wrong', at, what: String(error) }
}

import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

const answerTimeoutMs = 30_000

/**
 * answered: with that status. refused: nobody took the connection, so nothing was done. unknown: the connection broke or
 * no answer came, and nobody can say whether it was done.
 */
export type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unknown'; readonly why: string }

export interface ToSend {
  readonly url: string
  readonly token: string
  readonly body: object
  readonly agent: Agent
}

/** Sends a POST once and never again: a client that retries would hide what was lost. */
export async function sendRequest({ url, token, body, agent }: ToSend): Promise<Answer> {
  const sent = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(sent),
  }
  const outgoing = request(url, { method: 'POST', headers, agent, timeout: answerTimeoutMs })
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const fail = (error: unknown) => resolve(describeFailure(error))
  outgoing.on('response', (incoming) => {
    const status = incoming.statusCode ?? 0
    text(incoming).then((answered) => resolve({ kind: 'answered', status, body: answered }), fail)
  })
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')))
  outgoing.on('error', fail)
  outgoing.end(sent)
  return promise
}

function describeFailure(error: unknown): Answer {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined
  if (code === 'ECONNREFUSED') return { kind: 'refused' }
  return { kind: 'unknown', why: code ?? String(error) }
}

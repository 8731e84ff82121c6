import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listenOnLoopback } from './listen-on-loopback.ts'

/** What the server does with one request. */
export type Step = (response: ServerResponse) => void

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A real server on loopback that takes one prepared step per request, the last one again and again. */
export async function scriptedServer(...steps: readonly [Step, ...Step[]]) {
  const received: Received[] = []
  const server = await listenOnLoopback(async (request, response) => {
    const { method, url, headers } = request
    received.push({ method, url, headers, body: await text(request) })
    const step = steps[Math.min(received.length, steps.length) - 1]
    step?.(response)
  })
  return { ...server, received, baseUrl: `http://127.0.0.1:${server.port}` }
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: OutgoingHttpHeaders = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** Answers as Valley does when something is wrong; at once again is fine. */
export function fault(status: number, code: string, headers: OutgoingHttpHeaders = {}): Step {
  return json(
    status,
    { code, message: `It is ${code}.`, requestId: 'r1' },
    { 'retry-after': '0', ...headers },
  )
}

/** Answers without a body. */
export const done: Step = (response) => {
  response.writeHead(204).end()
}

/** Cuts the connection instead of answering: the caller cannot know what happened. */
export const hangUp: Step = (response) => {
  response.destroy()
}

/** Never answers. */
export const silence: Step = () => {}

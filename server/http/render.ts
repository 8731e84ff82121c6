import type { ErrorBody } from '@valley/contract/errors.ts'
import type { Operation } from '@valley/contract/operation.ts'
import type { Val } from '@valley/contract/vals.ts'
import { etagOf } from '../etag.ts'
import { EventStream } from '../event-stream.ts'
import type { Fault } from '../fault.ts'
import { type AwaitedRun, Reply } from '../reply.ts'
import type { SentEvent } from './send-events.ts'

/** An answer as it goes over the wire, except for what every answer has. */
export interface Rendered {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string | null
  /** In place of a text: an answer that goes on. */
  readonly stream?: EventStream<SentEvent>
  /** Data rather than a function, so that a kept answer has it, too. */
  readonly awaited?: AwaitedRun
}

/** A page of ours runs scripts of ours only, and stands in no other page's frame. */
const pagePolicy =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"

/** The handler's value as text, with the headers that follow from the operation's declaration. */
export function renderAnswer(operation: Operation, value: unknown): Rendered {
  const reply = value instanceof Reply ? value : new Reply(onlyStatusOf(operation), value)
  const headers: Record<string, string> = {}
  if (reply.location !== undefined) headers['location'] = reply.location
  if (operation.etag) headers['etag'] = etagOf(reply.body as Val)
  if (operation.response[reply.status as 200] === null)
    return { status: reply.status as number, headers, text: null }
  if (value instanceof EventStream) {
    return { status: 200, headers: { 'content-type': `${operation.media}` }, text: null, stream: value }
  }
  if (operation.media === 'text/html') headers['content-security-policy'] = pagePolicy
  headers['content-type'] = operation.media ? `${operation.media}; charset=utf-8` : 'application/json'
  const text = operation.media ? String(reply.body) : JSON.stringify(reply.body)
  const { awaited } = reply
  return { status: reply.status as number, headers, text, ...(awaited && { awaited }) }
}

export function renderFault({ code, message, issues, status, headers }: Fault, requestId: string): Rendered {
  const body: ErrorBody = { code, message, requestId, ...(issues && { issues }) }
  return { status, headers: { ...headers, 'content-type': 'application/json' }, text: JSON.stringify(body) }
}

function onlyStatusOf({ response }: Operation): number {
  return Number(Object.keys(response)[0])
}

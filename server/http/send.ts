import type { ServerResponse } from 'node:http'

export interface Sendable {
  readonly status: number
  /** Names and values in turn, which is what Node writes fastest. */
  readonly headers: string[]
  readonly body: string | Buffer | null
}

/** Writes an answer straight to the socket: building web Response objects first took a fifth of a read's time. */
export function send(outgoing: ServerResponse, { status, headers, body }: Sendable): void {
  if (body === null) {
    outgoing.writeHead(status, headers).end()
    return
  }
  headers.push('content-length', String(Buffer.byteLength(body)))
  outgoing.writeHead(status, headers).end(body)
}

/** Names and values in turn: `first`, then those of the records. */
export function flatten(first: string[], ...records: readonly Readonly<Record<string, string>>[]): string[] {
  for (const record of records) {
    for (const name in record) first.push(name, record[name] ?? '')
  }
  return first
}

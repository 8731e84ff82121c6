import type { ServerResponse } from 'node:http'

export interface Sendable {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | null
}

/** Writes an answer straight to the socket: building web Response objects first took a fifth of a read's time. */
export function send(outgoing: ServerResponse, { status, headers, body }: Sendable): void {
  if (body === null) {
    outgoing.writeHead(status, headers).end()
    return
  }
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

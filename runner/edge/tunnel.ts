import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'
import type { Dispatcher } from 'undici'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { Worker } from '../workers/worker.ts'
import { answerHeaders } from './answer-headers.ts'
import { isRefusedByClient } from './exchange.ts'
import { findEndOrNull } from './find-end.ts'

export interface TunnelParts {
  readonly client: Duplex
  /** What the client sent right after its request. */
  readonly head: Buffer
  readonly run: OpenRun
  readonly worker: Worker
  readonly onEnd: (outcome: Outcome) => void
}

type Headers = Record<string, string | string[] | undefined>

/** A val's ordinary answer to a client that asked for a WebSocket. */
interface Declined {
  readonly status: number
  readonly headers: Headers
  readonly pieces: Buffer[]
  bytes: number
}

/** A WebSocket: once the val agreed, bytes both ways until one side ends. */
export class Tunnel implements Dispatcher.DispatchHandler {
  readonly #parts: TunnelParts
  #controller: Dispatcher.DispatchController | null = null
  #declined: Declined | null = null
  #isUpgraded = false
  #hasUpstreamEnded = false
  #isOver = false

  constructor(parts: TunnelParts) {
    this.#parts = parts
    const { run, client } = parts
    run.calledAtMs = performance.now()
    run.deadline = { atMs: run.calledAtMs + limits.firstByteMsMax, expire: () => this.#expire('first_byte') }
    const leave = () => {
      // The client's end follows from the worker's, and that one has a cause to be found.
      if (!this.#hasUpstreamEnded) this.#end({ kind: this.#isUpgraded ? 'answered' : 'client_left' })
    }
    client.once('close', leave)
    if (client.closed) queueMicrotask(leave)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('The client left.'))
  }

  // oxlint-disable-next-line max-params -- undici calls it so.
  onRequestUpgrade(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Headers,
    upstream: Duplex,
  ): void {
    const { client, head, run } = this.#parts
    if (this.#isOver) return void upstream.destroy()
    this.#isUpgraded = true
    run.answerStatus = status
    run.deadline = { atMs: performance.now() + limits.tunnelMsMax, expire: () => this.#expire('tunnel_end') }
    client.write(writeHead('101 Switching Protocols', [...upgraded, ...linesOf(headers)]))
    if (head.length > 0) upstream.write(head)
    upstream.once('close', () => void this.#endWith({ kind: 'answered' }))
    pipeline(client, upstream, () => undefined)
    pipeline(upstream, client, () => undefined)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200 || this.#isOver) return
    if (headers['valley-outcome'] === 'threw') this.#end({ kind: 'threw', error: valThrew })
    else this.#declined = { status, headers, pieces: [], bytes: 0 }
  }

  /** Kept until it is whole: on this socket nothing may be said that is not an answer from end to end. */
  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver || this.#declined === null) return
    this.#declined.bytes += chunk.length
    this.#declined.pieces.push(chunk)
    if (this.#declined.bytes <= limits.declinedBytesMax) return
    const why = `An answer that declines a WebSocket may have ${limits.declinedBytesMax} bytes at the most.`
    this.#end({ kind: 'answer_refused', why })
  }

  onResponseEnd(): void {
    const { client, run } = this.#parts
    if (this.#isOver || this.#declined === null) return
    const { status, headers, pieces, bytes } = this.#declined
    run.answerStatus = status
    this.#end({ kind: 'answered' })
    const lines = linesOf({ ...headers, 'content-length': undefined })
    const head = writeHead(`${status} ${STATUS_CODES[status] ?? ''}`, [
      'connection: close',
      `content-length: ${bytes}`,
      ...lines,
    ])
    client.end(Buffer.concat([Buffer.from(head, 'latin1'), ...pieces]))
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (isRefusedByClient(error)) return this.#end({ kind: 'bad_target' })
    const why = 'The val did not accept the WebSocket. Answer with: Deno.upgradeWebSocket(request).response'
    void this.#endWith({ kind: 'answer_refused', why })
    return undefined
  }

  /** As the worker's end says, if it ended; else as given. */
  async #endWith(otherwise: Outcome): Promise<void> {
    this.#hasUpstreamEnded = true
    const cause = await findEndOrNull(this.#parts.worker)
    this.#end(cause === null ? otherwise : { kind: 'worker_ended', cause })
  }

  #expire(waitedFor: 'first_byte' | 'tunnel_end'): void {
    this.#end({ kind: 'timed_out', waitedFor })
    if (this.#isUpgraded) this.#parts.client.destroy()
  }

  #end(outcome: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.run.deadline = null
    if (!this.#isUpgraded && outcome.kind !== 'answered') this.#controller?.abort(new Error(outcome.kind))
    this.#parts.onEnd(outcome)
  }
}

const valThrew = { name: 'Error', message: 'The val threw.' }
const upgraded = ['connection: Upgrade', 'upgrade: websocket']

function linesOf(headers: Headers): string[] {
  return Object.entries(answerHeaders(headers)).flatMap(([name, value]) =>
    value === undefined ? [] : [value].flat().map((one) => `${name}: ${String(one)}`),
  )
}

function writeHead(status: string, lines: readonly string[]): string {
  return [`HTTP/1.1 ${status}`, ...lines, '', ''].join('\r\n')
}

/** An answer on a socket that has no response object, because its client asked for an upgrade. */
export function writeOnSocket(
  client: Duplex,
  page: { status: number; headers: Readonly<Record<string, string>>; body: string },
): void {
  if (client.destroyed) return
  const lines = Object.entries(page.headers).map(([name, value]) => `${name}: ${value}`)
  client.end([`HTTP/1.1 ${page.status} Error`, 'connection: close', ...lines, '', page.body].join('\r\n'))
}

import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream'
import type { Dispatcher } from 'undici'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import { answerHeaders } from './answer-headers.ts'
import { isRefusedByClient } from './exchange.ts'

export interface TunnelParts {
  readonly client: Duplex
  /** What the client sent right after its request. */
  readonly head: Buffer
  readonly run: OpenRun
  readonly onEnd: (outcome: Outcome) => void
}

/** A WebSocket: once the val agreed, bytes both ways until one side ends. */
export class Tunnel implements Dispatcher.DispatchHandler {
  readonly #parts: TunnelParts
  #controller: Dispatcher.DispatchController | null = null
  #isOver = false

  constructor(parts: TunnelParts) {
    this.#parts = parts
    const { run, client } = parts
    run.calledAtMs = performance.now()
    run.deadline = { atMs: run.calledAtMs + limits.firstByteMsMax, expire: () => this.#expire('first_byte') }
    const leave = () => this.#end({ kind: run.answerStatus === null ? 'client_left' : 'answered' })
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
    headers: Record<string, string | string[] | undefined>,
    upstream: Duplex,
  ): void {
    const { client, head, run } = this.#parts
    if (this.#isOver) return void upstream.destroy()
    run.answerStatus = status
    run.deadline = { atMs: performance.now() + limits.tunnelMsMax, expire: () => this.#expire('end') }
    client.write(writeHead('101 Switching Protocols', [...upgraded, ...linesOf(headers)]))
    if (head.length > 0) upstream.write(head)
    pipeline(client, upstream, () => this.#end({ kind: 'answered' }))
    pipeline(upstream, client, () => this.#end({ kind: 'answered' }))
  }

  /** The val declined, with an answer of its own: its client gets that, and then the connection is over. */
  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { client, run } = this.#parts
    if (status < 200 || this.#isOver || headers['valley-outcome'] === 'threw') return
    run.answerStatus = status
    const statusLine = `${status} ${STATUS_CODES[status] ?? ''}`
    client.write(writeHead(statusLine, ['connection: close', ...linesOf(headers)]))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { client } = this.#parts
    if (client.write(chunk)) return
    controller.pause()
    client.once('drain', () => controller.resume())
  }

  onResponseEnd(): void {
    const { client, run } = this.#parts
    if (run.answerStatus === null)
      return this.#end({ kind: 'threw', error: { name: 'Error', message: 'The val threw.' } })
    this.#end({ kind: 'answered' })
    client.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (isRefusedByClient(error)) return this.#end({ kind: 'bad_target' })
    const why = 'The val did not accept the WebSocket. Answer with: Deno.upgradeWebSocket(request).response'
    return this.#end({ kind: 'answer_refused', why })
  }

  #expire(waitedFor: 'first_byte' | 'end'): void {
    this.#end({ kind: 'timed_out', waitedFor })
    if (waitedFor === 'end') this.#parts.client.destroy()
  }

  #end(outcome: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.run.deadline = null
    if (this.#parts.run.answerStatus === null) this.#controller?.abort(new Error(outcome.kind))
    this.#parts.onEnd(outcome)
  }
}

const upgraded = ['connection: Upgrade', 'upgrade: websocket']

function linesOf(headers: Record<string, string | string[] | undefined>): string[] {
  return Object.entries(answerHeaders(headers)).flatMap(([name, value]) =>
    [value].flat().map((one) => `${name}: ${String(one)}`),
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

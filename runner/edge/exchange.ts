import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { Worker } from '../workers/worker.ts'
import { answerHeaders } from './answer-headers.ts'

export interface ExchangeParts {
  readonly response: ServerResponse
  readonly run: OpenRun
  readonly worker: Worker
  /** Once. Whether the val's own answer has begun tells who may still say something to the client. */
  readonly onEnd: (outcome: Outcome) => void
}

/** Relays one answer from a worker to its client, as it comes, at the client's pace. The first end counts. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts
  #controller: Dispatcher.DispatchController | null = null
  #isThrown = false
  #isOver = false
  #bytes = 0

  constructor(parts: ExchangeParts) {
    this.#parts = parts
    const { response, run } = parts
    const startedAtMs = performance.now()
    run.calledAtMs = startedAtMs
    run.deadline = { atMs: startedAtMs + limits.firstByteMsMax, expire: () => this.#expire() }
    response.once('close', () => {
      if (!response.writableFinished) this.#leave()
    })
    // Gone while it waited for a worker: its close has been and will not come again.
    if (response.closed) queueMicrotask(() => this.#leave())
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('The client left.'))
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    const { response, run } = this.#parts
    if (status < 200 || this.#isOver) return
    this.#isThrown = headers['valley-outcome'] === 'threw'
    if (this.#isThrown) return
    run.answerStatus = status
    run.deadline = { atMs: (run.calledAtMs ?? 0) + limits.runMsMax, expire: () => this.#expire() }
    try {
      response.writeHead(status, { ...answerHeaders(headers), 'valley-run': run.id })
    } catch {
      run.answerStatus = null
      this.#end({
        kind: 'answer_refused',
        why: 'The val answered with a status or header that HTTP does not allow.',
      })
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isThrown || this.#isOver) return
    const { response } = this.#parts
    this.#bytes += chunk.length
    if (this.#bytes > limits.answerBytesMax) {
      this.#end({
        kind: 'answer_refused',
        why: `An answer may have ${limits.answerBytesMax} bytes at the most.`,
      })
      return
    }
    if (response.write(chunk)) return
    controller.pause()
    response.once('drain', () => controller.resume())
  }

  onResponseEnd(
    _: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return
    if (this.#isThrown)
      return this.#end({ kind: 'threw', error: { name: 'Error', message: 'The val threw.' } })
    const { response } = this.#parts
    if (Object.keys(trailers).length > 0) response.addTrailers(answerHeaders(trailers))
    this.#end({ kind: 'answered' })
    response.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return
    if (isRefusedByClient(error)) return this.#end({ kind: 'bad_target' })
    if ('code' in error && error.code === 'UND_ERR_HEADERS_OVERFLOW') {
      this.#end({
        kind: 'answer_refused',
        why: `An answer's headers may have ${limits.answerHeaderBytesMax} bytes at the most.`,
      })
      return
    }
    void this.#findCause().then((outcome) => this.#end(outcome))
  }

  refuseBody(): void {
    this.#end({ kind: 'body_too_large' })
  }

  get #hasBegun(): boolean {
    return this.#parts.run.answerStatus !== null
  }

  /** The socket breaks a moment before the kernel says why. */
  async #findCause(): Promise<Outcome> {
    const { worker } = this.#parts
    const soon = (ms: number) => Promise.race([worker.gone, sleep(ms, null)])
    const cause =
      (await soon(limits.causeWaitMs)) ?? (worker.isHangingUp ? await soon(limits.endWaitMs) : null)
    return cause === null ? { kind: 'broke_off' } : { kind: 'worker_ended', cause }
  }

  /** Leaving a stream that has begun is how streams end; leaving before is giving up. */
  #leave(): void {
    this.#end(this.#hasBegun ? { kind: 'answered' } : { kind: 'client_left' })
    this.#controller?.abort(new Error('The client left.'))
  }

  #expire(): void {
    this.#end({ kind: 'timed_out', waitedFor: this.#hasBegun ? 'end' : 'first_byte' })
  }

  #end(outcome: Outcome): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.run.deadline = null
    if (outcome.kind !== 'answered') this.#controller?.abort(new Error(outcome.kind))
    this.#parts.onEnd(outcome)
  }
}

/** undici will not send what could not be a request: a path with a space in it, say. */
export function isRefusedByClient(error: Error): boolean {
  return 'code' in error && error.code === 'UND_ERR_INVALID_ARG'
}

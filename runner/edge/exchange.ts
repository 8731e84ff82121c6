import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { Worker } from '../workers/worker.ts'
import { answerHeaders } from './answer-headers.ts'
import { findEndOrNull } from './find-end.ts'

export interface ExchangeParts {
  readonly response: ServerResponse
  readonly run: OpenRun
  readonly worker: Worker
  /** Once. Whether the val's own answer has begun tells who may still say something to the client. */
  readonly onEnd: (outcome: Outcome) => void
}

interface AnswerHead {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
}

/** Relays one answer from a worker to its client, as it comes, at the client's pace. The first end counts. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #parts: ExchangeParts
  #controller: Dispatcher.DispatchController | null = null
  #isOver = false
  #bytes = 0
  /** What has come but not been passed on yet: the head, and the first piece of the body. */
  #head: AnswerHead | null = null
  #held: Buffer | null = null

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
    const { run } = this.#parts
    if (status < 200 || this.#isOver) return
    // The answer ends here, whatever it brings along: what was thrown comes on the other line.
    if (headers['valley-outcome'] === 'threw') {
      return this.#end({ kind: 'threw', error: { name: 'Error', message: 'The val threw.' } })
    }
    run.deadline = { atMs: (run.calledAtMs ?? 0) + limits.runMsMax, expire: () => this.#expire() }
    this.#head = { status, headers }
    // A small answer is there as a whole by then, and goes out in one write; of any other, this is its beginning.
    process.nextTick(() => this.#begin())
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    this.#bytes += chunk.length
    if (this.#bytes > limits.answerBytesMax) {
      this.#end({
        kind: 'answer_refused',
        why: `An answer may have ${limits.answerBytesMax} bytes at the most.`,
      })
      return
    }
    if (this.#head !== null && this.#held === null) {
      this.#held = chunk
      return
    }
    this.#begin()
    if (!this.#isOver) this.#relay(controller, chunk)
  }

  onResponseEnd(
    _: Dispatcher.DispatchController,
    trailers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return
    const { response } = this.#parts
    const whole = this.#head !== null
    if (whole && !this.#writeHead()) return
    if (Object.keys(trailers).length > 0) response.addTrailers(answerHeaders(trailers))
    this.#end({ kind: 'answered' })
    // As text it is joined to the head and takes one plain write; a buffer would take the slower kind for several.
    if (whole && this.#held !== null) response.end(this.#held.toString('latin1'), 'latin1')
    else response.end()
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
    void findEndOrNull(this.#parts.worker).then((cause) =>
      this.#end(cause === null ? { kind: 'broke_off' } : { kind: 'worker_ended', cause }),
    )
  }

  refuseBody(): void {
    this.#end({ kind: 'body_too_large' })
  }

  /** The val's answer goes on for longer than one turn. */
  #begin(): void {
    if (this.#head === null || this.#isOver || !this.#writeHead()) return
    if (this.#held === null) this.#parts.response.flushHeaders()
    else if (this.#controller !== null) this.#relay(this.#controller, this.#held)
    this.#held = null
  }

  #writeHead(): boolean {
    const { response, run } = this.#parts
    const { status, headers } = this.#head ?? { status: 500, headers: {} }
    this.#head = null
    try {
      response.writeHead(status, answerHeaders(headers, run.id))
    } catch {
      const why = 'The val answered with a status or header that HTTP does not allow.'
      this.#end({ kind: 'answer_refused', why })
      return false
    }
    run.answerStatus = status
    return true
  }

  #relay(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { response } = this.#parts
    if (response.write(chunk)) return
    controller.pause()
    response.once('drain', () => controller.resume())
  }

  get #hasBegun(): boolean {
    return this.#parts.run.answerStatus !== null
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

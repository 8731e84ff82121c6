import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Head } from '@valley/bus/requests.ts'
import type { HeadCache } from '../heads/head-cache.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Outcome } from '../reports/outcome.ts'
import type { RunDesk } from '../reports/run-desk.ts'
import type { Placement } from '../workers/val-workers.ts'
import type { Worker } from '../workers/worker.ts'
import type { Workforce } from '../workers/workforce.ts'
import { type Admission, admitRequest } from './admit-request.ts'
import { bodyOf } from './body.ts'
import { errorPage, type Trouble } from './error-page.ts'
import { Exchange } from './exchange.ts'
import type { OwnerGate } from './owner-gate.ts'
import { describeRequest, forwardRequest } from './forward-request.ts'
import { troubleOf } from './trouble.ts'
import { Tunnel, writeOnSocket } from './tunnel.ts'

export interface EdgeParts {
  readonly heads: HeadCache
  readonly gate: OwnerGate
  readonly workforce: Workforce
  readonly desk: RunDesk
  readonly valsUrl: URL
  readonly trustProxy: boolean
}

/** One request from its arrival to its answer. Nothing here waits while the val is known and warm. */
export class Edge {
  readonly #parts: EdgeParts
  readonly #doors: Parameters<typeof admitRequest>[1]

  constructor(parts: EdgeParts) {
    this.#parts = parts
    this.#doors = { heads: parts.heads, gate: parts.gate, domain: parts.valsUrl.hostname }
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const admission = admitRequest(request, this.#doors)
    const go = (admitted: Admission) => {
      // Whoever left while the val was looked up has no use for a run, and nobody would notice their leaving again.
      if (response.destroyed) return
      if (admitted.kind === 'admitted') this.#run(admitted.head, request, response)
      else sendPage(request, response, admitted.trouble)
    }
    if (admission instanceof Promise) void admission.then(go)
    else go(admission)
  }

  /** A request to go over to another protocol: the same way in, another way through. */
  upgrade(request: IncomingMessage, client: Duplex, head: Buffer): void {
    client.on('error', () => client.destroy())
    void this.#upgrade(request, client, head)
  }

  async #upgrade(request: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const say = (trouble: Trouble) => writeOnSocket(client, errorPage(request, trouble))
    const admission = await admitRequest(request, this.#doors)
    if (admission.kind === 'turned_away') return say(admission.trouble)
    const { workforce, desk } = this.#parts
    const run = desk.open(admission.head, { request: describeRequest(request) })
    const forget = () => workforce.forget(run)
    client.once('close', forget)
    const placement = await workforce.place(admission.head, run)
    client.off('close', forget)
    run.placedAtMs = performance.now()
    const report = (outcome: Outcome) => {
      const trouble = troubleOf(run, outcome)
      if (outcome.kind !== 'answered' && outcome.kind !== 'client_left' && run.answerStatus === null) {
        run.answerStatus = trouble.httpStatus
        say(trouble)
      }
      desk.report(run)
    }
    if (placement.kind === 'refused') {
      run.end(placement.outcome)
      return report(placement.outcome)
    }
    const { worker } = placement
    const tunnel = new Tunnel({
      client,
      head,
      run,
      worker,
      onEnd: (outcome) => {
        run.end(outcome)
        workforce.release(worker, run, () => report(outcome))
      },
    })
    worker.pool.dispatch({ ...forwardRequest(request, run, this.#parts), upgrade: 'websocket' }, tunnel)
  }

  #run(head: Head, request: IncomingMessage, response: ServerResponse): void {
    const { workforce, desk } = this.#parts
    const run = desk.open(head, { request: describeRequest(request) })
    if (Number(request.headers['content-length']) > limits.requestBodyBytesMax) {
      return this.#refuse({ kind: 'body_too_large' }, run, { request, response })
    }
    const placement = workforce.place(head, run)
    if (!(placement instanceof Promise)) return this.#placed(placement, run, { request, response })
    const forget = () => workforce.forget(run)
    response.once('close', forget)
    void placement.then((placed) => {
      response.off('close', forget)
      this.#placed(placed, run, { request, response })
    })
  }

  #placed(placement: Placement, run: OpenRun, ends: Ends): void {
    run.placedAtMs = performance.now()
    if (placement.kind === 'refused') this.#refuse(placement.outcome, run, ends)
    else this.#call(placement.worker, run, ends)
  }

  /** It was never called: reported as it is. */
  #refuse(outcome: Outcome, run: OpenRun, { request, response }: Ends): void {
    const trouble = troubleOf(run, outcome)
    if (outcome.kind !== 'client_left') run.answerStatus = trouble.httpStatus
    run.end(outcome)
    this.#parts.desk.report(run)
    sendPage(request, response, trouble)
  }

  #call(worker: Worker, run: OpenRun, { request, response }: Ends): void {
    const { workforce, desk } = this.#parts
    const exchange = new Exchange({
      response,
      run,
      worker,
      onEnd: (outcome) => {
        run.end(outcome)
        // An answer to half a request: some clients read it only after they have sent the other half.
        if (!request.complete) setImmediate(() => request.resume())
        workforce.release(worker, run, () => {
          if (outcome.kind !== 'answered') this.#explain(outcome, run, { request, response })
          desk.report(run)
        })
      },
    })
    const tooLarge = () => exchange.refuseBody()
    worker.pool.dispatch(
      { ...forwardRequest(request, run, this.#parts), body: bodyOf(request, tooLarge) },
      exchange,
    )
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
  }

  /** Says what went wrong, if the val's own answer has not begun; else breaks it off, so that nobody takes it for whole. */
  #explain(outcome: Outcome, run: OpenRun, { request, response }: Ends): void {
    if (response.headersSent) return void response.destroy()
    if (outcome.kind === 'client_left') return
    const trouble = troubleOf(run, outcome)
    run.answerStatus = trouble.httpStatus
    sendPage(request, response, trouble)
  }
}

interface Ends {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

function sendPage(request: IncomingMessage, response: ServerResponse, trouble: Trouble): void {
  if (response.destroyed || response.headersSent) return
  const { status, headers, body } = errorPage(request, trouble)
  const shown = request.method === 'HEAD' ? '' : body
  if (request.complete) return void response.writeHead(status, headers).end(shown)
  // What is left of the body is of no use: the connection cannot be used again.
  response.writeHead(status, { ...headers, connection: 'close' }).write(shown)
  return endAfter(request, response)
}

/** Reads on for a moment: hanging up on a client that still sends would take our answer away from it. */
function endAfter(request: IncomingMessage, response: ServerResponse): void {
  const end = () => response.end()
  const timer = setTimeout(end, limits.lingerMsMax)
  response.once('close', () => clearTimeout(timer))
  request.once('end', end).resume()
}

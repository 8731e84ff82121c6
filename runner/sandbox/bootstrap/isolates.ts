import type { Control } from './control.ts'
import type { Call, ToWorker } from './control-message.ts'
import { readFromIsolate } from './from-isolate.ts'

type Assignment = Extract<ToWorker, { kind: 'assign' }>

export type ToIsolate = Pick<
  Assignment,
  'modules' | 'logLinesMax' | 'logCharsMax' | 'returnValueCharsMax'
> & {
  readonly call: Call
}

interface IsolateThread {
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void
  addEventListener(
    type: 'error',
    listener: (event: { message: string; preventDefault(): void }) => void,
  ): void
  postMessage(message: ToIsolate, transferred: []): void
  terminate(): void
}

interface Begun {
  readonly call: Call
  readonly assignment: Assignment
}

/** Runs each call in an isolate of its own, in this same sandbox: it shares nothing with the one before it. */
export class Isolates {
  readonly #control: Control
  readonly #program: string
  readonly #underWay = new Map<string, IsolateThread>()

  constructor(control: Control, program: string) {
    this.#control = control
    this.#program = program
  }

  run(call: Call, assignment: Assignment): void {
    const { runId } = call
    const thread = this.#start()
    this.#underWay.set(runId, thread)
    thread.addEventListener('message', ({ data }) => this.#hear(data, thread, { call, assignment }))
    thread.addEventListener('error', (event) => {
      event.preventDefault()
      const error = { name: 'Error', message: event.message }
      this.#hear({ kind: 'threw', error }, thread, { call, assignment })
    })
  }

  stop(runId: string): void {
    const thread = this.#underWay.get(runId)
    this.#underWay.delete(runId)
    if (thread === undefined) return
    thread.terminate()
  }

  /** Whatever it says, it says about its own run, and nothing once that is over. What has no meaning is passed over. */
  #hear(data: unknown, thread: IsolateThread, { call, assignment }: Begun): void {
    const { runId } = call
    const said = readFromIsolate(data)
    if (said === null || this.#underWay.get(runId) !== thread) return
    if (said.kind === 'ready') {
      const { modules, logLinesMax, logCharsMax, returnValueCharsMax } = assignment
      thread.postMessage(
        { call, modules, logLinesMax: logLinesMax + 1, logCharsMax, returnValueCharsMax },
        [],
      )
      return
    }
    this.#control.send({ ...said, runId })
    if (said.kind !== 'log') this.stop(runId)
  }

  #start(): IsolateThread {
    const { Worker } = globalThis as unknown as {
      Worker: new (url: string, options: { type: 'module'; name: string }) => IsolateThread
    }
    return new Worker(this.#program, { type: 'module', name: 'val' })
  }
}

import type { Control } from './control.ts'
import type { Call, ToWorker } from './control-message.ts'
import { readFromIsolate } from './from-isolate.ts'
import { type ProgramModule, type PublishedProgram, publishProgram } from './isolate-program.ts'

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
  readonly thread: IsolateThread
  readonly program: PublishedProgram
}

/** Runs each call in an isolate of its own, in this same sandbox: it shares nothing with the one before it. */
export class Isolates {
  readonly #control: Control
  readonly #program: readonly ProgramModule[]
  readonly #underWay = new Map<string, Begun>()

  constructor(control: Control, program: readonly ProgramModule[]) {
    this.#control = control
    this.#program = program
  }

  run(call: Call, assignment: Assignment): void {
    const program = publishProgram(this.#program)
    const thread = startThread(program.address)
    const begun = { call, assignment, thread, program }
    this.#underWay.set(call.runId, begun)
    thread.addEventListener('message', ({ data }) => this.#hear(data, begun))
    thread.addEventListener('error', (event) => {
      event.preventDefault()
      this.#hear({ kind: 'threw', error: { name: 'Error', message: event.message } }, begun)
    })
  }

  stop(runId: string): void {
    const begun = this.#underWay.get(runId)
    this.#underWay.delete(runId)
    if (begun === undefined) return
    begun.thread.terminate()
    begun.program.withdraw()
  }

  /** Whatever it says, it says about its own run, and nothing once that is over. What has no meaning is passed over. */
  #hear(data: unknown, begun: Begun): void {
    const { call, assignment, thread, program } = begun
    const { runId } = call
    const said = readFromIsolate(data)
    if (said === null || this.#underWay.get(runId) !== begun) return
    if (said.kind === 'ready') {
      // Loaded by now: no val finds these addresses, to break what runs after it.
      program.withdraw()
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
}

function startThread(address: string): IsolateThread {
  const { Worker } = globalThis as unknown as {
    Worker: new (url: string, options: { type: 'module'; name: string }) => IsolateThread
  }
  return new Worker(address, { type: 'module', name: 'val' })
}

import { setImmediate } from 'node:timers/promises'
import type { Bus } from '@valley/bus/connect-bus.ts'
import type { Head } from '@valley/bus/requests.ts'
import { OpenRun, type RunOrigin } from './open-run.ts'
import { Reporter, type ReporterObservations } from './reporter.ts'
import { Tail } from './tail.ts'

export interface RunDeskObservations extends ReporterObservations {
  readonly runEnded: (report: ReturnType<OpenRun['toReport']>) => void
}

/** Where runs begin and where they end: opened here, told about while they run, reported once they are settled. */
export class RunDesk implements AsyncDisposable {
  readonly #reporter: Reporter
  readonly #tail: Tail
  readonly #observe: RunDeskObservations

  constructor(bus: Bus, observe: RunDeskObservations) {
    this.#reporter = new Reporter(bus, observe)
    this.#tail = new Tail(bus)
    this.#observe = observe
  }

  get waitingCount(): number {
    return this.#reporter.waitingCount
  }

  open(head: Head, origin: RunOrigin): OpenRun {
    return new OpenRun(head, origin, (run, line) =>
      this.#tail.add(run.head.valId, { kind: 'log', runId: run.id, ...line }),
    )
  }

  /** Once for each run, after its last line. */
  report(run: OpenRun): void {
    const report = run.toReport()
    const { version, source, status, error, request, response, timings } = report
    this.#tail.add(run.head.valId, {
      kind: 'run',
      runId: run.id,
      version,
      source,
      status,
      error,
      request,
      response,
      timings,
    })
    this.#reporter.add(report)
    this.#observe.runEnded(report)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Runs whose workers have just been ended are reported within this turn.
    await setImmediate()
    this.#tail[Symbol.dispose]()
    await this.#reporter[Symbol.asyncDispose]()
  }
}

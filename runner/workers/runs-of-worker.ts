import { limits as contractLimits } from '@valley/contract/limits.ts'
import type { LogLevel, RunError } from '@valley/contract/runs.ts'
import { limits } from '../limits.ts'
import type { OpenRun } from '../reports/open-run.ts'
import type { Returned } from '../reports/returned.ts'
import type { EndCause } from './end-cause.ts'
import type { Pings } from './pings.ts'

interface Settling {
  readonly run: OpenRun
  readonly onSettled: (run: OpenRun) => void
}

/**
 * The runs of one worker: under way, and over but still to be settled. What a val prints and what it answers come on
 * two sockets, so a run that has been answered waits for one ping more before it is reported.
 */
export class RunsOfWorker {
  readonly #pings: Pings
  readonly #underWay = new Map<string, OpenRun>()
  readonly #settling = new Map<string, Settling>()
  #ended: Settling[] = []
  #isAsking = false
  #isOver = false
  /** Printed while the val was loaded: the first run gets them. */
  readonly #early: { readonly level: LogLevel; readonly message: string }[] = []
  #earlyChars = 0

  constructor(pings: Pings) {
    this.#pings = pings
  }

  get size(): number {
    return this.#underWay.size
  }

  /** Nothing under way, and of nothing that is over may lines still come. */
  get isSettled(): boolean {
    return this.#underWay.size === 0 && this.#settling.size === 0
  }

  start(run: OpenRun): void {
    this.#underWay.set(run.id, run)
    this.giveEarlyLines(run)
  }

  giveEarlyLines(run: OpenRun): void {
    for (const { level, message } of this.#early.splice(0)) run.print(level, message)
    this.#earlyChars = 0
  }

  print(runId: string | null, level: LogLevel, message: string): void {
    const run = this.#find(runId)
    if (run) return run.print(level, message)
    // What a run says after its record was closed is nobody's: in another's record it would mislead.
    if (runId !== null) return
    if (this.#early.length > contractLimits.logLinesMax) return
    // No more than a run would keep: these wait in the runner's own memory, perhaps for ever.
    if (this.#earlyChars > contractLimits.logBytesMax) return
    this.#earlyChars += message.length
    this.#early.push({ level, message })
  }

  threw(runId: string, error: RunError): void {
    const run = this.#find(runId)
    if (!run) return
    run.thrown ??= error
    run.onSaid?.({ kind: 'threw', error })
  }

  returned(runId: string, returned: Returned): void {
    const run = this.#underWay.get(runId)
    if (!run) return
    run.returned ??= returned
    run.onSaid?.({ kind: 'returned' })
  }

  /** Some of them were claimed off the queue: they are not cut short for a newer version of their val. */
  get hasQueued(): boolean {
    for (const run of this.#underWay.values()) if (run.isQueued) return true
    return false
  }

  expire(nowMs: number): void {
    for (const run of this.#underWay.values()) {
      if (run.deadline !== null && run.deadline.atMs < nowMs) run.deadline.expire()
    }
  }

  release(run: OpenRun, onSettled: (run: OpenRun) => void): void {
    this.#underWay.delete(run.id)
    // What a call prints comes before what it returns, on the same line: nothing is left to wait for.
    if (this.#isOver || run.isQueued) return onSettled(run)
    const settling = { run, onSettled }
    this.#settling.set(run.id, settling)
    this.#ended.push(settling)
    // Somebody waits to be told what went wrong; the others can be settled together.
    if (run.outcome?.kind !== 'answered') return this.#askToSettle()
    if (this.#isAsking) return
    this.#isAsking = true
    setTimeout(() => this.#askToSettle(), limits.settleTickMs)
  }

  /** Their worker is gone: whoever waits for what a call says hears that instead, and no more lines will come. */
  settleAll(cause: EndCause): void {
    this.#isOver = true
    for (const run of this.#underWay.values()) run.onSaid?.({ kind: 'worker_ended', cause })
    this.#settle([...this.#settling.values()])
  }

  /** One ping for all that ended since the last one. */
  #askToSettle(): void {
    this.#isAsking = false
    const group = this.#ended
    if (group.length === 0) return
    this.#ended = []
    const giveUp = setTimeout(() => this.#settle(group), limits.settleMsMax)
    this.#pings.barrier(() => {
      clearTimeout(giveUp)
      this.#settle(group)
    })
  }

  #settle(group: readonly Settling[]): void {
    for (const { run, onSettled } of group) if (this.#settling.delete(run.id)) onSettled(run)
  }

  /** A line that says no run is most likely of the one that has been at it the longest. */
  #find(runId: string | null): OpenRun | undefined {
    if (runId === null) return this.#underWay.values().next().value
    return this.#underWay.get(runId) ?? this.#settling.get(runId)?.run
  }
}

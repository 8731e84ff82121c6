import type { Bus } from '@valley/bus/connect-bus.ts'
import { newId } from '../database/ids.ts'
import { limits } from '../limits.ts'
import { RunAllowance, type RunBounds } from '../usage/run-allowance.ts'
import { RunWaits } from './run-waits.ts'
import type { Db } from '../database/statement.ts'
import { enqueueRows, type NewRun } from './enqueue.ts'
import { EnqueueTogether } from './enqueue-together.ts'
import type { EndedRow, EnqueuedRow } from './transitions.ts'
import { Waker } from './waker.ts'

/** The queue as this server's requests see it: is there room, tell the runners, wait for an end. */
export class Queue implements Disposable {
  readonly allowance: RunAllowance
  readonly waits: RunWaits
  readonly #bus: Pick<Bus, 'publish'>
  readonly #senderId = newId()
  readonly #waker: Waker
  readonly #together: EnqueueTogether

  constructor(db: Db, bus: Pick<Bus, 'publish' | 'subscribe'>, bounds: RunBounds) {
    this.#together = new EnqueueTogether(db)
    this.#bus = bus
    this.allowance = new RunAllowance(bounds)
    this.waits = new RunWaits(bus)
    this.#waker = new Waker(bus, this.#senderId)
  }

  /** One run, together with those of other requests; in a transaction, with that. null: there is no such val of theirs. */
  async enqueue(
    { db, root }: { readonly db: Db; readonly root: Db },
    run: NewRun,
  ): Promise<EnqueuedRow | null> {
    if (db === root) return this.#together.add(run)
    return (await enqueueRows(db, [run]))[0] ?? null
  }

  /** Runs wait: tells runners. */
  wake(): void {
    this.#waker.wake()
  }

  /** Runs are over: tells whoever waits for them, and runners of those that are tried again. */
  announceEnds(ended: readonly EndedRow[]): void {
    for (let from = 0; from < ended.length; from += limits.endsPerHintMax) {
      const runIds = ended.slice(from, from + limits.endsPerHintMax).map(({ id }) => id)
      this.#bus.publish('runsEnded', { senderId: this.#senderId, runIds })
    }
    if (ended.some(({ is_retried }) => is_retried)) this.wake()
  }

  announceEnd(runId: string): void {
    this.#bus.publish('runsEnded', { senderId: this.#senderId, runIds: [runId] })
  }

  [Symbol.dispose](): void {
    this.#waker[Symbol.dispose]()
    this.waits[Symbol.dispose]()
  }
}

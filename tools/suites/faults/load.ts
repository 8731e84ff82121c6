import { EventEmitter, once } from 'node:events'
import { Agent } from 'node:http'
import { holdWrite, type Outcome, sendWrite, type Write } from './write.ts'

export const writesPerSecond = 220
const paceMs = 10
const underWayMax = 4_000
const valsPutTo = 20

export interface LoadTarget {
  readonly url: string
  readonly token: string
  /** Vals that get new versions. */
  readonly valIds: readonly string[]
}

/** Writes at a steady pace, however the server answers: waiting for it would spare it. */
export class Load implements AsyncDisposable {
  readonly writes: Write[] = []
  readonly startedAt = performance.now()
  readonly #target: LoadTarget
  readonly #label: string
  readonly #agent = new Agent({ keepAlive: true })
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #timer: NodeJS.Timeout
  #underWay = 0

  /** The label tells the writes of this load from those of others; it becomes a part of names. */
  constructor(target: LoadTarget, label: string) {
    this.#target = target
    this.#label = label
    this.#timer = setInterval(() => this.#issueWhatIsDue(), paceMs)
  }

  count(fits: (write: Write) => boolean): number {
    return this.writes.reduce((sum, write) => sum + (fits(write) ? 1 : 0), 0)
  }

  /** Resolves once so many writes that fit have been answered or have failed. */
  async untilSeen(count: number, fits: (write: Write) => boolean, timeoutMs = 30_000): Promise<void> {
    const signal = AbortSignal.timeout(timeoutMs)
    while (this.count(fits) < count) {
      await once(this.#events, 'settled', { signal }).catch((cause: unknown) => {
        throw new Error(`Only ${this.count(fits)} of ${count} writes came in ${timeoutMs} ms.`, { cause })
      })
    }
  }

  /** Has the server begin so many writes and wait for their bodies, which follow once the returned function is called. */
  async hold(count: number): Promise<{ readonly writes: readonly Write[]; readonly release: () => void }> {
    const writes = Array.from({ length: count }, () => this.#begin(this.writes.length))
    const releases = await Promise.all(
      writes.map(async (write) => {
        const held = await holdWrite(this.#destination(), write)
        return () => {
          void this.#settle(write, held.outcome)
          held.release()
        }
      }),
    )
    return { writes, release: () => releases.forEach((release) => release()) }
  }

  /** Stops writing and waits for what is under way. */
  async finish(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#underWay > 0) await once(this.#events, 'settled')
    this.#agent.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.finish()
  }

  #issueWhatIsDue(): void {
    const due = Math.floor(((performance.now() - this.startedAt) * writesPerSecond) / 1_000)
    while (this.writes.length < due && this.#underWay < underWayMax) void this.#issue(this.writes.length)
  }

  async #issue(number: number): Promise<void> {
    const write = this.#begin(number)
    await this.#settle(write, sendWrite(this.#destination(), write))
  }

  #begin(number: number): Write {
    const write: Write = {
      ...this.#plan(number),
      code: `export default '${this.#label} ${number}'`,
      startedAt: performance.now(),
      outcome: { kind: 'pending' },
    }
    this.writes.push(write)
    return write
  }

  async #settle(write: Write, outcome: Promise<Outcome>): Promise<void> {
    this.#underWay += 1
    write.outcome = await outcome
    this.#underWay -= 1
    this.#events.emit('settled')
  }

  #destination() {
    return { ...this.#target, agent: this.#agent }
  }

  #plan(number: number): Pick<Write, 'method' | 'path' | 'name'> {
    const { valIds } = this.#target
    const kind = number % 3
    if (kind === 0) return { method: 'POST', path: '/v1/vals', name: `${this.#label}_${number}` }
    if (kind === 1)
      return { method: 'PUT', path: '/v1/vals', name: `${this.#label}_put_${number % valsPutTo}` }
    return { method: 'POST', path: `/v1/vals/${valIds[number % valIds.length]}/versions` }
  }
}

export function isKind(...kinds: readonly Outcome['kind'][]): (write: Write) => boolean {
  return ({ outcome }) => kinds.includes(outcome.kind)
}

/** Whether it was begun at that moment or later. */
export function since(moment: number): (write: Write) => boolean {
  return ({ startedAt }) => startedAt >= moment
}

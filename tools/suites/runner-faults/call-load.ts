import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export const callsPerSecond = 200

export interface CallTarget {
  readonly valsUrl: string
  readonly labels: readonly string[]
}

/** Calls warm vals at a steady pace, whatever happens, and keeps the run of every answer and every failure. */
export class CallLoad implements AsyncDisposable {
  readonly runIds: string[] = []
  readonly failures: string[] = []
  readonly startedAtMs = performance.now()
  readonly #target: CallTarget
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 200 })
  readonly #timer: NodeJS.Timeout
  #sent = 0
  #underWay = 0

  constructor(target: CallTarget) {
    this.#target = target
    this.#timer = setInterval(() => this.#keepPace(), 5)
  }

  get perSecond(): number {
    return (this.runIds.length * 1_000) / (performance.now() - this.startedAtMs)
  }

  /** Until so many more have been answered or have failed. */
  async untilSeen(count: number): Promise<void> {
    const goal = this.runIds.length + this.failures.length + count
    while (this.runIds.length + this.failures.length < goal) await sleep(20)
  }

  async finish(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#underWay > 0) await sleep(20)
    this.#agent.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.finish()
  }

  #keepPace(): void {
    const due = ((performance.now() - this.startedAtMs) * callsPerSecond) / 1_000
    while (this.#sent < due) this.#call(this.#target.labels[this.#sent++ % this.#target.labels.length] ?? '')
  }

  #call(label: string): void {
    const { hostname, port } = new URL(this.#target.valsUrl)
    const headers = { host: `${label}.${hostname}` }
    this.#underWay += 1
    const end = (failure: string | null, runId?: string) => {
      this.#underWay -= 1
      if (failure === null && runId !== undefined) this.runIds.push(runId)
      else this.failures.push(failure ?? 'an answer without its run')
    }
    const call = request(
      { host: '127.0.0.1', port, agent: this.#agent, headers, timeout: 30_000 },
      (answer) => {
        const { statusCode, headers: answered } = answer
        answer.resume().once('end', () => {
          end(statusCode === 200 ? null : `answered ${statusCode}`, answered['valley-run']?.toString())
        })
      },
    )
    call.once('timeout', () => call.destroy(new Error('no answer in time')))
    call.once('error', (error) => end(error.message))
    call.end()
  }
}

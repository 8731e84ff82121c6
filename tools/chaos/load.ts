import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { Owner } from './scene.ts'
import { type Answer, sendRequest } from './send-request.ts'
import { shares, type ValKind, valKinds } from './val-code.ts'

const runsPerSecond = 80
const paceMs = 10
const underWayMax = 10_000
const retriedShare = 0.1
const canceledShare = 0.05
const cancelDelayMsMax = 1_000
const slowMsMin = 1_000
const slowMsMax = 3_000
const statusAccepted = 202
const statusCanceled = 200

/** How often a run of the load may be tried, if it was asked to be tried again at all. */
export const attemptsAsked = 3

/** A run that a client asked for, and what it was told. */
export interface AskedRun {
  readonly kind: ValKind
  readonly isRetried: boolean
  readonly answer: Answer
  /** null unless it was accepted. */
  readonly runId: string | null
}

interface Plan {
  readonly kind: ValKind
  readonly owner: Owner
  readonly server: string
  readonly body: object
  readonly isRetried: boolean
  /** null: it is left alone. */
  readonly cancelAfterMs: number | null
}

/** Asks for runs at a steady pace, however the servers answer: waiting for them would spare them. */
export class Load implements AsyncDisposable {
  readonly asked: AskedRun[] = []
  readonly cancelsAsked = new Set<string>()
  /** Runs of which a server said that they are canceled now. */
  readonly canceled = new Set<string>()
  readonly #owners: readonly Owner[]
  readonly #servers: readonly string[]
  readonly #random: Random
  readonly #agent = new Agent({ keepAlive: true })
  readonly #startedAtMs = performance.now()
  readonly #timer: NodeJS.Timeout
  #begun = 0
  #underWay = 0

  constructor(owners: readonly Owner[], servers: readonly string[], random: Random) {
    this.#owners = owners
    this.#servers = servers
    this.#random = random
    this.#timer = setInterval(() => this.#beginWhatIsDue(), paceMs)
  }

  /** Asks for no more, and waits for the answers. */
  async finish(): Promise<void> {
    clearInterval(this.#timer)
    while (this.#underWay > 0) await sleep(paceMs)
    this.#agent.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.finish()
  }

  #beginWhatIsDue(): void {
    const due = Math.floor(((performance.now() - this.#startedAtMs) * runsPerSecond) / 1_000)
    while (this.#begun < due && this.#underWay < underWayMax) void this.#ask(this.#plan(++this.#begun))
  }

  #plan(number: number): Plan {
    const random = this.#random
    const kind = pickKind(random)
    const isRetried = random.isChosen(retriedShare)
    const args = [number, Math.round(random.between(slowMsMin, slowMsMax))]
    const retry = { attempts: attemptsAsked, backoffSeconds: 1 }
    return {
      kind,
      owner: random.pick(this.#owners),
      server: random.pick(this.#servers),
      body: { args, ...(isRetried && { retry }) },
      isRetried,
      cancelAfterMs: random.isChosen(canceledShare) ? random.between(0, cancelDelayMsMax) : null,
    }
  }

  async #ask({ kind, owner, server, body, isRetried, cancelAfterMs }: Plan): Promise<void> {
    this.#underWay += 1
    const { token, vals } = owner
    const url = `${server}/v1/vals/${vals[kind]}/runs`
    const answer = await sendRequest({ url, token, body, agent: this.#agent })
    const runId = readRunIdOrNull(answer)
    this.asked.push({ kind, isRetried, answer, runId })
    if (runId !== null && cancelAfterMs !== null) {
      await sleep(cancelAfterMs)
      await this.#cancel(token, runId)
    }
    this.#underWay -= 1
  }

  async #cancel(token: string, runId: string): Promise<void> {
    this.cancelsAsked.add(runId)
    const url = `${this.#random.pick(this.#servers)}/v1/runs/${runId}/cancel`
    const answer = await sendRequest({ url, token, body: {}, agent: this.#agent })
    if (answer.kind === 'answered' && answer.status === statusCanceled) this.canceled.add(runId)
  }
}

function readRunIdOrNull(answer: Answer): string | null {
  if (answer.kind !== 'answered' || answer.status !== statusAccepted) return null
  return (JSON.parse(answer.body) as { id: string }).id
}

function pickKind(random: Random): ValKind {
  let rest = random.between(
    0,
    Object.values(shares).reduce((sum, share) => sum + share),
  )
  for (const kind of valKinds) {
    rest -= shares[kind]
    if (rest < 0) return kind
  }
  return 'quick'
}

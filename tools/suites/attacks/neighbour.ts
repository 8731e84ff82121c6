import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile } from '../../bench/report.ts'
import { callVal, type ValAddress } from './call-val.ts'

/** Answers with who it is and how often it was called; a new worker would be somebody else. */
export const neighbourCode = `
  const isolate = crypto.randomUUID()
  let calls = 0
  ;(globalThis as any).secretOfNeighbour = isolate
  export default () => new Response(isolate + ' ' + ++calls)`

interface Sample {
  readonly atMs: number
  readonly tookMs: number
}

export interface Latencies {
  readonly calls: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

const everyMs = 50
const platformEveryMs = 500
const patienceMs = 5_000

/** Calls the neighbour twenty times a second and the API twice, all along, whether or not the last call is back. */
export class Neighbour implements AsyncDisposable {
  readonly #address: ValAddress
  readonly #apiUrl: string
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true })
  readonly #samples: Sample[] = []
  readonly #underWay = new Set<Promise<void>>()
  readonly #timers: readonly NodeJS.Timeout[]
  readonly #isolates = new Set<string>()
  /** What should not have been, each with the time at which it was asked for. */
  readonly offences: { readonly atMs: number; readonly what: string }[] = []

  constructor(address: ValAddress, { apiUrl, token }: { apiUrl: string; token: string }) {
    this.#address = address
    this.#apiUrl = apiUrl
    this.#token = token
    this.#timers = [
      setInterval(() => this.#follow(this.#callNeighbour()), everyMs),
      setInterval(() => this.#follow(this.#callPlatform()), platformEveryMs),
    ]
  }

  latenciesSince(startMs: number): Latencies {
    const times = this.#samples.filter(({ atMs }) => atMs >= startMs).map(({ tookMs }) => tookMs)
    const at = (share: number) => quantile(times, share)
    return { calls: times.length, p50: at(0.5), p99: at(0.99), max: at(1) }
  }

  offencesSince(startMs: number): string[] {
    return this.offences.filter(({ atMs }) => atMs >= startMs).map(({ what }) => what)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.race([Promise.all(this.#underWay), sleep(patienceMs)])
    this.#agent.destroy()
  }

  #follow(call: Promise<void>): void {
    this.#underWay.add(call)
    void call.finally(() => this.#underWay.delete(call))
  }

  async #callNeighbour(): Promise<void> {
    const atMs = performance.now()
    const answer = await callVal(this.#address, {}, this.#agent).catch((error: Error) => error)
    const tookMs = performance.now() - atMs
    this.#samples.push({ atMs, tookMs })
    const blame = (what: string) => this.offences.push({ atMs, what: `neighbour: ${what}` })
    if (answer instanceof Error) return void blame(answer.message)
    if (answer.kind !== 200) return void blame(`${answer.kind} ${answer.text}`)
    if (tookMs > patienceMs) blame(`took ${Math.round(tookMs)} ms`)
    const [isolate = ''] = answer.text.split(' ')
    if (this.#isolates.size > 0 && !this.#isolates.has(isolate))
      blame(`has another worker now: ${answer.text}`)
    this.#isolates.add(isolate)
  }

  async #callPlatform(): Promise<void> {
    const atMs = performance.now()
    const headers = { authorization: `Bearer ${this.#token}` }
    for (const path of ['/readyz', '/v1/me']) {
      const signal = AbortSignal.timeout(patienceMs)
      const answer = await fetch(this.#apiUrl + path, { headers, signal }).catch((error: Error) => error)
      if (answer instanceof Error) this.offences.push({ atMs, what: `${path}: ${answer.message}` })
      else if (answer.status !== 200) this.offences.push({ atMs, what: `${path}: ${answer.status}` })
      if (answer instanceof Response) await answer.body?.cancel()
    }
  }
}

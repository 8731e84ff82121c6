import { setTimeout as sleep } from 'node:timers/promises'
import { describeEnd } from '../processes/spawn-leashed.ts'
import type { Member } from '../world/open-fleet.ts'

const startMsMax = 90_000
const startAgainMs = 500

/** Kills and starts processes as an operator's supervisor does, and notes each that ended without having been killed. */
export class Lives {
  readonly unexpectedEnds: string[] = []
  readonly #killed = new Set<string>()

  constructor(members: readonly Member[]) {
    for (const member of members) this.#watch(member)
  }

  /** From now on ends are expected. */
  finish(): void {
    this.#killed.add('all')
  }

  async kill(member: Member): Promise<void> {
    this.#killed.add(member.name)
    await member.process.kill()
  }

  /** A server does not start without its database: then it is started until it does. */
  async startAgain(member: Member): Promise<void> {
    const deadlineMs = performance.now() + startMsMax
    for (;;) {
      try {
        await member.process.restart()
        break
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
        await sleep(startAgainMs)
      }
    }
    this.#killed.delete(member.name)
    this.#watch(member)
  }

  #watch({ name, process: running }: Member): void {
    void running.ended.then((end) => {
      if (this.#killed.has(name) || this.#killed.has('all')) return
      this.unexpectedEnds.push(`${name} ${describeEnd(end)} by itself:\n${running.recentLines.toString()}`)
    })
  }
}

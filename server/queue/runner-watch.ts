interface Seen {
  readonly beat: string
  readonly sinceMs: number
}

/**
 * Which runners are gone: those whose beat has not changed for too long, while this process was looking. It trusts no
 * clock but its own, which only goes forward, and nothing that it did not see: after a pause, a lost database or a lost
 * bus it begins anew, because whoever could not listen cannot say that somebody was silent.
 */
export class RunnerWatch {
  readonly #silenceMsMax: number
  readonly #gapMsMax: number
  #seen = new Map<string, Seen>()
  #lookedAtMs = -Infinity

  constructor({ silenceMsMax, gapMsMax }: { readonly silenceMsMax: number; readonly gapMsMax: number }) {
    this.#silenceMsMax = silenceMsMax
    this.#gapMsMax = gapMsMax
  }

  /** Looks at all beats and returns those that are gone, with their last beat. */
  look(
    beats: readonly { readonly runner_id: string; readonly beat: string }[],
    nowMs: number,
  ): readonly { readonly runner_id: string; readonly beat: string }[] {
    if (nowMs - this.#lookedAtMs > this.#gapMsMax) this.#seen.clear()
    this.#lookedAtMs = nowMs
    const seen = new Map<string, Seen>()
    for (const { runner_id, beat } of beats) {
      const known = this.#seen.get(runner_id)
      seen.set(runner_id, known?.beat === beat ? known : { beat, sinceMs: nowMs })
    }
    this.#seen = seen
    return beats.filter(({ runner_id }) => {
      const sinceMs = seen.get(runner_id)?.sinceMs ?? nowMs
      return nowMs - sinceMs > this.#silenceMsMax
    })
  }

  /** It could not be looked or listened: nothing that was seen before counts. */
  startOver(): void {
    this.#seen.clear()
  }
}

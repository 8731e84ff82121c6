/** Does something until it is disposed of, which aborts the signal and waits for the end of it. */
export function keepDoing(work: (stop: AbortSignal) => Promise<void>): AsyncDisposable {
  const stop = new AbortController()
  const working = work(stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await working
    },
  }
}

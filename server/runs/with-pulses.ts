const pulse = Symbol('pulse')

export function isPulse(item: unknown): item is typeof pulse {
  return item === pulse
}

/**
 * The items, and a pulse whenever none has come for that long. A race against the same promise for every pulse would
 * keep a little of each for as long as nothing happens; so the promise is waited for once, and says when it is there.
 */
export async function* withPulses<Item>(
  items: AsyncIterable<Item>,
  intervalMs: number,
): AsyncGenerator<Item | typeof pulse> {
  const iterator = items[Symbol.asyncIterator]()
  let asked = watchOne(iterator.next())
  try {
    while (true) {
      if (!(await asked.isThereWithin(intervalMs))) {
        yield pulse
        continue
      }
      const result = await asked.promise
      if (result.done) return
      yield result.value
      asked = watchOne(iterator.next())
    }
  } finally {
    // Not awaited: it ends only once the item that was asked for has come, or will not come any more.
    void iterator.return?.()
  }
}

function watchOne<Value>(promise: Promise<Value>) {
  let isThere = false
  let wake: (() => void) | undefined
  const arrive = () => {
    isThere = true
    wake?.()
  }
  promise.then(arrive, arrive)
  return {
    promise,
    async isThereWithin(timeoutMs: number): Promise<boolean> {
      if (isThere) return true
      const { promise: waited, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, timeoutMs)
      wake = resolve
      await waited
      clearTimeout(timer)
      return isThere
    },
  }
}

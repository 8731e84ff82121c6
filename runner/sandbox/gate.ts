/** Lets a bounded number through at once; the others wait in line. */
export interface Gate {
  readonly run: <T>(work: () => Promise<T>) => Promise<T>
}

export function openGate(atOnceMax: number): Gate {
  const waiting: (() => void)[] = []
  let inside = 0
  return {
    run: async (work) => {
      if (inside >= atOnceMax) await new Promise<void>((resolve) => waiting.push(resolve))
      else inside += 1
      try {
        return await work()
      } finally {
        // Whoever is next takes this place over, so the count stays.
        const next = waiting.shift()
        if (next) next()
        else inside -= 1
      }
    },
  }
}

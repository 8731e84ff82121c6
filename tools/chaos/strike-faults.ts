import { setTimeout as sleep } from 'node:timers/promises'
import type { Round, Strike } from './plan-faults.ts'

export interface Struck {
  readonly name: string
  readonly fromSeconds: number
  readonly toSeconds: number
}

/** Strikes until the time is up. All is mended once it returns. */
export async function strikeFaults(
  rounds: Iterable<Round>,
  { seconds, signal }: { readonly seconds: number; readonly signal?: AbortSignal | undefined },
): Promise<readonly Struck[]> {
  const startedAtMs = performance.now()
  const elapsed = () => (performance.now() - startedAtMs) / 1_000
  const struck: Struck[] = []
  const strike = async ({ fault, delayMs, random }: Strike) => {
    await sleep(delayMs)
    const fromSeconds = elapsed()
    await fault.strike(random)
    struck.push({ name: fault.name, fromSeconds, toSeconds: elapsed() })
  }
  for (const { calmMs, strikes } of rounds) {
    await sleep(calmMs, undefined, signal && { signal })
    if (elapsed() >= seconds) break
    await Promise.all(strikes.map(strike))
  }
  return struck
}

import { quantile, round } from '../bench/report.ts'

const stepMs = 250
const barCharsMax = 50

export interface Bin {
  readonly fromMs: number
  readonly count: number
}

export function summarize(lagsMs: readonly number[]) {
  return {
    p50Ms: round(quantile(lagsMs, 0.5), 0),
    p99Ms: round(quantile(lagsMs, 0.99), 0),
    maxMs: round(lagsMs.at(-1) ?? Number.NaN, 0),
  }
}

/** How many fell into each quarter of a second, from none to the longest. */
export function binsOf(lagsMs: readonly number[]): readonly Bin[] {
  const bins = Array.from({ length: Math.floor((lagsMs.at(-1) ?? 0) / stepMs) + 1 }, () => 0)
  for (const lagMs of lagsMs) bins[Math.floor(lagMs / stepMs)] = (bins[Math.floor(lagMs / stepMs)] ?? 0) + 1
  return bins.map((count, i) => ({ fromMs: i * stepMs, count }))
}

/** A line for each, to be read in a terminal. */
export function drawBins(bins: readonly Bin[]): string {
  const most = Math.max(...bins.map(({ count }) => count))
  return bins
    .map(({ fromMs, count }) => {
      const bar = '#'.repeat(Math.ceil((count / most) * barCharsMax))
      return `${String(fromMs).padStart(6)} ms ${String(count).padStart(6)} ${bar}`
    })
    .join('\n')
}

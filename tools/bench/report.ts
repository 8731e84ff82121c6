/** What a benchmark found: figures by name, and the least or most that each goal allows. */
export interface Report {
  readonly table: readonly Readonly<Record<string, string | number>>[]
  readonly figures: Readonly<Record<string, number>>
  readonly goals: Readonly<Record<string, { readonly min?: number; readonly max?: number }>>
}

/** A table for people and, as the last line, one JSON object for programs. */
export function printReport(bench: string, { table, figures, goals }: Report): boolean {
  console.table(table)
  const missed = Object.entries(goals).filter(([name, goal]) => !isMet(figures[name], goal))
  for (const [name, { min, max }] of missed) {
    console.log(
      `Not reached: ${name} is ${figures[name]}, the goal is ${min === undefined ? `≤ ${max}` : `≥ ${min}`}.`,
    )
  }
  const met = missed.length === 0
  console.log(JSON.stringify({ bench, figures, goals, met }))
  return met
}

function isMet(
  figure: number | undefined,
  { min = -Infinity, max = Infinity }: { min?: number; max?: number },
) {
  return figure !== undefined && figure >= min && figure <= max
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits))
}

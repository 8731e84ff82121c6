import type { Attack } from '../../attacks/attack.ts'
import type { Latencies } from './neighbour.ts'
import type { Blow } from './strike.ts'

export interface Row {
  readonly attack: Attack
  readonly blow: Blow
  readonly tookMs: number
  readonly neighbour: Latencies
  readonly runnerMiB: number
}

const errorCharsShown = 20

/** Family, attack, how it ended, why as its run says, and how the neighbour fared meanwhile. */
export function printTable(rows: readonly Row[]): void {
  console.table(
    rows.map(({ attack, blow, tookMs, neighbour, runnerMiB }) => ({
      family: attack.family,
      attack: attack.name,
      answer: blow.answer.kind,
      run: blow.run.status,
      error: blow.run.error?.name.slice(0, errorCharsShown) ?? '',
      tries: countTries(blow, attack),
      'took ms': Math.round(tookMs),
      'neighbour p50': round(neighbour.p50),
      p99: round(neighbour.p99),
      max: round(neighbour.max),
      'runner MiB': runnerMiB,
    })),
  )
  const tries = rows.reduce((sum, { attack, blow }) => sum + countTries(blow, attack), 0)
  const vals = new Set(rows.map(({ attack }) => attack)).size
  console.log(`${vals} hostile vals, ${rows.length} runs, ${tries} tries`)
}

function countTries({ answer }: Blow, { must }: Attack): number {
  return must.refusesAll && answer.kind === 200 ? Object.keys(JSON.parse(answer.text) as object).length : 1
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}

import { timeOf } from '@valley/server/database/ids.ts'
import { quantile } from '../bench/report.ts'
import type { Facts, RunFact } from './facts.ts'
import type { Load } from './load.ts'
import type { Counter } from './open-counter.ts'

type Row = Readonly<Record<string, string | number>>

/** How many runs ended how, and how long after they were accepted. */
export function tabulateEnds({ runs }: Facts, { executions }: Counter): readonly Row[] {
  const groups = Map.groupBy(runs.values(), ({ status, error_name }) =>
    `${status} ${error_name ?? ''}`.trim(),
  )
  return [...groups]
    .toSorted(([, a], [, b]) => b.length - a.length)
    .map(([end, ended]) => ({
      end,
      runs: ended.length,
      executed: ended.filter(({ id }) => executions.has(id)).length,
      share: `${((100 * ended.length) / runs.size).toFixed(2)} %`,
      ...tookOf(ended),
    }))
}

function tookOf(ended: readonly RunFact[]): Row {
  const times = ended.flatMap(({ id, ended_at }) =>
    ended_at ? [ended_at.getTime() - timeOf(id).getTime()] : [],
  )
  const at = (share: number) => Math.round(quantile(times, share))
  return { 'p50 ms': at(0.5), 'p99 ms': at(0.99), 'max ms': at(1) }
}

/** What clients were told. */
export function tabulateAnswers({ asked }: Load): readonly Row[] {
  const groups = Map.groupBy(asked, ({ answer }) => {
    if (answer.kind === 'answered') return `answered ${answer.status}`
    return answer.kind === 'unknown' ? `no answer: ${answer.why}` : 'connection refused'
  })
  return [...groups].map(([answer, given]) => ({ answer, requests: given.length }))
}

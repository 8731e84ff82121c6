import type { Counter } from './open-counter.ts'
import type { Facts, RunFact } from './facts.ts'
import { attemptsAsked, type AskedRun, type Load } from './load.ts'
import type { Scene } from './scene.ts'
import { thrownOnPurpose } from './val-code.ts'

const overStatuses = new Set(['succeeded', 'failed', 'timed_out', 'canceled'])

interface Happened {
  readonly load: Load
  readonly scene: Scene
  readonly counter: Counter
}

/** What is wrong with the runs: each line names one. */
export function auditRuns(facts: Facts, { load, scene, counter }: Happened): string[] {
  const { executions } = counter
  return [
    ...facts.queued.map((id) => `${id} is still in the queue`),
    ...[...facts.runs.values()].flatMap((run) => judgeRun(run, executions.get(run.id)?.size ?? 0)),
    ...[...executions.keys()]
      .filter((id) => !facts.runs.has(id))
      .map((id) => `${id} was executed, but is unknown`),
    ...load.asked.flatMap((asked) => judgeAnswer(asked, facts)),
    ...[...load.canceled]
      .filter((id) => facts.runs.get(id)?.status !== 'canceled')
      .map((id) => `${id} was said to be canceled, but is ${facts.runs.get(id)?.status}`),
    ...judgeStrangers(facts, load, scene),
    ...judgeRetries(facts, load),
  ]
}

/** Whoever asked for it, and whether or not they heard of it. */
function judgeRun({ id, status, ended_at, error_message }: RunFact, executed: number): string[] {
  const problems: string[] = []
  if (!overStatuses.has(status) || ended_at === null) problems.push(`${id} is ${status} and not over`)
  if (executed > 1) problems.push(`${id} was executed ${executed} times`)
  if (executed === 0 && status === 'succeeded') problems.push(`${id} succeeded, but was not executed`)
  if (executed === 0 && error_message === thrownOnPurpose) problems.push(`${id} threw, but was not executed`)
  return problems
}

function judgeAnswer({ kind, answer, runId }: AskedRun, { runs }: Facts): string[] {
  if (runId !== null) return runs.has(runId) ? [] : [`${runId} was accepted, but has no record`]
  if (answer.kind !== 'answered' || answer.status === 503) return []
  return [`a run of a ${kind} val was answered with ${answer.status}: ${answer.body.slice(0, 300)}`]
}

/** Runs that nobody was told of are at most as many as were asked for without an answer. */
function judgeStrangers({ runs }: Facts, { asked }: Load, { firstRuns }: Scene): string[] {
  const known = new Set(asked.map(({ runId }) => runId))
  const unheard = asked.filter(({ answer }) => answer.kind === 'unknown' || isUnsure(answer)).length
  const strangers = [...runs.values()].filter(
    ({ id, source, parent_id }) => source === 'api' && parent_id === null && !known.has(id),
  )
  return strangers.length > unheard + firstRuns
    ? [
        `${strangers.length - firstRuns} runs of the API are nobody's, ${unheard} were asked for without an answer`,
      ]
    : []
}

/** Of a commit whose answer did not come, a server can only say that it does not know. */
function isUnsure(answer: AskedRun['answer']): boolean {
  return answer.kind === 'answered' && answer.status === 503
}

function judgeRetries({ runs }: Facts, { asked, cancelsAsked }: Load): string[] {
  const children = Map.groupBy(
    [...runs.values()].filter(({ parent_id }) => parent_id !== null),
    ({ parent_id }) => parent_id,
  )
  const doubled = [...children].filter(([, retries]) => retries.length > 1)
  const problems = doubled.map(([id, retries]) => `${id} was tried again ${retries.length} times`)
  for (const { runId, isRetried } of asked) {
    const first = runId === null ? undefined : runs.get(runId)
    if (first === undefined) continue
    const chain = [first]
    for (let next = children.get(first.id)?.[0]; next; next = children.get(next.id)?.[0]) chain.push(next)
    const last = chain.at(-1)
    const attemptsMax = isRetried ? attemptsAsked : 1
    if (chain.length > attemptsMax) problems.push(`${first.id} was tried ${chain.length} times`)
    const isGivenUp =
      chain.length < attemptsMax && (last?.status === 'failed' || last?.status === 'timed_out')
    // One that shall be canceled and fails first is not tried again.
    if (isGivenUp && !cancelsAsked.has(first.id))
      problems.push(`${first.id} was tried only ${chain.length} times`)
  }
  return problems
}

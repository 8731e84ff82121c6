/*
 * What the queue promises, in its plainest form: runs, runners and the messages between runners and servers, with no
 * thought of SQL. A message may come once, twice, late or never; the model says what it changes when it comes.
 */

export const endStatuses = ['succeeded', 'failed', 'timed_out', 'canceled'] as const
export type EndStatus = (typeof endStatuses)[number]

export interface ModelRun {
  readonly id: string
  readonly owner: string
  readonly val: string
  readonly attempt: number
  readonly attempts: number
  readonly parent: ModelRun | null
  state: Waiting | Running | Over
  isCancelRequested: boolean
  /** How often a runner began it. */
  begun: number
}

interface Waiting {
  readonly kind: 'waiting'
}

interface Running {
  readonly kind: 'running'
  readonly runnerId: string
  readonly claim: number
}

interface Over {
  readonly kind: 'over'
  readonly status: EndStatus
  readonly errorName: string | null
}

/** A runner as it sees itself: what it was given and what it did with it. */
export interface ModelRunner {
  readonly id: string
  claims: number
  readonly abandoned: Set<number>
  readonly held: Map<string, Held>
}

export interface Held {
  readonly claim: number
  state: 'given' | 'begun' | 'reported'
}

export interface Model {
  readonly runs: Map<string, ModelRun>
  readonly runners: readonly ModelRunner[]
  /** Runs that ended so that another attempt has to be there. */
  readonly retried: ModelRun[]
}

export function emptyModel(runnerIds: readonly string[]): Model {
  const runners = runnerIds.map((id) => ({ id, claims: 0, abandoned: new Set<number>(), held: new Map() }))
  return { runs: new Map(), runners, retried: [] }
}

export function addRun(model: Model, run: Omit<ModelRun, 'state' | 'isCancelRequested' | 'begun'>): void {
  model.runs.set(run.id, { ...run, state: { kind: 'waiting' }, isCancelRequested: false, begun: 0 })
}

/** Of one runner, as the servers see it; of all without one. */
export function runningOf({ runs }: Model, runnerId?: string) {
  return [...runs.values()].flatMap((run) => {
    const { state } = run
    if (state.kind !== 'running' || (runnerId ?? state.runnerId) !== state.runnerId) return []
    return [{ run, claim: state.claim }]
  })
}

/** Another attempt follows what failed by itself, as long as there are some left and nobody wants it canceled. */
export function end(model: Model, run: ModelRun, how: Omit<Over, 'kind'>): void {
  run.state = { kind: 'over', ...how }
  const hasFailed = how.status === 'failed' || how.status === 'timed_out'
  if (hasFailed && run.attempt < run.attempts && !run.isCancelRequested) model.retried.push(run)
}

export function lose(model: Model, run: ModelRun): void {
  if (run.isCancelRequested) end(model, run, { status: 'canceled', errorName: 'Canceled' })
  else end(model, run, { status: 'failed', errorName: 'RunnerLost' })
}

export function giveBack(model: Model, run: ModelRun): void {
  if (run.isCancelRequested) end(model, run, { status: 'canceled', errorName: 'Canceled' })
  else run.state = { kind: 'waiting' }
}

export function cancel(model: Model, run: ModelRun): 'canceled' | 'asked' | null {
  if (run.state.kind === 'over') return null
  if (run.state.kind === 'waiting') {
    end(model, run, { status: 'canceled', errorName: 'Canceled' })
    return 'canceled'
  }
  run.isCancelRequested = true
  return 'asked'
}

import assert from 'node:assert/strict'
import { addRun, type Model, type ModelRun } from './model.ts'
import { readRuns, type Real, type StoredRun } from './real.ts'

/** Holds what is stored against the model. New attempts are learnt from it, exactly where the model expects one. */
export async function audit(known: Model, { db }: Real, ends: Map<string, StoredRun>): Promise<void> {
  const stored = new Map((await readRuns(db)).map((run) => [run.id, run]))
  learnRetries(known, [...stored.values()])
  assert.deepEqual(new Set(stored.keys()), new Set(known.runs.keys()), 'runs appeared or are missing')
  for (const run of known.runs.values()) {
    const row = stored.get(run.id) ?? assert.fail()
    assert.deepEqual(summaryOf(row), expectedOf(run), run.id)
    assert.equal(
      row.queue_id === null,
      row.status !== 'queued',
      'a row in the queue is a run that is not over',
    )
    if (run.state.kind !== 'over') continue
    assert.ok(row.ended_at !== null)
    assert.deepEqual(row, ends.get(run.id) ?? row, 'a run that is over has changed')
    ends.set(run.id, row)
  }
}

function learnRetries(known: Model, stored: readonly StoredRun[]): void {
  for (const parent of known.retried.splice(0)) {
    const [child, ...others] = stored.filter(({ parent_id }) => parent_id === parent.id)
    assert.ok(child !== undefined && others.length === 0, `one attempt has to follow ${parent.id}`)
    const { owner, val, attempts } = parent
    assert.deepEqual([child.owner_id, child.val_id], [owner, val])
    addRun(known, { id: child.id, owner, val, attempts, attempt: parent.attempt + 1, parent })
  }
}

function summaryOf({
  status,
  runner_id,
  claim_number,
  cancel_requested,
  attempt,
  error,
  parent_id,
}: StoredRun) {
  return {
    status,
    runner: runner_id,
    claim: claim_number === null ? null : Number(claim_number),
    cancelRequested: cancel_requested,
    attempt,
    error: error?.name ?? null,
    parent: parent_id,
  }
}

function expectedOf({ state, isCancelRequested, attempt, parent: before }: ModelRun) {
  const parent = before?.id ?? null
  if (state.kind === 'over') {
    const nothing = { runner: null, claim: null, cancelRequested: null, attempt: null }
    return { status: state.status, ...nothing, error: state.errorName, parent }
  }
  const isRunning = state.kind === 'running'
  return {
    status: 'queued',
    runner: isRunning ? state.runnerId : null,
    claim: isRunning ? state.claim : null,
    cancelRequested: isCancelRequested,
    attempt,
    error: null,
    parent,
  }
}

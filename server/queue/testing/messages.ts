import assert from 'node:assert/strict'
import { recordReports } from '../../runs/record-reports.ts'
import { hearBeat } from '../hear-beat.ts'
import { giveBackRuns } from '../transitions.ts'
import * as model from './model.ts'
import type { EndStatus, Model, ModelRun, ModelRunner } from './model.ts'
import { errorNameOf, type Real, reportBy } from './real.ts'

/** What a runner said once. Whenever and however often it is delivered, it says what was true when it was said. */
export interface Message<Reply = unknown> {
  readonly about: string
  readonly deliver: (known: Model, real: Real) => Promise<Reply>
}

export function claimMessage(
  runner: ModelRunner,
  claim: number,
  wanted: number,
): Message<readonly ModelRun[]> {
  return {
    about: `claim ${claim}`,
    async deliver(known, { desk, db, bounds }) {
      const reply = await desk.claim(db, { runnerId: runner.id, claimNumber: claim, wanted })
      assert.ok(reply.kind === 'claimed' && reply.runs.length <= wanted)
      const given = reply.runs.map(({ id }) => known.runs.get(id) ?? assert.fail(`${id} is unknown`))
      for (const run of given) {
        assert.equal(run.state.kind, 'waiting', 'only what waits is given away')
        run.state = { kind: 'running', runnerId: runner.id, claim }
      }
      assertBounds(known, bounds)
      if (given.length === 0) assert.deepEqual(claimableOf(known, bounds), [], 'nobody was given what waits')
      return given
    },
  }
}

function assertBounds(known: Model, { ownerRunsMax, valRunsMax }: Real['bounds']): void {
  const running = model.runningOf(known).map(({ run }) => run)
  const largest = (key: 'owner' | 'val') =>
    Math.max(0, ...[...Map.groupBy(running, (run) => run[key]).values()].map(({ length }) => length))
  assert.ok(largest('owner') <= ownerRunsMax, `an owner has ${largest('owner')} runs under way`)
  assert.ok(largest('val') <= valRunsMax, `a val has ${largest('val')} runs under way`)
}

function claimableOf(known: Model, { ownerRunsMax, valRunsMax }: Real['bounds']): readonly string[] {
  const running = model.runningOf(known).map(({ run }) => run)
  const count = (key: 'owner' | 'val', id: string) => running.filter((run) => run[key] === id).length
  return [...known.runs.values()]
    .filter(({ state }) => state.kind === 'waiting')
    .filter(({ owner, val }) => count('owner', owner) < ownerRunsMax && count('val', val) < valRunsMax)
    .map(({ id }) => id)
}

export function beatMessage({ id, claims, abandoned, held }: ModelRunner): Message<readonly string[]> {
  const told = {
    runnerId: id,
    claimsSettled: claims,
    claimsAbandoned: [...abandoned],
    runIds: [...held.keys()],
  }
  return {
    about: `beat of ${JSON.stringify(told)}`,
    async deliver(known, { db }) {
      const { reply } = await hearBeat(db, told)
      assert.ok(reply.kind === 'heard')
      for (const { run, claim } of model.runningOf(known, id)) {
        if (told.claimsAbandoned.includes(claim)) model.giveBack(known, run)
      }
      const runnings = model.runningOf(known, id)
      const stillIts = new Set(runnings.map(({ run }) => run.id))
      const canceled = runnings.filter(({ run }) => run.isCancelRequested && told.runIds.includes(run.id))
      assert.deepEqual(new Set(reply.canceled), new Set(canceled.map(({ run }) => run.id)))
      const gone = told.runIds.filter((runId) => !stillIts.has(runId))
      assert.deepEqual(new Set(reply.gone), new Set(gone))
      for (const { run, claim } of runnings) {
        const isSettled = claim <= told.claimsSettled && !told.claimsAbandoned.includes(claim)
        if (isSettled && !told.runIds.includes(run.id)) model.lose(known, run)
      }
      return gone
    },
  }
}

export function reportMessage(runnerId: string, run: ModelRun, status: EndStatus): Message {
  const report = reportBy(runnerId, run, status)
  return {
    about: `report of ${run.id} by ${runnerId}: ${status}`,
    async deliver(known, { db }) {
      const counts = run.state.kind === 'running' && run.state.runnerId === runnerId
      const { ended, faults } = await recordReports(db, [report])
      assert.deepEqual(faults, [])
      assert.deepEqual(
        ended.map(({ id }) => id),
        counts ? [run.id] : [],
      )
      if (counts)
        model.end(known, run, { status, errorName: status === 'succeeded' ? null : errorNameOf(status) })
    },
  }
}

export function handBackMessage(runnerId: string, claim: number, run: ModelRun): Message {
  return {
    about: `hand back of ${run.id} by ${runnerId}, of claim ${claim}`,
    async deliver(known, { db }) {
      await giveBackRuns(db, { runner_id: runnerId, claim_number: claim, run_ids: [run.id] })
      const { state } = run
      const counts = state.kind === 'running' && state.runnerId === runnerId && state.claim === claim
      if (counts) model.giveBack(known, run)
    },
  }
}

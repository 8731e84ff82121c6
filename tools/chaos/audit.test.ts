import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditFirings } from './audit-firings.ts'
import { auditRuns } from './audit-runs.ts'
import type { Facts, FiringFact, RunFact } from './facts.ts'
import type { AskedRun, Load } from './load.ts'
import { thrownOnPurpose } from './val-code.ts'

const endedAt = new Date('2026-01-01T00:00:01Z')
const overAndDone: RunFact = {
  id: 'a',
  val_id: 'val',
  parent_id: null,
  source: 'api',
  status: 'succeeded',
  error_name: null,
  error_message: null,
  started_at: endedAt,
  ended_at: endedAt,
}
const accepted: AskedRun = {
  kind: 'quick',
  isRetried: false,
  answer: { kind: 'answered', status: 202, body: '' },
  runId: 'a',
}

interface Happened {
  readonly runs?: readonly Partial<RunFact>[]
  readonly queued?: readonly string[]
  readonly asked?: readonly Partial<AskedRun>[]
  readonly canceled?: readonly string[]
  readonly executions?: Readonly<Record<string, readonly string[]>>
}

/** One run, accepted, executed and recorded, but for what is said. */
function audit(happened: Happened): string[] {
  const { runs = [{}], queued = [], asked = [{}], canceled = [], executions = { a: ['1'] } } = happened
  const all = runs.map((run) => ({ ...overAndDone, ...run }))
  const facts: Facts = { runs: new Map(all.map((run) => [run.id, run])), firings: [], queued }
  const load = {
    asked: asked.map((run) => ({ ...accepted, ...run })),
    cancelsAsked: new Set(canceled),
    canceled: new Set(canceled),
  } as unknown as Load
  const counted = new Map(Object.entries(executions).map(([id, nonces]) => [id, new Set(nonces)]))
  const counter = { url: '', executions: counted, [Symbol.asyncDispose]: async () => undefined }
  return auditRuns(facts, { load, counter, scene: { owners: [], planned: [], firstRuns: 0 } })
}

const failed = { status: 'failed', error_name: 'Error', error_message: thrownOnPurpose }
const retries = { isRetried: true }

test('whatever may go wrong with a run is found', () => {
  assert.deepEqual(audit({}), [])
  assert.deepEqual(audit({ runs: [], executions: {} }), ['a was accepted, but has no record'])
  assert.deepEqual(audit({ runs: [], asked: [] }), ['a was executed, but is unknown'])
  assert.deepEqual(audit({ runs: [{ status: 'queued', ended_at: null }] }), ['a is queued and not over'])
  assert.deepEqual(audit({ queued: ['a'] }), ['a is still in the queue'])
  assert.deepEqual(audit({ executions: { a: ['1', '2'] } }), ['a was executed 2 times'])
  assert.deepEqual(audit({ executions: {} }), ['a succeeded, but was not executed'])
  assert.deepEqual(audit({ runs: [failed], executions: {} }), ['a threw, but was not executed'])
  assert.deepEqual(audit({ canceled: ['a'] }), ['a was said to be canceled, but is succeeded'])
  const internal = { answer: { kind: 'answered', status: 500, body: 'oh' }, runId: null } as const
  assert.match(audit({ asked: [internal], runs: [], executions: {} })[0] ?? '', /answered with 500: oh/)
})

test('a run that nobody was told of is allowed for each answer that did not come, and no more', () => {
  const unheard = { answer: { kind: 'unknown', why: 'ECONNRESET' }, runId: null } as const
  assert.deepEqual(audit({ asked: [unheard] }), [])
  assert.equal(audit({ asked: [] }).length, 1)
})

test('a run is tried as often as was asked for', () => {
  const again = { id: 'b', parent_id: 'a' }
  const executions = { a: ['1'], b: ['2'], c: ['3'] }
  assert.deepEqual(audit({ runs: [failed, again], asked: [retries], executions: { a: ['1'], b: ['2'] } }), [])
  const once = audit({ runs: [failed, again], executions: { a: ['1'], b: ['2'] } })
  assert.deepEqual(once, ['a was tried 2 times'])
  assert.deepEqual(audit({ runs: [failed], asked: [retries] }), ['a was tried only 1 times'])
  const twice = audit({ runs: [failed, again, { ...again, id: 'c' }], asked: [retries], executions })
  assert.deepEqual(twice, ['a was tried again 2 times'])
})

/** Times are seconds; the schedule began at 1, and all was well again at 4. */
function auditPlanned(
  ...rows: readonly (Partial<FiringFact> & { readonly at: number; readonly to?: number })[]
) {
  const time = (second: number) => new Date(second * 1_000)
  const firings = rows.map(({ at, to, ...rest }): FiringFact => ({
    val_id: 'val',
    planned_at: time(at),
    outcome: 'fired',
    run_id: `run ${at}`,
    through_at: to === undefined ? null : time(to),
    count: null,
    ...rest,
  }))
  const runs = firings.flatMap(({ run_id }) =>
    run_id ? [{ ...overAndDone, id: run_id, source: 'schedule' as const }] : [],
  )
  const planned = [{ valId: 'val', token: '', firstAt: time(1) }]
  const facts: Facts = { runs: new Map(runs.map((run) => [run.id, run])), firings, queued: [] }
  return auditFirings(facts, { owners: [], planned, firstRuns: 0 }, time(4))
}

test('a planned time that is nowhere, or there twice, is found', () => {
  const missed = { outcome: 'missed', run_id: null } as const
  assert.deepEqual(auditPlanned({ at: 1 }, { at: 2 }, { at: 3 }), [])
  assert.deepEqual(auditPlanned({ at: 1 }, { at: 2, to: 3, count: 2, ...missed }), [])
  assert.match(auditPlanned({ at: 1 }, { at: 3 }).join(), /1 s before .*:03.000Z are nowhere/)
  assert.match(auditPlanned({ at: 1 }, { at: 2 }).join(), /nothing from .*:03.000Z on/)
  assert.match(
    auditPlanned({ at: 1, to: 2, count: 2, ...missed }, { at: 2 }, { at: 3 }).join(),
    /is there twice/,
  )
  assert.match(auditPlanned({ at: 1 }, { at: 2, to: 3, count: 7, ...missed }).join(), /7 missed at .*, not 2/)
  assert.match(auditPlanned({ at: 1 }, { at: 2 }, { at: 3, outcome: 'refused' }).join(), /was refused/)
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { newId } from '../../database/ids.ts'
import { enqueueRuns } from '../enqueue.ts'
import { loseRuns } from '../lose-runs.ts'
import { cancel, loseRunsOfRunner } from '../transitions.ts'
import { audit } from './audit.ts'
import { beatMessage, claimMessage, handBackMessage, type Message, reportMessage } from './messages.ts'
import * as model from './model.ts'
import {
  endStatuses,
  type EndStatus,
  type Held,
  type Model,
  type ModelRun,
  type ModelRunner,
} from './model.ts'
import type { Real, StoredRun } from './real.ts'

export const runnerCount = 2

/** What a sequence of steps goes on with: what was said so far, and how runs ended. */
export interface Course extends Model {
  readonly sent: Message[]
  readonly ends: Map<string, StoredRun>
}

type Step<Input> = (course: Course, real: Real, input: Input) => Promise<void>

interface OfRunner {
  readonly runner: number
  readonly pick: number
}

const runner = fc.nat({ max: runnerCount - 1 })
const pick = fc.nat({ max: 99 })
const status = fc.constantFrom(...endStatuses)
/** now: it arrives and its answer comes back. unheard: it arrives, its answer does not. later: perhaps, some time. */
const fates = ['now', 'now', 'now', 'unheard', 'later'] as const
const fate = fc.constantFrom(...fates)
type Fate = (typeof fates)[number]

const enqueue: Step<{ val: number; attempts: number; count: number }> = async (course, real, input) => {
  const { id: val, ownerId: owner } = real.vals[input.val % real.vals.length] ?? assert.fail()
  const { attempts } = input
  const ids = Array.from({ length: input.count }, newId)
  const retry = { attempts, backoffMs: 0 }
  const runs = ids.map((id) => ({ id, ownerId: owner, valId: val, source: 'api', args: [1], retry }) as const)
  assert.deepEqual(new Set(await enqueueRuns(real.db, runs)), new Set(ids))
  for (const id of ids) model.addRun(course, { id, owner, val, attempts, attempt: 1, parent: null })
}

/** A runner that hears no answer in time never takes what the claim may still bring. */
const claim: Step<OfRunner & { wanted: number; fate: Fate }> = async (course, real, input) => {
  const claiming = runnerOf(course, input)
  const number = ++claiming.claims
  const message = claimMessage(claiming, number, input.wanted)
  course.sent.push(message)
  const given = input.fate === 'later' ? [] : await message.deliver(course, real)
  if (input.fate !== 'now') claiming.abandoned.add(number)
  else for (const { id } of given) claiming.held.set(id, { claim: number, state: 'given' })
}

const begin: Step<OfRunner> = async (course, _, input) => {
  const chosen = chooseHeld(course, input, ['given'])
  if (chosen !== null) beginHeld(chosen)
}

function beginHeld({ run, held }: Chosen): void {
  held.state = 'begun'
  run.begun += 1
  assert.equal(run.begun, 1, `${run.id} is begun twice`)
}

const report: Step<OfRunner & { status: EndStatus; fate: Fate }> = async (course, real, input) => {
  const chosen = chooseHeld(course, input, ['given', 'begun'])
  if (chosen === null) return
  const { run, held, by } = chosen
  if (held.state === 'given') beginHeld(chosen)
  held.state = 'reported'
  await send(course, real, { message: reportMessage(by.id, run, input.status), fate: input.fate })
}

/** Nobody but its runner is believed about a run, whatever they say together with others. */
const slander: Step<OfRunner & { status: EndStatus }> = async (course, real, input) => {
  const run = chooseRun(course, input.pick)
  const by = runnerOf(course, input)
  if (run === undefined || (run.state.kind === 'running' && run.state.runnerId === by.id)) return
  await send(course, real, { message: reportMessage(by.id, run, input.status), fate: 'now' })
}

const handBack: Step<OfRunner & { fate: Fate }> = async (course, real, input) => {
  const chosen = chooseHeld(course, input, ['given'])
  if (chosen === null) return
  const { run, held, by } = chosen
  by.held.delete(run.id)
  await send(course, real, { message: handBackMessage(by.id, held.claim, run), fate: input.fate })
}

const beat: Step<OfRunner & { fate: Fate }> = async (course, real, input) => {
  const beating = runnerOf(course, input)
  const message = beatMessage(beating)
  course.sent.push(message)
  if (input.fate === 'later') return
  const gone = await message.deliver(course, real)
  if (input.fate === 'now') for (const id of gone) beating.held.delete(id)
}

/** What was reported very long ago is not called its any more, whatever became of the report. */
const forget: Step<OfRunner> = async (course, _, input) => {
  const { held } = runnerOf(course, input)
  for (const [id, { state }] of held) if (state === 'reported') held.delete(id)
}

const cancelOne: Step<{ pick: number }> = async (course, { db }, input) => {
  const run = chooseRun(course, input.pick)
  if (run === undefined) return
  const { rows } = await cancel(db, { run_id: run.id, owner_id: run.owner })
  assert.equal(rows[0]?.state ?? null, model.cancel(course, run))
}

/** Servers may give up a runner that lives: it goes on, and is not believed. */
const giveUp: Step<OfRunner> = async (course, { db }, input) => {
  const { id } = runnerOf(course, input)
  const { runs } = await loseRuns(db, loseRunsOfRunner, { runner_id: id })
  const expected = model.runningOf(course, id).map(({ run }) => run)
  assert.deepEqual(new Set(runs.map((row) => row.id)), new Set(expected.map((run) => run.id)))
  for (const run of expected) model.lose(course, run)
}

/** Once more, or at last. */
const deliver: Step<{ pick: number }> = async (course, real, input) => {
  const message = course.sent[input.pick % Math.max(1, course.sent.length)]
  await message?.deliver(course, real)
}

interface Sending {
  readonly message: Message
  readonly fate: Fate
}

async function send(course: Course, real: Real, { message, fate }: Sending): Promise<void> {
  course.sent.push(message)
  if (fate !== 'later') await message.deliver(course, real)
}

function runnerOf({ runners }: Course, { runner: at }: OfRunner): ModelRunner {
  return runners[at] ?? assert.fail()
}

function chooseRun({ runs }: Course, at: number): ModelRun | undefined {
  return [...runs.values()][at % Math.max(1, runs.size)]
}

interface Chosen {
  readonly run: ModelRun
  readonly held: Held
  readonly by: ModelRunner
}

function chooseHeld(course: Course, input: OfRunner, states: readonly Held['state'][]): Chosen | null {
  const by = runnerOf(course, input)
  const fitting = [...by.held].filter(([, { state }]) => states.includes(state))
  const [id = '', held] = fitting[input.pick % Math.max(1, fitting.length)] ?? []
  const run = course.runs.get(id)
  return run && held ? { run, held, by } : null
}

/** Steps of several runners and their users, in any order. */
export function steps() {
  const val = fc.nat({ max: 3 })
  const attempts = fc.integer({ min: 1, max: 4 })
  const count = fc.integer({ min: 1, max: 4 })
  const wanted = fc.integer({ min: 1, max: 5 })
  const often = [
    step('enqueue', enqueue, fc.record({ val, attempts, count })),
    step('claim', claim, fc.record({ runner, pick, wanted, fate })),
    step('begin', begin, fc.record({ runner, pick })),
    step('report', report, fc.record({ runner, pick, status, fate })),
    step('handBack', handBack, fc.record({ runner, pick, fate })),
    step('deliver', deliver, fc.record({ pick })),
    step('cancel', cancelOne, fc.record({ pick })),
  ]
  return fc.commands(
    [
      ...often,
      ...often,
      step('slander', slander, fc.record({ runner, pick, status })),
      step('beat', beat, fc.record({ runner, pick, fate })),
      step('forget', forget, fc.record({ runner, pick })),
      step('giveUp', giveUp, fc.record({ runner, pick })),
    ],
    { maxCommands: 100, size: 'max' },
  )
}

function step<Input extends object>(label: string, run: Step<Input>, inputs: fc.Arbitrary<Input>) {
  return inputs.map((input): fc.AsyncCommand<Course, Real> => ({
    check: () => true,
    async run(course, real) {
      await run(course, real, input)
      await audit(course, real, course.ends)
    },
    toString: () => `${label}(${fc.stringify(input)})`,
  }))
}

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Retry, Run, RunDetails, Val } from '@valley/sdk/client.ts'
import { openScene, type Scene } from '../vals/scene.ts'

const endedWithinMs = 90_000
const lookMs = 50

export interface How {
  readonly args?: unknown[]
  readonly retry?: Retry
}

export interface RunScene extends AsyncDisposable {
  readonly scene: Scene
  /** A val of alice's that is run by hand. Saved again, it has another version. */
  save(name: string, code: string, fields?: Partial<Pick<Val, 'privacy' | 'type'>>): Promise<Val>
  /** Puts a run into the queue. */
  begin(val: Pick<Val, 'id'>, how?: How): Promise<RunDetails>
  /** Runs a val once, to the end. */
  run(val: Pick<Val, 'id'>, how?: How): Promise<RunDetails>
  /** Saves and runs. */
  runCode(name: string, code: string, how?: How): Promise<RunDetails>
  /** The record of a run once it is over, within a bound. */
  untilEnded(run: Pick<Run, 'id'>): Promise<RunDetails>
  untilRunning(run: Pick<Run, 'id'>): Promise<void>
  /** Until a run of this val that is under way prints this; it should do so again and again. */
  untilPrinted(val: Pick<Val, 'id'>, line: string): Promise<void>
}

export async function openRunScene(runnerEnv: NodeJS.ProcessEnv = {}): Promise<RunScene> {
  const scene = await openScene(runnerEnv)
  const { alice } = scene
  const look = async (run: Pick<Run, 'id'>, isThere: (run: RunDetails) => boolean) => {
    const deadlineMs = performance.now() + endedWithinMs
    for (;;) {
      const found = await alice.runs.get(run.id)
      if (isThere(found)) return found
      assert.ok(performance.now() < deadlineMs, `run ${run.id} is still ${found.status}`)
      await sleep(lookMs)
    }
  }
  const untilEnded = async (run: Pick<Run, 'id'>) => look(run, isOver)
  const begin: RunScene['begin'] = async ({ id }, how = {}) => alice.vals.run(id, how)
  const run: RunScene['run'] = async ({ id }, how = {}) => {
    const soon = await alice.vals.run(id, { ...how, wait: 20 })
    return isOver(soon) ? soon : untilEnded(soon)
  }
  const save: RunScene['save'] = async (name, code, fields) =>
    scene.save(name, code, { type: 'script', ...fields })
  return {
    scene,
    save,
    begin,
    run,
    runCode: async (name, code, how) => run(await save(name, code), how),
    untilEnded,
    untilRunning: async (waiting) => void (await look(waiting, ({ status }) => status === 'running')),
    untilPrinted: async ({ id }, line) => {
      const signal = AbortSignal.timeout(endedWithinMs)
      for await (const { event, data } of alice.vals.tail(id, {}, { signal })) {
        if (event === 'log' && data.message.includes(line)) return
      }
    },
    [Symbol.asyncDispose]: async () => scene[Symbol.asyncDispose](),
  }
}

function isOver({ status }: Run): boolean {
  return status !== 'queued' && status !== 'running'
}

export const messagesOf = ({ logs }: Pick<RunDetails, 'logs'>) => logs.map(({ message }) => message)

import { newId } from '@valley/server/database/ids.ts'
import type { ClaimedRun } from '@valley/bus/claimed-run.ts'
import type { Head } from '@valley/bus/requests.ts'
import { readConfig } from '@valley/runner/config.ts'
import { limits } from '@valley/runner/limits.ts'
import { callVal } from '@valley/runner/queue/call-val.ts'
import { OpenRun } from '@valley/runner/reports/open-run.ts'
import { readBootstrap } from '@valley/runner/sandbox/bootstrap-files.ts'
import { openSandboxDriver } from '@valley/runner/sandbox/open-sandbox-driver.ts'
import { exampleHead } from '@valley/runner/testing/example-head.ts'
import type { WorkerMode } from '@valley/runner/workers/worker.ts'
import { Workforce } from '@valley/runner/workers/workforce.ts'
import { chooseSandbox } from '../../valley-processes/choose-sandbox.ts'

const nothing = () => undefined
const sandboxObservations = {
  sandboxIsWeak: nothing,
  leftoversSwept: nothing,
  removalFailed: nothing,
  forwardingEnabled: nothing,
}

export interface BareCalls extends AsyncDisposable {
  /** Calls a val so often, so many at a time, and returns how many that were in a second. */
  measure(code: string, load: BareLoad): Promise<number>
}

interface BareLoad {
  readonly mode: WorkerMode
  readonly calls: number
  readonly atOnce: number
}

/** The workers of a runner in the same sandboxes, called in a loop: nothing is queued, and nothing recorded. */
export async function openBareCalls(folder: string): Promise<BareCalls> {
  const env = { ...process.env, SANDBOX: chooseSandbox(process.env), RUNNER_FOLDER: folder }
  const config = readConfig(env)
  await using stack = new AsyncDisposableStack()
  const options = { kind: config.sandbox, folder: config.folder, limits, egress: config.egress }
  const driver = stack.use(
    await openSandboxDriver({ ...options, bootstrap: readBootstrap() }, sandboxObservations),
  )
  const observe = { workerBooted: nothing, bootFailed: nothing, workerEnded: nothing }
  const workforce = stack.use(new Workforce({ ...config, driver, observe }))
  const opened = stack.move()
  return {
    measure: async (code, load) => {
      const head = { ...exampleHead, valId: newId(), type: 'script', code } as const
      await callOnce(workforce, head, load.mode)
      const startedAtMs = performance.now()
      let left = load.calls
      const loop = async () => {
        while (left-- > 0) await callOnce(workforce, head, load.mode)
      }
      await Promise.all(Array.from({ length: load.atOnce }, loop))
      return (load.calls * 1_000) / (performance.now() - startedAtMs)
    },
    [Symbol.asyncDispose]: async () => opened.disposeAsync(),
  }
}

const never = new AbortController().signal

async function callOnce(workforce: Workforce, head: Head, mode: WorkerMode): Promise<void> {
  const { valId, ownerId } = head
  const claimed: ClaimedRun = { id: newId(), ownerId, valId, source: 'api', args: [1] }
  const run = new OpenRun(head, { claimed, runnerId: ownerId }, nothing)
  const placement = await workforce.place(head, run, mode)
  if (placement.kind === 'refused') throw new Error(`A bare call was refused: ${placement.outcome.kind}`)
  const outcome = await callVal(placement.worker, run, { claimed, mode, stop: never })
  if (outcome.kind !== 'returned') throw new Error(`A bare call ended otherwise: ${outcome.kind}`)
  run.end(outcome)
  workforce.release(placement.worker, run, nothing)
}

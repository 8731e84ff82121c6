import { captureConsole } from './capture-console.ts'
import type { Call } from './control-message.ts'
import type { DenoApi } from './deno-api.ts'
import { describeError } from './describe-error.ts'
import { captureUncaught } from './capture-uncaught.ts'
import type { RunScope } from './handler.ts'
import { importVal } from './load-val.ts'
import { createReturnWriter, runCall } from './run-call.ts'
import type { FromIsolate } from './from-isolate.ts'
import type { ToIsolate } from './isolates.ts'
import { ownProcess } from './own-process.ts'

/*
 * The program of an isolate that is there for one run: it is told what to import and what to call, once, and says what
 * it printed and what came of it. Its isolate is ended by whoever made it.
 */
const scope = globalThis as unknown as {
  Deno: DenoApi
  postMessage: (message: FromIsolate) => void
  addEventListener: (
    type: 'message',
    listener: (event: { data: ToIsolate }) => void,
    options: { once: true },
  ) => void
}
const post = scope.postMessage.bind(globalThis)
const run: RunScope = { runId: null, linesLeft: 0, charsLeft: 0 }
let returnValueCharsMax = 0
const writeReturn = createReturnWriter(scope.Deno.inspect, () => returnValueCharsMax)
const print = captureConsole({ send: post, getScope: () => run, inspect: scope.Deno.inspect })
captureUncaught(print)
ownProcess(scope.Deno, (error) => post({ kind: 'threw', error }))

scope.addEventListener(
  'message',
  ({ data }) => {
    run.linesLeft = data.logLinesMax
    run.charsLeft = data.logCharsMax
    returnValueCharsMax = data.returnValueCharsMax
    showRun(data.call)
    void runOnce(data)
  },
  { once: true },
)
post({ kind: 'ready' })

async function runOnce({ modules, call }: ToIsolate): Promise<void> {
  let known: { hasDefault?: boolean } = {}
  try {
    const exported = await importVal(modules)
    const hasDefault = exported.call !== null || exported.scheduled !== null
    known = { hasDefault }
    const value = await runCall(exported, call)
    post({ kind: 'returned', ...writeReturn(value), hasDefault })
  } catch (thrown) {
    post({ kind: 'threw', error: describeError(thrown), ...known })
  }
}

/** A val without a function to take arguments finds them here. */
function showRun({ runId, args }: Call): void {
  Object.defineProperty(globalThis, 'valley', { value: Object.freeze({ runId, args }) })
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { openControl } from './control.ts'
import { captureConsole } from './capture-console.ts'
import { captureTimers } from './capture-timers.ts'
import { captureUncaught } from './capture-uncaught.ts'
import { createCaller } from './caller.ts'
import type { ToWorker } from './control-message.ts'
import type { DenoApi } from './deno-api.ts'
import { describeError } from './describe-error.ts'
import { createHandler, type RunScope, type Val } from './handler.ts'
import type { ProgramModule } from './isolate-program.ts'
import { Isolates } from './isolates.ts'
import { handlesOf, importVal } from './load-val.ts'
import { createReturnWriter } from './run-call.ts'

/*
 * The program inside every sandbox. It boots without knowing any val: sockets open, compiler and server warm. Then it
 * is told what to import, once, and answers requests and calls for it until it is ended; or it runs each call in an
 * isolate of its own, for vals that have nothing to call.
 *
 * The val runs in this same isolate afterwards, and may change every global and prototype. So what is needed later is
 * taken hold of now; and whatever it breaks nonetheless, it breaks for itself: the runner believes nothing it reads.
 */
const { Deno: deno } = globalThis as unknown as { Deno: DenoApi }
const { exit } = deno
const [socketFolder = '', appFolder = ''] = deno.args
const currentRun = new AsyncLocalStorage<RunScope>()
const outside: RunScope = { runId: null, linesLeft: 0, charsLeft: 0 }
const getStore = currentRun.getStore.bind(currentRun)
const getScope = () => getStore() ?? outside
const runWithin = currentRun.run.bind(currentRun)

const control = await openControl(deno, `${socketFolder}/control.sock`)
const val: Val = { exported: null, logLinesMax: 0, logCharsMax: 0 }
deno.serve(
  { path: `${socketFolder}/http.sock`, onListen: () => undefined },
  createHandler({ val, control, runWithin }),
)
await warmUp()
const isolateProgram = JSON.parse(await deno.readTextFile(`${appFolder}/isolate.json`)) as ProgramModule[]
for (const path of [socketFolder, appFolder]) {
  await deno.permissions.revoke({ name: 'read', path })
  await deno.permissions.revoke({ name: 'write', path })
}
const print = captureConsole({ send: control.send, getScope, inspect: deno.inspect })
captureUncaught(print)
captureTimers(print)
const isolates = new Isolates(control, isolateProgram)
let assignment: Extract<ToWorker, { kind: 'assign' }> | null = null
const callVal = createCaller({
  val,
  control,
  runWithin,
  writeReturn: createReturnWriter(deno.inspect, () => assignment?.returnValueCharsMax ?? 0),
})
Object.defineProperty(globalThis, 'valley', {
  value: Object.freeze({
    get runId() {
      return getScope().runId
    },
  }),
})
control.send({ kind: 'ready' })

for await (const message of control.messages()) obey(message)
// The runner is gone, and with it the reason to be here.
exit(0)

function obey(message: ToWorker): void {
  switch (message.kind) {
    case 'ping':
      return control.send({ kind: 'pong', number: message.number })
    case 'assign':
      assignment = message
      // Not awaited: a val that loads for long still answers pings, so that slow is told from stuck.
      return void assign(message)
    case 'call':
      if (assignment?.mode === 'fresh') return isolates.run(message, assignment)
      return callVal(message)
    case 'stop':
      return isolates.stop(message.runId)
  }
}

async function assign(message: Extract<ToWorker, { kind: 'assign' }>): Promise<void> {
  val.logLinesMax = outside.linesLeft = message.logLinesMax + 1
  val.logCharsMax = outside.charsLeft = message.logCharsMax
  for (const [name, value] of Object.entries(message.environment)) deno.env.set(name, value)
  if (message.mode === 'fresh') {
    return control.send({ kind: 'loaded', handles: { fetch: false, call: true, scheduled: true } })
  }
  try {
    val.exported = await importVal(message.modules)
    control.send({ kind: 'loaded', handles: handlesOf(val.exported) })
  } catch (thrown) {
    control.send({ kind: 'load_failed', error: describeError(thrown) })
  }
}

/** The first TypeScript module and the first regular expression cost milliseconds: spend them before a val waits. */
async function warmUp(): Promise<void> {
  const module: string = 'data:application/typescript,export%20default%20(x:number)=>x'
  await import(module)
}

import { AsyncLocalStorage } from 'node:async_hooks'
import { openControl } from './control.ts'
import { captureConsole } from './capture-console.ts'
import { captureTimers } from './capture-timers.ts'
import type { DenoApi } from './deno-api.ts'
import { describeError } from './describe-error.ts'
import { createHandler, type RunScope, type Val } from './handler.ts'
import { loadVal } from './load-val.ts'

/*
 * The program inside every sandbox. It boots without knowing any val: sockets open, compiler and server warm. Then it
 * is told what to import, once, and answers requests for it until it is ended.
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
const val: Val = { fetch: null, logLinesMax: 0, logCharsMax: 0 }
deno.serve(
  { path: `${socketFolder}/http.sock`, onListen: () => undefined },
  createHandler({ val, control, runWithin }),
)
await warmUp()
for (const path of [socketFolder, appFolder]) {
  await deno.permissions.revoke({ name: 'read', path })
  await deno.permissions.revoke({ name: 'write', path })
}
const print = captureConsole({ control, getScope, inspect: deno.inspect })
captureUncaught()
captureTimers((thrown) => report('Uncaught ', thrown))
control.send({ kind: 'ready' })

for await (const message of control.messages()) {
  if (message.kind === 'ping') control.send({ kind: 'pong', number: message.number })
  else {
    val.logLinesMax = outside.linesLeft = message.logLinesMax + 1
    val.logCharsMax = outside.charsLeft = message.logCharsMax
    // Not awaited: a val that loads for long still answers pings, so that slow is told from stuck.
    void loadVal({ deno, control, val, message })
  }
}
// The runner is gone, and with it the reason to be here.
exit(0)

/** The first TypeScript module and the first regular expression cost milliseconds: spend them before a val waits. */
async function warmUp(): Promise<void> {
  const module: string = 'data:application/typescript,export%20default%20(x:number)=>x'
  await import(module)
}

function captureUncaught(): void {
  globalThis.addEventListener('error', (event) => {
    event.preventDefault()
    report('Uncaught ', event.error)
  })
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    report('Uncaught (in promise) ', event.reason)
  })
}

function report(prefix: string, thrown: unknown): void {
  const { stack, message } = describeError(thrown)
  print('error', `${prefix}${stack ?? message}`)
}

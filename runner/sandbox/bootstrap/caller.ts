import type { Control } from './control.ts'
import type { Call } from './control-message.ts'
import { describeError } from './describe-error.ts'
import type { RunWithin, Val } from './handler.ts'
import { type ReturnWriter, runCall } from './run-call.ts'

interface Parts {
  readonly val: Val
  readonly control: Control
  readonly runWithin: RunWithin
  readonly writeReturn: ReturnWriter
}

/** Makes what calls the loaded val. What it prints comes before what it returns, on the same line. */
export function createCaller({ val, control, runWithin, writeReturn }: Parts): (call: Call) => void {
  const finish = async (call: Call): Promise<void> => {
    const { runId } = call
    const scope = { runId, linesLeft: val.logLinesMax, charsLeft: val.logCharsMax }
    try {
      const value = await runWithin(scope, () => {
        if (val.exported === null) throw new TypeError('The val is not loaded.')
        return runCall(val.exported, call)
      })
      control.send({ kind: 'returned', runId, ...writeReturn(value), hasDefault: true })
    } catch (thrown) {
      control.send({ kind: 'threw', runId, error: describeError(thrown) })
    }
  }
  return (call) => void finish(call)
}

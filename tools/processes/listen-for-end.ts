import os from 'node:os'

export class EndRequested extends Error {
  override readonly name = 'EndRequested'
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`Ended by ${signal}.`)
    this.signal = signal
  }
}

/** Aborted by Ctrl-C and its like, so that every wait ends and everything that was started is stopped. */
export function listenForEnd(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => controller.abort(new EndRequested(name)))
  }
  return controller.signal
}

/** As a shell reports a command that a signal ended. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + os.constants.signals[signal]
}

import { EndRequested, exitCodeOf, listenForEnd } from './listen-for-end.ts'
import { PlainError } from './plain-error.ts'

/** The outermost frame of a tool: from what `main` returns or throws to an exit code and a message. */
export async function runMain(main: (end: AbortSignal) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await main(listenForEnd())
  } catch (error) {
    process.exitCode = error instanceof EndRequested ? exitCodeOf(error.signal) : 1
    if (error instanceof EndRequested) return
    console.error(error instanceof PlainError ? error.message : error)
  }
}

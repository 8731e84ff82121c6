import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'

/** Debian's package libfaketime. */
const library = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`

export interface SteppedClock {
  /** What a program needs in its environment to go by this clock. */
  readonly env: NodeJS.ProcessEnv
  /** Puts it so far ahead of the real one, or behind it if that is negative. */
  setAhead(seconds: number): Promise<void>
}

/** A clock that can be put forward and back under a program that runs. What measures how long something takes is real. */
export async function makeSteppedClock(file: string): Promise<SteppedClock> {
  if (!existsSync(library)) throw new Error(`There is no ${library}: install libfaketime.`)
  const setAhead = async (seconds: number) => writeFile(file, `${seconds < 0 ? '' : '+'}${seconds}`)
  await setAhead(0)
  return {
    setAhead,
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
  }
}

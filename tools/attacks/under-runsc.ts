import type { Outcome } from './attack.ts'

interface Difference {
  readonly why: string
  /** What must hold instead; without it the attack is not tried at all. */
  readonly must?: Outcome
}

const ownEnd: Outcome = { answer: 502, run: 'failed', error: 'WorkerExited' }

/** What does not hold under gVisor as it does under runc, by the attack's title. */
export const underRunsc: Readonly<Record<string, Difference>> = {
  'processes: signals the first process, which is itself': {
    why: 'the list of system calls is not applied, so a val can signal itself, and nobody else',
    must: ownEnd,
  },
  'disk: makes files without end': {
    why: "gVisor's /tmp counts no files: memory and time bound them",
    must: { answer: 504, run: 'timed_out', error: 'WorkerKilled' },
  },
  'disk: one file larger than everything': {
    why: 'a file beyond its bound ends the process by a signal',
    must: ownEnd,
  },
  'threads: thread bomb': {
    why: 'the val is ended, but a neighbour was seen to wait for up to 13 seconds meanwhile',
  },
}

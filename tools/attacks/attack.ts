import type { RunStatus } from '@valley/contract/runs.ts'
import type { EndCause } from '@valley/runner/workers/end-cause.ts'

/** One hostile val and what must hold when it is called. */
export interface Attack {
  readonly family: string
  readonly name: string
  readonly code: string
  /** How it is called; a plain GET unless told. */
  readonly request?: HostileCall
  readonly must: Outcome
  /** Called once more: it must go the same way again. */
  readonly twice?: true
  /** Takes as long as the platform is patient, so it is run beside others that do. */
  readonly patient?: true
}

export interface HostileCall {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Zeros, without their number told beforehand. */
  readonly bodyBytes?: number
  /** The rest of the body never comes. */
  readonly stallsAfterBytes?: number
  readonly leavesAfterMs?: number
  /** Goes on to the neighbour on the same connection. */
  readonly thenNeighbour?: true
}

export interface Outcome {
  /** Of the answer; `broken` where it begins and is broken off, `left` where the client does not wait for it. */
  readonly answer: number | 'broken' | 'left'
  readonly run: RunStatus
  /** The name of the run's error, where it has one. */
  readonly error?: string
  /** Somewhere in the run's error or in what it printed: the reason. */
  readonly says?: RegExp
  /** All that the client gets to see, its headers included. */
  readonly shows?: RegExp
  readonly hides?: RegExp
  /** The answer is a probe's report: each try must have been refused. */
  readonly refusesAll?: true
  readonly answerBytesMax?: number
  /** Why the runner ends its worker afterwards, where the answer does not show it: one of these. */
  readonly endsWorker?: readonly EndCause[]
  /** Just as good: which of the two it is depends on who is faster. */
  readonly orElse?: Outcome
}

/** Where everything is that an attack may aim at. */
export interface Places {
  readonly hostAddress: string
  readonly gateway: string
  readonly siblingAddresses: readonly string[]
  readonly siblingPort: number
  /** Counts whoever comes, on every address of the host. */
  readonly canaryPort: number
  readonly ports: Readonly<Record<'postgres' | 'nats' | 'api' | 'edge' | 'status', number>>
  readonly standIn: {
    readonly port: number
    readonly publicAddress: string
    readonly privateAddress: string
    readonly linkLocalAddress: string
  }
  /** Files of the host that an attacker would like: readable by everyone there, with a secret in each. */
  readonly canaryFiles: readonly string[]
  readonly runnerPid: number
}

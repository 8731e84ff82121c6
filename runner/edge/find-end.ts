import { setTimeout as sleep } from 'node:timers/promises'
import { limits } from '../limits.ts'
import type { EndCause } from '../workers/end-cause.ts'
import type { Worker } from '../workers/worker.ts'

/** Why the worker ended, if it did: its sockets break a moment before the kernel says why. */
export async function findEndOrNull(worker: Worker): Promise<EndCause | null> {
  const soon = (ms: number) => Promise.race([worker.gone, sleep(ms, null)])
  return (await soon(limits.causeWaitMs)) ?? (worker.isHangingUp ? await soon(limits.endWaitMs) : null)
}

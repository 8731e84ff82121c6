import { LRUCache } from 'lru-cache'
import type { Head } from '@valley/bus/requests.ts'
import { limits } from '../limits.ts'
import type { WorkerMode } from '../workers/worker.ts'

/**
 * Which vals have something to call. A val has to be run to find out, and running one that has nothing to call is the
 * run: so the first run of a version is in an isolate of its own, and later ones where that run said.
 */
export class KnownKinds {
  readonly #isCalled = new LRUCache<string, boolean>({ max: limits.knownKindsMax })

  modeFor(head: Head): WorkerMode {
    return head.type === 'http' || this.#isCalled.get(keyOf(head)) === true ? 'warm' : 'fresh'
  }

  note(head: Head, hasDefault: boolean | null): void {
    if (hasDefault !== null) this.#isCalled.set(keyOf(head), hasDefault)
  }
}

function keyOf({ valId, version }: Head): string {
  return `${valId} ${version}`
}

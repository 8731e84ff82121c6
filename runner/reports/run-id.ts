import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const bytesEach = 16
const pool = new Uint8Array(bytesEach * 1024)
let used = pool.length

/** A UUIDv7. Random bytes are fetched for a thousand at once: one by one they would cost more than the rest of it. */
export function newRunId(): string {
  return v7({ rng: nextBytes })
}

function nextBytes(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool.subarray(used, (used += bytesEach))
}

/** When it was made, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

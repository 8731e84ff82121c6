import { readFileSync } from 'node:fs'

/**
 * A clock for a machine that is shared with others: it stands still while any of these processes is ready to run
 * but kept waiting for a core, which the kernel counts. When several wait at once, the one that waits longest counts.
 */
export function startWatch(
  pids: readonly number[],
): () => { readonly durationMs: number; readonly wallMs: number } {
  const startedAt = performance.now()
  const before = pids.map(waitedMs)
  return () => {
    const wallMs = performance.now() - startedAt
    const stolenMs = Math.max(...pids.map((pid, index) => waitedMs(pid) - (before[index] ?? 0)))
    return { wallMs, durationMs: Math.max(0, wallMs - stolenMs) }
  }
}

function waitedMs(pid: number): number {
  const [, waitedNs = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return waitedNs / 1e6
}

import { readFileSync } from 'node:fs'

const intervalMs = 50

export interface MemoryWatch extends Disposable {
  readonly beforeMiB: number
  readonly peakMiB: number
  nowMiB(): number
}

/** Follows the resident memory of another process. */
export function watchMemory(pid: number): MemoryWatch {
  const beforeMiB = residentMiB(pid)
  let peakMiB = beforeMiB
  const timer = setInterval(() => (peakMiB = Math.max(peakMiB, residentMiB(pid))), intervalMs)
  return {
    beforeMiB,
    get peakMiB() {
      return peakMiB
    },
    nowMiB: () => residentMiB(pid),
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

function residentMiB(pid: number): number {
  const [, kiB] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kiB) / 1024)
}

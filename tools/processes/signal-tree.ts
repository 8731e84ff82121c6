import { readdirSync, readFileSync } from 'node:fs'
import { signalIfThere } from './signal-if-there.ts'

/** Signals a process and those that it started, the parent first, so that no further ones are started. */
export function signalTree(pid: number, signal: NodeJS.Signals): void {
  process.kill(pid, signal)
  for (const child of childrenOf(pid)) signalIfThere(child, signal)
}

function childrenOf(parent: number): readonly number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return pids.filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | null {
  try {
    const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(parent)
  } catch {
    // It has ended meanwhile.
    return null
  }
}

import { readFile, readdir, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { leftoverKillTimeoutMs, leftoverPollMs, leftoverStopTimeoutMs } from './limits.ts'
import { signalIfThere } from './signal-if-there.ts'

/** Tells our processes from others that merely stand in the same folder, such as somebody's shell. */
export interface Program {
  name: string
  /** Absolute, without symbolic links. */
  folder: string
  commandLine: RegExp
  stopSignal: 'SIGINT' | 'SIGTERM'
}

/**
 * Ends what a killed run left behind in a folder, so that the folder can be used again. Only for whoever
 * holds the folder's lock, or made the folder. Not our children, so their end can only be polled for.
 */
export async function endLeftovers(program: Program): Promise<void> {
  if (await areGoneAfter(program, program.stopSignal, leftoverStopTimeoutMs)) return
  await killAll(program)
}

/** All of them at once, as when the machine loses its power. */
export async function killAll(program: Program): Promise<void> {
  if (await areGoneAfter(program, 'SIGKILL', leftoverKillTimeoutMs)) return
  throw new Error(`${program.name} in ${program.folder} does not end, not even by SIGKILL.`)
}

async function areGoneAfter(program: Program, signal: NodeJS.Signals, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  const signaled = new Set<number>()
  for (;;) {
    const pids = await findPids(program)
    if (pids.length === 0) return true
    if (Date.now() > deadline) return false
    for (const pid of pids.filter((pid) => !signaled.has(pid))) {
      signalIfThere(pid, signal)
      signaled.add(pid)
    }
    await sleep(leftoverPollMs)
  }
}

async function findPids(program: Program): Promise<number[]> {
  const pids = (await readdir('/proc'))
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
  const ours = await Promise.all(pids.map(async (pid) => isOurs(pid, program)))
  return pids.filter((_, index) => ours[index])
}

async function isOurs(pid: number, program: Program): Promise<boolean> {
  try {
    if ((await readlink(`/proc/${pid}/cwd`)) !== program.folder) return false
    return program.commandLine.test((await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' '))
  } catch {
    // It has ended meanwhile, or it is someone else's.
    return false
  }
}

import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { findBinary } from './find-binary.ts'

const lockedStatus = 9

/** What whoever holds the lock lets others know. */
export interface Holder {
  pid: number
  url?: string
  databaseUrl?: string
}

export interface FolderLock extends Disposable {
  tell(facts: Omit<Holder, 'pid'>): void
}

/** Takes the folder for this process, or returns who has it. */
export function lockFolder(folder: string): { lock: FolderLock } | { holder: Holder } {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, 'lock')
  const descriptor = openSync(file, 'a', 0o600)
  if (!takeLock(descriptor)) {
    closeSync(descriptor)
    return { holder: readHolder(file) }
  }
  const tell = (facts: Omit<Holder, 'pid'>) => overwrite(descriptor, { pid: process.pid, ...facts })
  tell({})
  return { lock: { tell, [Symbol.dispose]: () => closeSync(descriptor) } }
}

/**
 * The lock belongs to the open file, which we share with `flock` for a moment and keep: the kernel frees
 * it when we end, in whatever way, so that there is no such thing as a stale lock.
 */
function takeLock(descriptor: number): boolean {
  const { status } = spawnSync(
    findBinary('flock'),
    ['--nonblock', '--conflict-exit-code', String(lockedStatus), '3'],
    {
      stdio: ['ignore', 'ignore', 'inherit', descriptor],
    },
  )
  // Ctrl-C reaches flock, too; then nothing is decided yet.
  if (status === null) return takeLock(descriptor)
  if (status !== 0 && status !== lockedStatus) throw new Error(`flock failed with code ${status}.`)
  return status === 0
}

function overwrite(descriptor: number, holder: Holder): void {
  ftruncateSync(descriptor)
  writeSync(descriptor, JSON.stringify(holder))
}

function readHolder(file: string): Holder {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder
  } catch {
    // Caught between truncating and writing.
    return { pid: 0 }
  }
}

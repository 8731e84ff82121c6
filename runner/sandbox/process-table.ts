import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execFileAsync = promisify(execFile)
const psTimeoutMs = 5_000

/** Null for a process that is gone, or where nobody counts. */
export async function readResidentBytes(pid: number): Promise<number | null> {
  const kib = Number.parseInt(await askPs('rss=', pid), 10)
  return Number.isNaN(kib) ? null : kib * 1024
}

/** Ends what an earlier runner left in this folder, and removes the folder. Returns the ids. */
export async function killLeftProcesses(sandboxesFolder: string): Promise<string[]> {
  const ids = await readdir(sandboxesFolder).catch(() => [])
  for (const id of ids) await killLeftProcess(join(sandboxesFolder, id))
  await rm(sandboxesFolder, { recursive: true, force: true })
  return ids
}

async function killLeftProcess(folder: string): Promise<void> {
  const pid = Number.parseInt(await readFile(join(folder, 'pid'), 'utf8').catch(() => ''), 10)
  // The number may belong to somebody else by now; its command line tells.
  if (Number.isNaN(pid) || !(await askPs('args=', pid)).includes(folder)) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself in between.
  }
}

async function askPs(column: string, pid: number): Promise<string> {
  try {
    const { stdout } = await execFileAsync('ps', ['-ww', '-o', column, '-p', String(pid)], {
      timeout: psTimeoutMs,
    })
    return stdout.trim()
  } catch {
    return ''
  }
}

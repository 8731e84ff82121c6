import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SandboxLimits } from './sandbox-options.ts'

const root = '/sys/fs/cgroup'
const isUnified = existsSync(join(root, 'cgroup.controllers'))
const emptyTimeoutMs = 5_000
const emptyCheckMs = 5

/** When the processors are short, all sandboxes together count as one ordinary process. */
const parentShares = 1024
const parentWeight = 100

/** The parent of all of a runner's sandboxes. An operator may bound them together by its files. */
export async function makeParentCgroup(path: string): Promise<void> {
  await makeCgroup(
    path,
    isUnified ? [['', 'cpu.weight', parentWeight]] : [['cpu', 'cpu.shares', parentShares]],
  )
}

/** What an OCI runtime that knows no cgroups is put into. Returns the files to which it writes itself, to be inside. */
export async function makeBoundedCgroup(path: string, limits: SandboxLimits): Promise<string[]> {
  const quota = Math.round(limits.cpuCoresMax * 100_000)
  await makeCgroup(
    path,
    isUnified
      ? [
          ['', 'memory.max', limits.memoryBytesMax],
          ['', 'memory.swap.max', 0],
          ['', 'pids.max', limits.pidsMax],
          ['', 'cpu.max', `${quota} 100000`],
        ]
      : [
          ['memory', 'memory.limit_in_bytes', limits.memoryBytesMax],
          ['memory', 'memory.memsw.limit_in_bytes', limits.memoryBytesMax],
          ['pids', 'pids.max', limits.pidsMax],
          ['cpu', 'cpu.cfs_quota_us', quota],
        ],
  )
  const controllers = isUnified ? [''] : ['memory', 'pids', 'cpu']
  return controllers.map((controller) => join(root, controller, path, 'cgroup.procs'))
}

export async function listCgroupProcesses(path: string): Promise<number[]> {
  const file = join(root, isUnified ? '' : 'pids', path, 'cgroup.procs')
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean).map(Number)
}

/** Ends every process in it. A process id is read and used at once, so that it cannot mean somebody else. */
export async function killCgroup(path: string): Promise<void> {
  for (const pid of await listCgroupProcesses(path)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It ended by itself in between.
    }
  }
}

/** Kills until nobody is left: who is being killed may still be starting somebody. */
export async function emptyCgroup(path: string): Promise<void> {
  const deadline = performance.now() + emptyTimeoutMs
  while ((await listCgroupProcesses(path)).length > 0) {
    if (performance.now() > deadline) throw new Error(`Processes in the cgroup ${path} do not end.`)
    await killCgroup(path)
    await sleep(emptyCheckMs)
  }
}

/** The memory that would not come back by itself: what is in use without the file pages that are easily dropped. */
export async function readCgroupMemoryBytes(path: string): Promise<number | null> {
  const folder = join(root, isUnified ? '' : 'memory', path)
  try {
    const usage = await readFile(join(folder, isUnified ? 'memory.current' : 'memory.usage_in_bytes'), 'utf8')
    const droppable = await readCounter(
      join(folder, 'memory.stat'),
      isUnified ? 'inactive_file' : 'total_inactive_file',
    )
    return Math.max(0, Number(usage) - droppable)
  } catch {
    return null
  }
}

/** What all its processes and threads have used since it was made. */
export async function readCgroupCpuMs(path: string): Promise<number | null> {
  try {
    if (isUnified) return (await readCounter(join(root, path, 'cpu.stat'), 'usage_usec')) / 1_000
    return Number(await readFile(join(root, 'cpuacct', path, 'cpuacct.usage'), 'utf8')) / 1_000_000
  } catch {
    return null
  }
}

export async function hasRunOutOfMemory(path: string): Promise<boolean> {
  const file = isUnified
    ? join(root, path, 'memory.events')
    : join(root, 'memory', path, 'memory.oom_control')
  return (await readCounter(file, 'oom_kill').catch(() => 0)) > 0
}

export async function listChildCgroups(path: string): Promise<string[]> {
  const names = new Set<string>()
  for (const hierarchy of await listHierarchies()) {
    const entries = await readdir(join(hierarchy, path), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) if (entry.isDirectory()) names.add(entry.name)
  }
  return [...names]
}

/** Removes it and what is beneath it; everybody in it must be gone. */
export async function removeCgroup(path: string): Promise<void> {
  for (const child of await listChildCgroups(path)) await removeCgroup(join(path, child))
  for (const hierarchy of await listHierarchies()) {
    await rmdir(join(hierarchy, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
  }
}

type Setting = readonly [controller: string, file: string, value: number | string]

async function makeCgroup(path: string, settings: readonly Setting[]): Promise<void> {
  for (const [controller, file, value] of settings) {
    const folder = join(root, controller, path)
    await mkdir(folder, { recursive: true })
    // Kernels that do not account for swap lack the file that bounds it.
    if (/\.(swap|memsw)\./.test(file) && !existsSync(join(folder, file))) continue
    await writeFile(join(folder, file), String(value))
  }
}

async function readCounter(file: string, name: string): Promise<number> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? 0)
}

async function listHierarchies(): Promise<string[]> {
  if (isUnified) return [root]
  const entries = await readdir(root, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(root, entry.name))
}

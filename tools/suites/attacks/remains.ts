import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import path from 'node:path'

const registry = '/run/valley/runners'
const cgroupRoot = '/sys/fs/cgroup'

/** What the kernel has of one runner's sandboxes, looked at without asking the runner. */
export interface Remains {
  readonly cgroups: number
  readonly processes: number
  readonly containers: number
  readonly socketMounts: number
  readonly namespaces: number
}

/** The number by which a runner's things are named; null where sandboxes are plain processes. */
export function findRunnerNumberOrNull(stateFolder: string): number | null {
  if (!existsSync(registry)) return null
  const number = readdirSync(registry).find((name) => readlinkSync(path.join(registry, name)) === stateFolder)
  return number === undefined ? null : Number(number)
}

export function readRemains(number: number, stateFolder: string): Remains {
  const hierarchy = existsSync(path.join(cgroupRoot, 'cgroup.controllers')) ? '' : 'pids'
  const parent = path.join(cgroupRoot, hierarchy, `valley-${number}`)
  const cgroups = listFolders(parent)
  const processes = cgroups.flatMap((name) =>
    readFileSync(path.join(parent, name, 'cgroup.procs'), 'utf8')
      .split('\n')
      .filter(Boolean),
  )
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return {
    cgroups: cgroups.length,
    processes: processes.length,
    containers: countContainers(path.join(stateFolder, 'containers')),
    socketMounts: mounts.filter((line) => line.includes(` /run/valley/run-${number}/slots/`)).length,
    namespaces: readdirSync('/run/netns').filter((name) => name.startsWith(`valley-${number}-`)).length,
  }
}

/** How many workers the runner says it has, and those that it is still booting. */
export async function countWorkers(statusUrl: string): Promise<number> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^valley_workers\{state="(\w+)"\} (\d+)$/gm)]
  return counts.filter(([, state]) => state !== 'gone').reduce((sum, [, , count]) => sum + Number(count), 0)
}

/** How many workers it has ended for this cause. */
export async function countEnds(statusUrl: string, cause: string): Promise<number> {
  const text = await (await fetch(`${statusUrl}/metrics`)).text()
  const line = text.split('\n').find((line) => line.startsWith(`valley_worker_ends{cause="${cause}"} `))
  return Number(line?.split(' ')[1] ?? 0)
}

/** runc keeps a folder for each, runsc a file. */
function countContainers(folder: string): number {
  if (!existsSync(folder)) return 0
  return listFolders(folder).length + readdirSync(folder).filter((name) => name.endsWith('.state')).length
}

function listFolders(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}

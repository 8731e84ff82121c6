import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { RunnerNames } from '@valley/runner/sandbox/runner-names.ts'
import { readMetrics } from '../../vals/runner-metrics.ts'
import { findRemains, listFolders } from '../../vals/runner-remains.ts'

/** How much the kernel and the runtime have of one runner's sandboxes. */
export interface RemainsCount {
  readonly cgroups: number
  readonly processes: number
  readonly containers: number
  readonly socketMounts: number
  readonly namespaces: number
}

export function countRemains(names: RunnerNames, stateFolder: string): RemainsCount {
  const { sandboxes, processes, namespaces, mounts } = findRemains(names)
  return {
    cgroups: sandboxes.length,
    processes: processes.length,
    containers: countContainers(path.join(stateFolder, 'containers')),
    socketMounts: mounts.filter((line) => line.includes(`${names.runFolder}/slots/`)).length,
    namespaces: namespaces.length,
  }
}

/** How many workers the runner says it has, and those that it is still booting. */
export async function countWorkers(statusUrl: string): Promise<number> {
  const metrics = await readMetrics(statusUrl)
  const states = ['idle', 'loading', 'warm', 'draining', 'booting']
  return states.reduce((sum, state) => sum + (metrics.get(`valley_workers{state="${state}"}`) ?? 0), 0)
}

/** runc keeps a folder for each, runsc a file. */
function countContainers(folder: string): number {
  if (!existsSync(folder)) return 0
  return listFolders(folder).length + readdirSync(folder).filter((name) => name.endsWith('.state')).length
}

import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** What one runner has on this host outside of its own process, by kind. */
export interface RunnerRemains {
  readonly sandboxes: readonly string[]
  readonly processes: readonly string[]
  readonly namespaces: readonly string[]
  readonly interfaces: readonly string[]
  readonly tables: readonly string[]
  readonly mounts: readonly string[]
}

/** Everything that a runner makes has its number in its name; its mounts tell which it is. */
export function findRunnerNumber(folder: string): string {
  const mount = readMounts().find((line) => line.includes(` ${folder}/runner/state/rootfs `))
  const number = /\/run\/valley\/run-(\d+)\//.exec(mount ?? '')?.[1]
  if (number === undefined) throw new Error(`No runner has its state in ${folder}.`)
  return number
}

export function findRemains(number: string): RunnerRemains {
  const sandboxes = listFolders(`${cgroupRoot}/valley-${number}`)
  return {
    sandboxes,
    processes: sandboxes.flatMap((id) => readLines(`${cgroupRoot}/valley-${number}/${id}/cgroup.procs`)),
    namespaces: run('ip', 'netns', 'list').filter((line) => line.startsWith(`valley-${number}-`)),
    interfaces: run('ip', '-o', 'link').filter((line) => line.includes(` vly${number}s`)),
    tables: run('nft', 'list', 'tables').filter((line) => line.endsWith(` valley_${number}`)),
    mounts: readMounts().filter((line) => line.includes(`/run/valley/run-${number}/`)),
  }
}

/** On a host with several hierarchies each controller has its own tree; the one of processes stands for all. */
const cgroupRoot = existsSync('/sys/fs/cgroup/pids') ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup'

function readMounts(): string[] {
  return readLines('/proc/self/mountinfo')
}

function run(command: string, ...args: string[]): string[] {
  return execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean)
}

function listFolders(path: string): string[] {
  if (!existsSync(path)) return []
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

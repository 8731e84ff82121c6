import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { RunnerNames } from '@valley/runner/sandbox/runner-names.ts'

/** What one runner has on this host outside of its own process, by kind; looked at without asking the runner. */
export interface RunnerRemains {
  readonly sandboxes: readonly string[]
  readonly processes: readonly string[]
  readonly namespaces: readonly string[]
  readonly interfaces: readonly string[]
  readonly tables: readonly string[]
  readonly mounts: readonly string[]
}

export function findRemains(names: RunnerNames): RunnerRemains {
  const parent = path.join(cgroupRoot, names.cgroup)
  const sandboxes = listFolders(parent)
  return {
    sandboxes,
    processes: sandboxes.flatMap((id) => readLines(path.join(parent, id, 'cgroup.procs'))),
    namespaces: run('ip', 'netns', 'list').filter((line) => line.startsWith(names.namespacePrefix)),
    interfaces: run('ip', '-oneline', 'link').filter((line) => line.includes(` ${names.interfacePrefix}`)),
    tables: run('nft', 'list', 'tables').filter((line) => line.endsWith(` ${names.tableName}`)),
    mounts: readLines('/proc/self/mountinfo').filter((line) => line.includes(`${names.runFolder}/`)),
  }
}

/** On a host with several hierarchies each controller has its own tree; the one of processes stands for all. */
const cgroupRoot = existsSync('/sys/fs/cgroup/pids') ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup'

function run(command: string, ...args: string[]): string[] {
  return execFileSync(command, args, { encoding: 'utf8' }).split('\n').filter(Boolean)
}

export function listFolders(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

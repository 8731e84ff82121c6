import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyCgroup, listChildCgroups, removeCgroup } from './cgroups.ts'
import { removeEgress } from './egress.ts'
import { runCommand } from './run-command.ts'
import type { RunnerNames } from './runner-names.ts'
import { lockName } from './state-folder.ts'

/**
 * Removes all that goes by this runner's names and lies in its folder: at disposal its own, at opening what an
 * earlier one left. Processes first, since they hold the rest; the runtime's own records last, since they are files.
 */
export async function sweep(names: RunnerNames, folder: string): Promise<string[]> {
  const removed: string[] = []
  for (const child of await listChildCgroups(names.cgroup)) {
    await emptyCgroup(join(names.cgroup, child))
    removed.push(`sandbox ${child}`)
  }
  await removeCgroup(names.cgroup)
  removed.push(...(await removeEgress(names)))
  for (const path of [...(await listMounts(names.runFolder)), ...(await listMounts(folder))]) {
    await runCommand('umount', ['--lazy', path])
    removed.push(`mount ${path}`)
  }
  await rm(names.runFolder, { recursive: true, force: true })
  const entries = await readdir(folder).catch(() => [])
  for (const name of entries.filter((entry) => entry !== lockName)) {
    await rm(join(folder, name), { recursive: true, force: true })
  }
  return removed
}

/** Deepest first. */
async function listMounts(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')
  return lines
    .map((line) => unescapeMountPath(line.split(' ')[4] ?? ''))
    .filter((path) => path === folder || path.startsWith(`${folder}/`))
    .toReversed()
}

/** The kernel writes spaces and the like in octal. */
function unescapeMountPath(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}

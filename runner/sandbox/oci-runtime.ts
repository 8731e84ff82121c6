import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeBoundedCgroup } from './cgroups.ts'
import { runCommand } from './run-command.ts'
import { registryFolder } from './runner-number.ts'
import type { SandboxLimits } from './sandbox-options.ts'

/** What the two runtimes differ in. */
export interface OciRuntime {
  readonly program: 'runc' | 'runsc'
  readonly options: readonly string[]
  readonly takesAddresses: boolean
  /** The program and its arguments with which to start a container in its cgroup. */
  readonly wrapStart: (args: readonly string[], place: CgroupPlace) => Promise<readonly string[]>
  readonly forget: (container: DeadContainer) => Promise<void>
}

/** A container whose processes are gone. */
export interface DeadContainer {
  readonly id: string
  readonly recordsFolder: string
}

interface CgroupPlace {
  readonly cgroup: string
  readonly limits: SandboxLimits
}

export const runc: OciRuntime = {
  program: 'runc',
  options: [],
  takesAddresses: false,
  wrapStart: (args) => Promise.resolve(['runc', ...args]),
  forget: async ({ id, recordsFolder }) => {
    // Forced deletion is plain deletion where nobody lives, and does not fail where there is nothing.
    await runCommand('runc', ['--root', recordsFolder, 'delete', '--force', id])
  },
}

/** gVisor's kernel is a process beside the val and counts against the same bounds. */
const kernelMemoryBytes = 64 * 2 ** 20
const kernelPids = 192

/**
 * Debian's gVisor takes every network namespace for the host's own on kernels that show one file of /proc/sys/net in
 * all of them, and then refuses to work. So it gets a view of /proc/sys without that folder, in a mount namespace of
 * its own; what is put together for that covers a folder of ours that it has no use for.
 */
const hideNetworkSettings = `
staging=${registryFolder}
mount -t tmpfs -o size=16k valley $staging
mkdir $staging/fs $staging/kernel $staging/vm
for part in fs kernel vm; do mount --bind /proc/sys/$part $staging/$part; done
mount --rbind $staging /proc/sys`

/** Its own handling of cgroups expects hosts of one kind; so it enters one that is ready, as a whole. */
export const runsc: OciRuntime = {
  program: 'runsc',
  options: ['--ignore-cgroups', '--platform=systrap', '--network=sandbox', '--host-uds=all'],
  takesAddresses: true,
  wrapStart: async (args, { cgroup, limits }) => {
    const files = await makeBoundedCgroup(cgroup, {
      ...limits,
      memoryBytesMax: limits.memoryBytesMax + kernelMemoryBytes,
      pidsMax: limits.pidsMax + kernelPids,
    })
    const enter = files.map((file) => `echo 0 > '${file}'`).join('\n')
    const script = `set -e\n${hideNetworkSettings}\n${enter}\nexec runsc "$@"`
    return ['unshare', '--mount', '/bin/sh', '-c', script, 'sh', ...args]
  },
  // Its own deletion waits more than a second for processes that are gone. All that it has otherwise is these files.
  forget: async ({ id, recordsFolder }) => {
    const names = await readdir(recordsFolder).catch(() => [])
    for (const name of names.filter((file) => file.startsWith(`${id}_`))) {
      await rm(join(recordsFolder, name), { recursive: true, force: true })
    }
  },
}

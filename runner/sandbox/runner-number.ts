import { mkdir, readdir, readlink, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SandboxError } from './sandbox-error.ts'
import { isFolderLocked, lockStateFolder } from './state-folder.ts'

export const runnersMax = 32

export const registryFolder = '/run/valley/runners'

const lockTimeoutMs = 10_000
const lockRetryMs = 20

/**
 * Runners on one host share its interface names, firewall tables, subnets, cgroups and user ids. Each takes a number,
 * and all of those names follow from it. A number belongs to a state folder, so that a runner that comes back after
 * kill -9 has the same one and knows what was its own; a number whose folder is gone belongs to nobody. When all are
 * taken, that of a runner that does not run is taken over.
 */
export async function claimRunnerNumber(
  folder: string,
  isUsable: (number: number) => boolean,
): Promise<number> {
  await mkdir(registryFolder, { recursive: true, mode: 0o755 })
  const lock = await lockRegistry()
  try {
    return await takeNumber(folder, isUsable)
  } finally {
    await lock[Symbol.asyncDispose]()
  }
}

async function takeNumber(folder: string, isUsable: (number: number) => boolean): Promise<number> {
  const own = await findOwnNumberOrNull(folder)
  if (own !== null) return own
  for (const isFree of [isAbandoned, isUnlocked]) {
    for (let number = 0; number < runnersMax; number += 1) {
      if (!isUsable(number) || !(await isFree(number))) continue
      await releaseRunnerNumber(number)
      await symlink(folder, join(registryFolder, String(number)))
      return number
    }
  }
  throw new SandboxError(
    `No free number below ${runnersMax} is left in ${registryFolder}; remove the entries of runners that no longer exist.`,
  )
}

export async function releaseRunnerNumber(number: number): Promise<void> {
  await rm(join(registryFolder, String(number)), { force: true })
}

/** Runners that open at the same moment look one after the other. */
async function lockRegistry(): Promise<AsyncDisposable> {
  const deadline = performance.now() + lockTimeoutMs
  for (;;) {
    try {
      return await lockStateFolder(registryFolder)
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(lockRetryMs)
    }
  }
}

async function findOwnNumberOrNull(folder: string): Promise<number | null> {
  for (const name of (await readdir(registryFolder)).filter((entry) => /^\d+$/.test(entry))) {
    if ((await readlink(join(registryFolder, name)).catch(() => null)) === folder) return Number(name)
  }
  return null
}

/** Nobody has it, or whose folder it is has deleted that. */
async function isAbandoned(number: number): Promise<boolean> {
  return stat(join(registryFolder, String(number))).then(
    () => false,
    () => true,
  )
}

async function isUnlocked(number: number): Promise<boolean> {
  return !(await isFolderLocked(join(registryFolder, String(number))))
}

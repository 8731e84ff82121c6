import { chmod, chown, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { connectNamespace, type Egress, makeNamespace } from './egress.ts'
import { runCommand } from './run-command.ts'
import { nameSlot, type SlotNames, slotsMax } from './runner-names.ts'

/** A socket takes no space but a name; a val that writes here against all rules fills no more than this. */
const socketFolderOptions = 'size=64k,nr_inodes=16,nosuid,nodev,noexec,nosymfollow,mode=0700'

/** A place for one sandbox at a time, with all that is slow to make: network namespace, cable, user ids, mounts. */
export interface Slot {
  readonly number: number
  readonly names: SlotNames
  readonly socketFolder: string
  readonly valFolder: string
  readonly bundleFolder: string
}

export interface Slots {
  readonly take: () => Promise<Slot>
  readonly giveBack: (slot: Slot) => Promise<void>
}

export interface SlotSettings {
  /** For what is the runner's alone. */
  readonly folder: string
  readonly egress: Egress
  /** gVisor takes the addresses off the cable for itself, so they are put back before the next sandbox. */
  readonly runtimeTakesAddresses: boolean
}

/** Slots are made when there is none free, and kept. The lowest free number first, so that few are ever made. */
export function openSlots(settings: SlotSettings): Slots {
  const free: Slot[] = []
  const numbers: number[] = []
  let made = 0
  return {
    take: async () => {
      const slot = free.pop()
      if (slot) return slot
      if (numbers.length === 0 && made >= slotsMax)
        throw new Error(`More than ${slotsMax} sandboxes at once.`)
      const number = numbers.pop() ?? made++
      try {
        return await makeSlot(settings, number)
      } catch (error) {
        await unmakeSlot(settings, number)
        numbers.push(number)
        throw error
      }
    },
    giveBack: async (slot) => {
      for (const folder of [slot.socketFolder, slot.valFolder]) await emptyFolder(folder)
      if (settings.runtimeTakesAddresses) await connectNamespace(settings.egress, slot.names)
      free.push(slot)
    },
  }
}

async function makeSlot({ folder, egress }: SlotSettings, number: number): Promise<Slot> {
  const names = nameSlot(egress.names, number)
  const shared = join(egress.names.runFolder, 'slots', String(number))
  const slot: Slot = {
    number,
    names,
    socketFolder: join(shared, 'sock'),
    valFolder: join(shared, 'val'),
    bundleFolder: join(folder, 'bundles', String(number)),
  }
  for (const path of [slot.socketFolder, slot.valFolder, slot.bundleFolder]) {
    await mkdir(path, { recursive: true, mode: 0o755 })
  }
  // A val's code may be private: of the host's users, this one alone may look.
  await chmod(slot.valFolder, 0o700)
  await chown(slot.valFolder, names.userId, names.userId)
  await Promise.all([mountSocketFolder(slot), makeNamespace(egress, names)])
  return slot
}

/** Whatever of it there is: a slot that could not be made whole must not be in the way of the next try. */
async function unmakeSlot({ egress }: SlotSettings, number: number): Promise<void> {
  const { namespaceName, interfaceName } = nameSlot(egress.names, number)
  const socketFolder = join(egress.names.runFolder, 'slots', String(number), 'sock')
  await runCommand('ip', ['netns', 'delete', namespaceName]).catch(() => undefined)
  await runCommand('ip', ['link', 'delete', interfaceName]).catch(() => undefined)
  await runCommand('umount', ['--lazy', socketFolder]).catch(() => undefined)
}

/**
 * The runner reaches into this folder by name, as root. Links in it are not followed, whoever made them, so no name
 * in it can lead the runner to a socket of somebody else.
 */
async function mountSocketFolder({ socketFolder, names }: Slot): Promise<void> {
  const owner = `uid=${names.userId},gid=${names.userId}`
  await runCommand('mount', ['-t', 'tmpfs', '-o', `${socketFolderOptions},${owner}`, 'valley', socketFolder])
}

async function emptyFolder(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}

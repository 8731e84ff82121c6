import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import { runCommand } from '../processes/run-command.ts'

const chunk = Buffer.alloc(64 * 1024)

export interface SmallDisk extends AsyncDisposable {
  /** Leaves no room at all. */
  fill(): Promise<void>
  free(): Promise<void>
}

/** Mounts a disk of its own on a folder, so small that it can be filled. Needs root. */
export async function openSmallDisk(folder: string, bytesMax: number): Promise<SmallDisk> {
  await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${bytesMax}`, 'valley', folder])
  const ballast = path.join(folder, 'ballast')
  return {
    fill: async () => fill(ballast),
    free: async () => rm(ballast, { force: true }),
    [Symbol.asyncDispose]: async () => {
      await runCommand('umount', ['--lazy', folder])
    },
  }
}

async function fill(file: string): Promise<void> {
  await using handle = await open(file, 'a')
  try {
    for (;;) await handle.write(chunk)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  }
}

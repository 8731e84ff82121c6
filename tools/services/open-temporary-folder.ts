import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string
}

/** A folder for services that is gone with its user. */
export async function openTemporaryFolder(): Promise<TemporaryFolder> {
  const folder = await mkdtemp(path.join(tmpdir(), 'valley-'))
  // PostgreSQL's own user must be able to pass through it when we are root.
  await chmod(folder, 0o711)
  return { path: folder, [Symbol.asyncDispose]: async () => removeFolder(folder) }
}

async function removeFolder(folder: string): Promise<void> {
  const data = await realpath(path.join(folder, 'postgres')).catch(() => null)
  // They may be behind a link, see data-folder.ts.
  if (data !== null) await Promise.all([data, `${data}.password`].map(removeAll))
  await removeAll(folder)
}

async function removeAll(file: string): Promise<void> {
  await rm(file, { recursive: true, force: true })
}

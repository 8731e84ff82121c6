import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import { PlainError } from './plain-error.ts'

/** Debian keeps daemons in sbin, which is not on the PATH of an ordinary user. */
const systemFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin']

const packages: Record<string, string> = {
  'nats-server': 'nats-server',
  setpriv: 'util-linux',
  flock: 'util-linux',
  nsenter: 'util-linux',
}

export function findBinary(name: string): string {
  const file = findBinaryOrNull(name)
  if (file !== null) return file
  throw new PlainError(
    `${name} is not installed. On Debian: apt-get install ${packages[name] ?? 'postgresql nats-server'}`,
  )
}

export function findBinaryOrNull(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(path.delimiter), ...systemFolders]
  return folders.map((folder) => path.join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

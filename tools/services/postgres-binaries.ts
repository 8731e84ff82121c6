import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { findBinaryOrNull } from '../processes/find-binary.ts'
import { PlainError } from '../processes/plain-error.ts'

const debianFolder = '/usr/lib/postgresql'
const versionMin = 15

/**
 * Debian keeps every version in a folder of its own, off the PATH. Files are opened by the version that
 * made them, new ones are made by the newest.
 */
export function findPostgresBinary(name: 'initdb' | 'postgres' | 'psql', data?: string): string {
  const installed = debianVersions()
  const version = installed.find((version) => version === versionOf(data)) ?? installed[0]
  if (version !== undefined) return path.join(debianFolder, String(version), 'bin', name)
  const file = findBinaryOrNull(name)
  if (file !== null) return file
  throw new PlainError(
    `PostgreSQL ${versionMin} or newer is not installed. On Debian: apt-get install postgresql nats-server`,
  )
}

function debianVersions(): number[] {
  try {
    const versions = readdirSync(debianFolder).map(Number)
    return versions.filter((version) => version >= versionMin).toSorted((a, b) => b - a)
  } catch {
    return []
  }
}

function versionOf(data: string | undefined): number | null {
  try {
    return data === undefined ? null : Number(readFileSync(path.join(data, 'PG_VERSION'), 'utf8'))
  } catch {
    return null
  }
}

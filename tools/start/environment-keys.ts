import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { newKeyText } from '@valley/server/env/keys.ts'

/** The keys that variables are encrypted with: the operator's, or else one that is made once and kept in the folder. */
export async function ensureEnvironmentKeys(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const known = await findEnvironmentKeysOrNull(folder, env)
  if (known !== null) return known
  const made = newKeyText('first')
  // On the disk before anything is encrypted with it: whatever a lost key sealed is lost.
  await writeFile(fileIn(folder), `${made}\n`, { mode: 0o600, flag: 'wx', flush: true })
  return made
}

export async function findEnvironmentKeysOrNull(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  if (env['ENVIRONMENT_KEYS']) return env['ENVIRONMENT_KEYS']
  try {
    return (await readFile(fileIn(folder), 'utf8')).trim()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function fileIn(folder: string): string {
  return path.join(folder, 'environment-keys')
}

import { randomBytes } from 'node:crypto'
import { chown, readFile, rename, rm, stat, writeFile, mkdir } from 'node:fs/promises'
import type { Account } from '../processes/account.ts'
import { runCommand } from '../processes/run-command.ts'
import { postgresInitTimeoutMs } from './limits.ts'
import { findPostgresBinary } from './postgres-binaries.ts'

export const superuser = 'valley'
export const database = 'valley'

export interface ClusterOptions {
  data: string
  account: Account | null
  /** Whether to wait until the disk has them. */
  sync: boolean
  signal?: AbortSignal | undefined
}

/**
 * Makes the files of a new PostgreSQL where there are none yet, and returns its password. They are made
 * aside and moved into place when complete, so that an interrupted first start leaves nothing half done.
 */
export async function createCluster({ data, account, sync, signal }: ClusterOptions): Promise<string> {
  const passwordFile = `${data}.password`
  if (await exists(data)) return readFile(passwordFile, 'utf8')
  const fresh = `${data}.new`
  const password = await writePassword(passwordFile, account)
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { mode: 0o700 })
  if (account) await chown(fresh, account.uid, account.gid)

  const how = { account, signal, timeoutMs: postgresInitTimeoutMs, env: { PATH: process.env['PATH'] } }
  const initArgs = [...initOptions(passwordFile), ...(sync ? [] : ['--no-sync'])]
  await runCommand(findPostgresBinary('initdb'), ['-D', fresh, ...initArgs], how)
  const input = `CREATE DATABASE ${database}`
  const singleArgs = ['--single', '-D', fresh, '-c', `fsync=${sync ? 'on' : 'off'}`, 'postgres']
  await runCommand(findPostgresBinary('postgres'), singleArgs, { ...how, input })
  await rename(fresh, data)
  return password
}

/** Readable by whom PostgreSQL runs as, because initdb reads it from there. */
async function writePassword(file: string, account: Account | null): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  await rm(file, { force: true })
  await writeFile(file, password, { mode: 0o600, flag: 'wx' })
  if (account) await chown(file, account.uid, account.gid)
  return password
}

function initOptions(passwordFile: string): string[] {
  return [
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  )
}

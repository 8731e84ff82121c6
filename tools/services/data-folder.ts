import { createHash } from 'node:crypto'
import { lstat, mkdir, readlink, realpath, rename, symlink } from 'node:fs/promises'
import path from 'node:path'
import type { Account } from '../processes/account.ts'
import { PlainError } from '../processes/plain-error.ts'
import { runCommand } from '../processes/run-command.ts'

const elsewhere = '/var/lib/valley'

/**
 * Where PostgreSQL's files really are. As root we run it as someone else, who may not be able to enter the
 * wanted folder (a clone under root's home, say): then they live elsewhere, behind a symbolic link.
 */
export async function placeDataFolder(wanted: string, account: Account | null): Promise<string> {
  const parent = await realpath(path.dirname(wanted))
  const here = path.join(parent, path.basename(wanted))
  const there = path.join(elsewhere, createHash('sha256').update(here).digest('hex').slice(0, 12))
  const target = await readLinkOrNull(here)
  if (target === there) return there
  if (target !== null) throw new PlainError(explainForeignLink(here, target))
  if (account === null || (await canEnter(parent, account))) return here
  await mkdir(elsewhere, { recursive: true, mode: 0o755 })
  await setAside(there)
  await symlink(there, here)
  console.error(`PostgreSQL's files are in ${there}: its user cannot enter ${parent}.`)
  return there
}

async function readLinkOrNull(file: string): Promise<string | null> {
  const stats = await lstat(file).catch(() => null)
  return stats?.isSymbolicLink() ? readlink(file) : null
}

/** Two folders must never run one set of files; a copied or moved folder is for its owner to sort out. */
function explainForeignLink(here: string, target: string): string {
  return `${here} points to ${target}, which was made for another folder. Remove the link to start empty.`
}

/** Whoever removed the link wants to start anew; what it led to is theirs to remove, too. */
async function setAside(there: string): Promise<void> {
  const aside = `${there}.${Date.now()}`
  const moved = await rename(there, aside).then(
    () => true,
    () => false,
  )
  if (!moved) return
  await rename(`${there}.password`, `${aside}.password`)
  console.error(`The files that were there before are kept in ${aside}.`)
}

/** The kernel knows best: modes, groups, access lists and mounts all have a say. */
async function canEnter(folder: string, account: Account): Promise<boolean> {
  return runCommand('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { account }).then(
    () => true,
    () => false,
  )
}

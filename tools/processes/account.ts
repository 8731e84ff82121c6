import { readFile } from 'node:fs/promises'
import { PlainError } from './plain-error.ts'

export interface Account {
  uid: number
  gid: number
}

/** PostgreSQL refuses to run as root; everyone else runs it as who they are. */
export async function findUnprivilegedAccountOrNull(): Promise<Account | null> {
  if (process.getuid?.() !== 0) return null
  const passwd = await readFile('/etc/passwd', 'utf8')
  const account = findAccountOrNull(passwd, 'postgres') ?? findAccountOrNull(passwd, 'nobody')
  if (account === null)
    throw new PlainError('PostgreSQL cannot run as root, and there is no user postgres or nobody.')
  return account
}

function findAccountOrNull(passwd: string, name: string): Account | null {
  const fields = passwd
    .split('\n')
    .map((line) => line.split(':'))
    .find(([username]) => username === name)
  return fields ? { uid: Number(fields[2]), gid: Number(fields[3]) } : null
}

import { type Fault, unavailable } from '../fault.ts'

/** SQLSTATE classes and codes that pass by themselves: the database is away, starting, full or overtaxed. */
const passing = /^(08|53|57P0|57014|55P03|40001|40P01|25P03|25P02)/

/** What pg says, without a SQLSTATE, when a connection is lost or cannot be had in time. */
const lostConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|read ECONNRESET|write EPIPE)/

const networkErrors = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
])

/** A fault for an error of the database that will pass; null for one that is our own mistake. */
export function passingDatabaseFault(error: unknown): Fault | null {
  if (!(error instanceof Error)) return null
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const passes = passing.test(code) || networkErrors.has(code) || lostConnection.test(error.message)
  if (!passes && !lostItsCode(error)) return null
  return unavailable('The database does not answer right now. Try again in a moment.', error)
}

export function isUniqueViolation(error: unknown, index: string): boolean {
  return violates(error, { code: '23505', constraint: index })
}

/** Another transaction held what this one needed for longer than lockTimeoutMs. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/** A save met upkeep deleting the same text, which nobody had until then. The next attempt stores it anew. */
function lostItsCode(error: Error): boolean {
  return violates(error, { code: '23503', constraint: 'versions_code_hash_fkey' })
}

function violates(error: unknown, { code, constraint }: { code: string; constraint: string }): boolean {
  if (!(error instanceof Error) || !('code' in error) || !('constraint' in error)) return false
  return error.code === code && error.constraint === constraint
}

/** SQLSTATE classes of what a row itself is to blame for: its values, its partition, its size. */
export function isAboutData(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(22|23|54)/.test(String(error.code))
}

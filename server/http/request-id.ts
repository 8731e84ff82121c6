import { randomBytes } from 'node:crypto'
import { limits } from '../limits.ts'

const acceptable = new RegExp(`^[A-Za-z0-9_.-]{8,${limits.requestIdCharsMax}}$`)
const processPart = randomBytes(6).toString('hex')
let count = 0

/** The caller's own X-Request-Id where it is well-formed, so that traces join; otherwise a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  if (typeof header === 'string' && acceptable.test(header)) return header
  count = (count + 1) % Number.MAX_SAFE_INTEGER
  return `${processPart}-${count.toString(36).padStart(4, '0')}`
}

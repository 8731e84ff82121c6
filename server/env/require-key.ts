import { Fault } from '../fault.ts'
import type { EnvironmentKey, EnvironmentKeys } from './keys.ts'

/** The key to seal with. Where there is none, it is nothing that the caller could mend, nor that passes by itself. */
export function requireKey([key]: EnvironmentKeys, what: string): EnvironmentKey {
  if (key) return key
  throw new Fault(
    'unavailable',
    `This service cannot keep ${what} until its operator sets ENVIRONMENT_KEYS. Ask them to.`,
    { headers: { 'x-should-retry': 'false' } },
  )
}

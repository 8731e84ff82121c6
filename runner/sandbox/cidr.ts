import { isIP } from 'node:net'
import { SandboxError } from './sandbox-error.ts'

export interface Ranges {
  readonly ipv4: readonly string[]
  readonly ipv6: readonly string[]
}

/** Refuses what is not an address or CIDR, so that nothing else can get into a rule set. */
export function sortByFamily(ranges: readonly string[]): Ranges {
  for (const range of ranges) refuseBadRange(range)
  return {
    ipv4: ranges.filter((range) => !range.includes(':')),
    ipv6: ranges.filter((range) => range.includes(':')),
  }
}

function refuseBadRange(range: string): void {
  const [address = '', bits, ...more] = range.split('/')
  const family = isIP(address)
  const bitsMax = family === 4 ? 32 : 128
  const bitsFit = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax)
  if (family === 0 || address.includes('%') || !bitsFit || more.length > 0) {
    throw new SandboxError(`${range} is not an address or CIDR, such as 203.0.113.0/24 or 2001:db8::/32.`)
  }
}

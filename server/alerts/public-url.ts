import { BlockList, isIP } from 'node:net'
import { nonPublicRanges } from '@valley/contract/non-public-ranges.ts'
import { Fault } from '../fault.ts'

/**
 * Refuses an address that can only be a mistake, so that its owner is told now. It keeps nobody out: a name may lead
 * anywhere, and it is the network of the sandbox that does not let a delivery get there.
 */
export function requirePublicUrl(url: string): void {
  const hostname = new URL(url).hostname.replaceAll(/^\[|\]$/g, '')
  if (!isLocalName(hostname) && !isNonPublicAddress(hostname)) return
  const message = `must be on the public internet, which ${hostname} is not`
  throw new Fault('invalid_request', `The url ${message}.`, { issues: [{ path: 'body.url', message }] })
}

function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname)
}

/** Each family by itself: a list of both would take every IPv4 address for one in IPv6 notation. */
const nonPublic = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const range of nonPublicRanges) {
  const [address = '', bits = ''] = range.split('/')
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  nonPublic[family].addSubnet(address, Number(bits), family)
}

function isNonPublicAddress(hostname: string): boolean {
  const version = isIP(hostname)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return nonPublic[family].check(hostname, family)
}

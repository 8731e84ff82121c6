import { readFile } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { isIP } from 'node:net'
import { runCommand } from './run-command.ts'
import { SandboxError } from './sandbox-error.ts'

/** The C library asks no more than three, so neither does anybody in a sandbox. */
const resolversMax = 3

export function readHostAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) =>
    addresses.map(({ address }) => address.replace(/%.*$/, '')),
  )
}

/** Destinations of the host's routes, other than the default one and those to interfaces with this prefix. */
export async function readRoutedRanges(exceptPrefix: string): Promise<string[]> {
  const routes = JSON.parse(await runCommand('ip', ['-json', '-4', 'route', 'show'])) as {
    dst: string
    dev?: string
  }[]
  return routes
    .filter(({ dst, dev }) => isIP(dst.split('/')[0] ?? '') === 4 && dev?.startsWith(exceptPrefix) !== true)
    .map(({ dst }) => dst)
}

/**
 * Whether sandboxes get IPv6: only where the host has a public address, a way out, and already forwards. Valley does
 * not turn forwarding on by itself, because Linux then stops listening to the router that gave the host its route.
 */
export async function hostForwardsIpv6(): Promise<boolean> {
  const forwarding = await readFile('/proc/sys/net/ipv6/conf/all/forwarding', 'utf8').catch(() => '0')
  if (forwarding.trim() !== '1') return false
  const hasPublicAddress = readHostAddresses().some((address) => /^[23][0-9a-f]{3}:/i.test(address))
  if (!hasPublicAddress) return false
  const routes = JSON.parse(await runCommand('ip', ['-json', '-6', 'route', 'show', 'default'])) as unknown[]
  return routes.length > 0
}

/** The DNS servers of this host, as far as somebody in another network namespace can ask them. */
export async function readHostResolvers(): Promise<string[]> {
  // With systemd-resolved the first file names a resolver on loopback, and the second those that it asks itself.
  for (const file of ['/etc/resolv.conf', '/run/systemd/resolve/resolv.conf']) {
    const resolvers = parseResolvers(await readFile(file, 'utf8').catch(() => ''))
    if (resolvers.length > 0) return resolvers
  }
  throw new SandboxError(
    'No DNS server was found that sandboxes can reach (a resolver on loopback is out of their reach); name one in EGRESS_RESOLVERS.',
  )
}

export function parseResolvers(text: string): string[] {
  return text
    .split('\n')
    .map((line) => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
    .filter((address) => isIP(address) !== 0 && !/^127\.|^::1$|^fe80:/i.test(address))
    .slice(0, resolversMax)
}

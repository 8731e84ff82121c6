import { nonPublicRanges as allNonPublicRanges } from '@valley/contract/non-public-ranges.ts'
import { sortByFamily, type Ranges } from './cidr.ts'

/** All that is not the public internet, as the rules take it. */
export const nonPublicRanges: Ranges = sortByFamily(allNonPublicRanges)

export const smtpPort = 25

export interface EgressRules {
  readonly denied: Ranges
  readonly resolvers: Ranges
}

/**
 * Rules inside a sandbox's own network namespace; they stand even if somebody flushes the host's. Nobody in there can
 * send a reset or ICMP by itself: they are the kernel's own, which says that a packet was refused and looks for its
 * neighbour on the cable.
 */
export function buildNamespaceRules({ denied, resolvers }: EgressRules): string {
  return `table inet egress {
${buildSets({ denied, resolvers })}
${refuseChain}
  chain out {
    type filter hook output priority 0; policy accept;
    tcp flags & rst == rst accept
    icmp type destination-unreachable accept
    icmpv6 type { destination-unreachable, nd-neighbor-solicit, nd-neighbor-advert } accept
${buildDestinationRules('    ')}
  }
}
`
}

export interface HostRules extends EgressRules {
  readonly tableName: string
  /** All interfaces of sandboxes begin with it. */
  readonly interfacePrefix: string
  readonly subnets: Ranges
  readonly bounds: EgressBounds
}

/** What one sandbox may send at the most. */
export interface EgressBounds {
  readonly connectionsMax: number
  readonly connectionsPerSecondMax: number
  readonly datagramsPerSecondMax: number
}

/**
 * Rules on the host's end of every sandbox's cable. They hold for what did not pass the rules inside, such as the
 * packets that gVisor writes to the wire itself. Nothing may come from a sandbox to the host but questions to a
 * resolver that runs there, nothing may go to a sandbox but answers, and a sandbox sends as itself only.
 */
export function buildHostRules(rules: HostRules): string {
  const { tableName, interfacePrefix, subnets, bounds } = rules
  const fromSandbox = `iifname "${interfacePrefix}*"`
  const toSandbox = `oifname "${interfacePrefix}*"`
  return `table inet ${tableName} {
${buildSets(rules)}
${refuseChain}
  set connections { type ifname; size 65536; flags dynamic; }
  set newcomers { type ifname; size 65536; flags dynamic,timeout; timeout 10s; }
  set datagrams { type ifname; size 65536; flags dynamic,timeout; timeout 10s; }
  chain input {
    type filter hook input priority -10; policy accept;
    ${fromSandbox} jump from_sandbox_to_host
  }
  chain from_sandbox_to_host {
    icmpv6 type { nd-neighbor-solicit, nd-neighbor-advert } accept
    ip daddr @resolvers4 meta l4proto { tcp, udp } th dport 53 accept
    ip6 daddr @resolvers6 meta l4proto { tcp, udp } th dport 53 accept
    goto refuse
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    ${fromSandbox} jump from_sandbox
    ${toSandbox} ct state established,related accept
    ${toSandbox} drop
  }
  chain from_sandbox {
    fib saddr . iif oif missing drop
    tcp flags syn tcp option maxseg size set rt mtu
    meta l4proto udp update @datagrams { iifname limit rate over ${bounds.datagramsPerSecondMax}/second burst ${bounds.datagramsPerSecondMax} packets } drop
${buildDestinationRules('    ')}
    fib daddr type { local, broadcast, multicast, anycast } goto refuse
    ${toSandbox} goto refuse
    ct state established,related accept
    ct state new update @newcomers { iifname limit rate over ${bounds.connectionsPerSecondMax}/second burst ${bounds.connectionsPerSecondMax} packets } goto refuse
    ct state new add @connections { iifname ct count over ${bounds.connectionsMax} } goto refuse
    accept
  }
  chain source {
    type nat hook postrouting priority srcnat; policy accept;
${subnets.ipv4.map((subnet) => `    ip saddr ${subnet} masquerade\n`).join('')}\
${subnets.ipv6.map((subnet) => `    ip6 saddr ${subnet} masquerade\n`).join('')}\
  }
}
`
}

function buildSets({ denied, resolvers }: EgressRules): string {
  return [
    buildSet('denied4', 'ipv4_addr', [...nonPublicRanges.ipv4, ...denied.ipv4]),
    buildSet('denied6', 'ipv6_addr', [...nonPublicRanges.ipv6, ...denied.ipv6]),
    buildSet('resolvers4', 'ipv4_addr', resolvers.ipv4),
    buildSet('resolvers6', 'ipv6_addr', resolvers.ipv6),
  ].join('\n')
}

function buildSet(name: string, type: string, ranges: readonly string[]): string {
  const elements = ranges.length > 0 ? ` elements = { ${ranges.join(', ')} }` : ''
  return `  set ${name} { type ${type}; flags interval; auto-merge;${elements} }`
}

/**
 * Refused at once rather than dropped, so that a val's call fails now and not after a timeout. TCP by a reset, since
 * the kernel sends only so many ICMP messages a second.
 */
const refuseChain = `  chain refuse {
    meta l4proto tcp reject with tcp reset
    reject
  }`

function buildDestinationRules(indent: string): string {
  return [
    'ip daddr @resolvers4 meta l4proto { tcp, udp } th dport 53 accept',
    'ip6 daddr @resolvers6 meta l4proto { tcp, udp } th dport 53 accept',
    'ip daddr @denied4 goto refuse',
    'ip6 daddr @denied6 goto refuse',
    `tcp dport ${smtpPort} goto refuse`,
  ]
    .map((rule) => `${indent}${rule}`)
    .join('\n')
}

import { readFile, writeFile } from 'node:fs/promises'
import { sortByFamily } from './cidr.ts'
import { buildHostRules, buildNamespaceRules, type EgressBounds, type EgressRules } from './egress-rules.ts'
import { hostForwardsIpv6, readHostAddresses, readHostResolvers } from './host-network.ts'
import { runCommand } from './run-command.ts'
import type { RunnerNames, SlotNames } from './runner-names.ts'
import type { SandboxObservations } from './sandbox-observations.ts'
import type { EgressOptions } from './sandbox-options.ts'

const bounds: EgressBounds = {
  connectionsMax: 256,
  connectionsPerSecondMax: 100,
  datagramsPerSecondMax: 2_000,
}

export interface Egress {
  readonly names: RunnerNames
  readonly resolvers: readonly string[]
  readonly hasIpv6: boolean
  readonly namespaceRules: string
}

/** Loads the host's rules before the first sandbox has a cable. */
export async function openEgress(
  names: RunnerNames,
  options: EgressOptions,
  observe: SandboxObservations,
): Promise<Egress> {
  const hasIpv6 = await hostForwardsIpv6()
  const found = options.resolvers.length > 0 ? options.resolvers : await readHostResolvers()
  const resolvers = found.filter((address) => hasIpv6 || !address.includes(':'))
  const rules: EgressRules = {
    denied: sortByFamily([...readHostAddresses(), ...options.denied]),
    resolvers: sortByFamily(resolvers),
  }
  await enableForwarding(observe)
  await removeHostRules(names)
  const hostRules = buildHostRules({
    ...rules,
    tableName: names.tableName,
    interfacePrefix: names.interfacePrefix,
    subnets: { ipv4: [names.subnetIpv4], ipv6: hasIpv6 ? [names.subnetIpv6] : [] },
    bounds,
  })
  await runCommand('nft', ['-f', '-'], { input: hostRules })
  return { names, resolvers, hasIpv6, namespaceRules: buildNamespaceRules(rules) }
}

/** A network namespace with one cable to the host. The rules are in it before the cable can carry anything. */
export async function makeNamespace(
  { names, hasIpv6, namespaceRules }: Egress,
  slot: SlotNames,
): Promise<void> {
  const { interfaceName, namespaceName, namespacePath } = slot
  await runCommand('ip', ['-batch', '-'], {
    input: [
      `netns add ${namespaceName}`,
      `link add ${interfaceName} type veth peer name eth0 netns ${namespaceName}`,
      `link set ${interfaceName} addrgenmode none`,
      `addr add ${names.gatewayIpv4}/32 dev ${interfaceName}`,
      ...(hasIpv6 ? [`addr add ${names.gatewayIpv6}/128 dev ${interfaceName} nodad`] : []),
      '',
    ].join('\n'),
  })
  await runCommand('nsenter', [`--net=${namespacePath}`, 'nft', '-f', '-'], { input: namespaceRules })
  await runCommand('ip', ['-batch', '-'], {
    input: [
      `link set ${interfaceName} up`,
      `route add ${slot.addressIpv4}/32 dev ${interfaceName}`,
      ...(hasIpv6 ? [`route add ${slot.addressIpv6}/128 dev ${interfaceName}`] : []),
      '',
    ].join('\n'),
  })
  await connectNamespace({ names, hasIpv6 }, slot)
}

/** Loopback has to be up for the kernel to tell a val that it was refused; the rules refuse all else on it. */
export async function connectNamespace(
  { names, hasIpv6 }: Pick<Egress, 'names' | 'hasIpv6'>,
  slot: SlotNames,
): Promise<void> {
  await runCommand('ip', ['-n', slot.namespaceName, '-batch', '-'], {
    input: [
      'link set lo up',
      'link set eth0 addrgenmode none',
      `addr replace ${slot.addressIpv4}/32 dev eth0`,
      ...(hasIpv6 ? [`addr replace ${slot.addressIpv6}/128 dev eth0 nodad`] : []),
      'link set eth0 up',
      `route replace ${names.gatewayIpv4} dev eth0 scope link`,
      `route replace default via ${names.gatewayIpv4}`,
      ...(hasIpv6
        ? [`route replace ${names.gatewayIpv6} dev eth0`, `route replace default via ${names.gatewayIpv6}`]
        : []),
      '',
    ].join('\n'),
  })
}

/** Removes all namespaces, cables and rules under the runner's names, whoever made them. Returns what there was. */
export async function removeEgress(names: RunnerNames): Promise<string[]> {
  const removed: string[] = []
  for (const name of await listNamespaces(names)) {
    await runCommand('ip', ['netns', 'delete', name])
    removed.push(`namespace ${name}`)
  }
  // The cable goes with its namespace, but only once the kernel has come round to it.
  for (const name of await listInterfaces(names))
    await runCommand('ip', ['link', 'delete', name]).catch(() => {})
  if (await removeHostRules(names)) removed.push(`table ${names.tableName}`)
  return removed
}

async function listNamespaces({ namespacePrefix }: RunnerNames): Promise<string[]> {
  const lines = (await runCommand('ip', ['netns', 'list'])).split('\n')
  return lines.map((line) => line.split(' ')[0] ?? '').filter((name) => name.startsWith(namespacePrefix))
}

async function listInterfaces({ interfacePrefix }: RunnerNames): Promise<string[]> {
  const links = JSON.parse(await runCommand('ip', ['-json', 'link', 'show'])) as { ifname: string }[]
  return links.map(({ ifname }) => ifname).filter((name) => name.startsWith(interfacePrefix))
}

async function removeHostRules({ tableName }: RunnerNames): Promise<boolean> {
  try {
    await runCommand('nft', ['delete', 'table', 'inet', tableName])
    return true
  } catch {
    return false
  }
}

async function enableForwarding(observe: SandboxObservations): Promise<void> {
  const file = '/proc/sys/net/ipv4/ip_forward'
  if ((await readFile(file, 'utf8')).trim() === '1') return
  await writeFile(file, '1')
  observe.forwardingEnabled('net.ipv4.ip_forward')
}

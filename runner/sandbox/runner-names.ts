import { runnersMax } from './runner-number.ts'

/** The subnet has 4,096 addresses: the network's, the gateway's, the broadcast's, and these. */
export const slotsMax = 4_000

/**
 * User ids from here on are given to nobody by any distribution (systemd ends its containers' range just below), so
 * a sandbox's two ids own nothing on the host.
 */
const userIdBase = 0x7000_0000
const userIdsPerSlot = 2

const addressesPerRunner = 4096
/** 198.18.0.0/15 is set aside for benchmarks of network devices: it is nobody's office network. */
const addressBase = ((198 << 24) >>> 0) + (18 << 16)
const slotAddressBase = 2

export interface RunnerNames {
  readonly number: number
  readonly tableName: string
  readonly interfacePrefix: string
  readonly namespacePrefix: string
  readonly cgroup: string
  /**
   * Holds what is mounted into sandboxes. A runtime looks those paths up as a sandbox's own user, who may not enter
   * the state folder, nor perhaps the folders above it.
   */
  readonly runFolder: string
  readonly subnetIpv4: string
  readonly subnetIpv6: string
  readonly gatewayIpv4: string
  readonly gatewayIpv6: string
}

/** Everything that a runner calls by a name that the whole host shares. */
export function nameRunner(number: number): RunnerNames {
  const network = addressBase + number * addressesPerRunner
  const networkIpv6 = `fd76:616c:6c65:${number.toString(16)}`
  return {
    number,
    tableName: `valley_${number}`,
    // With a slot's number it has at most 10 characters; the kernel allows 15.
    interfacePrefix: `vly${number}s`,
    namespacePrefix: `valley-${number}-`,
    cgroup: `valley-${number}`,
    runFolder: `/run/valley/run-${number}`,
    subnetIpv4: `${writeIpv4(network)}/20`,
    subnetIpv6: `${networkIpv6}::/64`,
    gatewayIpv4: writeIpv4(network + 1),
    gatewayIpv6: `${networkIpv6}::1`,
  }
}

export interface SlotNames {
  readonly interfaceName: string
  readonly namespaceName: string
  readonly namespacePath: string
  readonly addressIpv4: string
  readonly addressIpv6: string
  /** On the host, the user that is root inside, while the sandbox is being made. */
  readonly rootUserId: number
  /** On the host, the user that Deno runs as. */
  readonly userId: number
}

/** Of two sandboxes that run at the same time, no name, address or user is the same. */
export function nameSlot(runner: RunnerNames, slot: number): SlotNames {
  const network = addressBase + runner.number * addressesPerRunner
  const userId = userIdBase + (runner.number * slotsMax + slot) * userIdsPerSlot
  const namespaceName = `${runner.namespacePrefix}${slot}`
  return {
    interfaceName: `${runner.interfacePrefix}${slot}`,
    namespaceName,
    namespacePath: `/run/netns/${namespaceName}`,
    addressIpv4: writeIpv4(network + slotAddressBase + slot),
    addressIpv6: runner.subnetIpv6.replace('::/64', `::${(slotAddressBase + slot).toString(16)}`),
    rootUserId: userId,
    userId: userId + 1,
  }
}

/** Whether the runner's addresses would be taken from somebody: one of these ranges is already routed. */
export function subnetIsFree(number: number, routed: readonly string[]): boolean {
  const first = addressBase + number * addressesPerRunner
  const last = first + addressesPerRunner - 1
  return number < runnersMax && routed.every((range) => !overlaps(range, first, last))
}

function overlaps(range: string, first: number, last: number): boolean {
  const [address = '', bits = '32'] = range.split('/')
  const size = 2 ** (32 - Number(bits))
  const start = readIpv4(address)
  return start <= last && start + size - 1 >= first
}

function writeIpv4(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

function readIpv4(text: string): number {
  return text.split('.').reduce((address, byte) => address * 256 + Number(byte), 0)
}

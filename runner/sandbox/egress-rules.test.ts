import assert from 'node:assert/strict'
import { BlockList, isIPv4 } from 'node:net'
import { test } from 'node:test'
import { sortByFamily } from './cidr.ts'
import { buildHostRules, buildNamespaceRules, nonPublicRanges } from './egress-rules.ts'
import { runCommand } from './run-command.ts'
import { SandboxError } from './sandbox-error.ts'

const rules = {
  denied: sortByFamily(['198.51.100.0/25', '2001:db8:1::/48', '10.1.2.3']),
  resolvers: sortByFamily(['10.0.0.53', 'fd00::53']),
}
const hostRules = {
  ...rules,
  tableName: 'valley_rules_test',
  interfacePrefix: 'vly99s',
  subnets: sortByFamily(['198.18.0.0/20', 'fd76:616c:6c65:0::/64']),
  bounds: { connectionsMax: 256, connectionsPerSecondMax: 100, datagramsPerSecondMax: 2_000 },
}

test('every address that is not on the public internet is denied', () => {
  for (const address of `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254
    169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.168.0.1 192.0.0.192 198.18.0.1 198.19.255.255
    224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 :: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::7f00:1
    64:ff9b::a00:1 64:ff9b:1::a00:1 2002:a00:1:: 2001:0:a00:1:: fc00::1 fd00:ec2::254 fdff:ffff::1 fe80::1
    febf::1 fec0::1 ff02::1 ff0e::1 100::1`.split(/\s+/)) {
    assert.ok(isDenied(address), address)
  }
})

test('the public internet is not denied', () => {
  for (const address of `1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 126.0.0.1 128.0.0.1
    169.253.0.1 172.15.0.1 172.32.0.1 192.0.1.1 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255
    203.0.113.80 198.51.100.10 2606:4700::1111 2a00:1450::1 2001:4860:4860::8888 2003::1 2600::1`.split(
    /\s+/,
  )) {
    assert.ok(!isDenied(address), address)
  }
})

test('the rules of both sides are what nftables understands', async () => {
  await runCommand('nft', ['--check', '-f', '-'], { input: buildNamespaceRules(rules) })
  await runCommand('nft', ['--check', '-f', '-'], { input: buildHostRules(hostRules) })
  const none = {
    ...hostRules,
    denied: sortByFamily([]),
    resolvers: sortByFamily([]),
    subnets: sortByFamily([]),
  }
  await runCommand('nft', ['--check', '-f', '-'], { input: buildHostRules(none) })
})

test("the operator's ranges are denied on both sides, and a resolver is excepted on its port alone", () => {
  for (const text of [buildNamespaceRules(rules), buildHostRules(hostRules)]) {
    assert.match(text, /set denied4 .*198\.51\.100\.0\/25/)
    assert.match(text, /set denied6 .*2001:db8:1::\/48/)
    assert.match(text, /set resolvers4 .*elements = \{ 10\.0\.0\.53 \}/)
    const lines = text.split('\n').map((line) => line.trim())
    const excepted = lines.indexOf('ip daddr @resolvers4 meta l4proto { tcp, udp } th dport 53 accept')
    assert.ok(excepted !== -1 && excepted < lines.indexOf('ip daddr @denied4 goto refuse'))
  }
})

test('only an address or a CIDR gets into a rule set', () => {
  for (const range of [
    '',
    'localhost',
    '10.0.0.0/33',
    '10.0.0/8',
    '10.0.0.0/8/8',
    '::/129',
    'fe80::1%eth0',
  ]) {
    assert.throws(() => sortByFamily([range]), SandboxError, range)
  }
  assert.throws(() => sortByFamily(['10.0.0.0/8 }; accept; #']), SandboxError)
})

/** Each family by itself: a BlockList takes an IPv4 address for its IPv4-mapped self as well. */
function isDenied(address: string): boolean {
  const family = isIPv4(address) ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  for (const range of nonPublicRanges[family]) {
    const [network = '', bits = ''] = range.split('/')
    list.addSubnet(network, Number(bits), family)
  }
  return list.check(address, family)
}

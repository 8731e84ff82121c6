import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameRunner, nameSlot, slotsMax, subnetIsFree } from './runner-names.ts'
import { runnersMax } from './runner-number.ts'

const interfaceNameCharsMax = 15

test('no two sandboxes of a host share a name, an address or a user', () => {
  const seen = new Set<string | number>()
  let count = 0
  for (const number of [0, 1, 2, runnersMax - 1]) {
    const runner = nameRunner(number)
    for (let slot = 0; slot < slotsMax; slot += 1) {
      const names = nameSlot(runner, slot)
      assert.ok(names.interfaceName.length <= interfaceNameCharsMax, names.interfaceName)
      for (const value of Object.values(names)) seen.add(value)
      count += Object.values(names).length
    }
  }
  assert.equal(seen.size, count)
})

test('the names of one runner are not a prefix of those of another', () => {
  const runners = Array.from({ length: runnersMax }, (_, number) => nameRunner(number))
  for (const runner of runners) {
    const others = runners.filter((other) => other !== runner)
    assert.ok(others.every((other) => !other.interfacePrefix.startsWith(runner.interfacePrefix)))
    assert.ok(others.every((other) => !other.namespacePrefix.startsWith(runner.namespacePrefix)))
  }
})

test('addresses stay inside the subnet, beside the gateway', () => {
  const runner = nameRunner(31)
  assert.equal(runner.subnetIpv4, '198.19.240.0/20')
  assert.equal(runner.gatewayIpv4, '198.19.240.1')
  assert.equal(nameSlot(runner, 0).addressIpv4, '198.19.240.2')
  assert.equal(nameSlot(runner, slotsMax - 1).addressIpv4, '198.19.255.161')
  assert.equal(nameSlot(runner, 0).addressIpv6, 'fd76:616c:6c65:1f::2')
})

test('a subnet that the host already routes is not taken', () => {
  assert.equal(subnetIsFree(0, ['192.0.2.0/24', '10.0.0.0/8']), true)
  assert.equal(subnetIsFree(0, ['198.18.0.0/15']), false)
  assert.equal(subnetIsFree(1, ['198.18.16.7']), false)
  assert.equal(subnetIsFree(1, ['198.18.32.0/24']), true)
})

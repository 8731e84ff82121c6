import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseResolvers } from './host-network.ts'

test('resolvers that a sandbox cannot reach are left out, and no more than three are named', () => {
  const text = `# a comment
nameserver 127.0.0.53
nameserver 10.0.0.53
 nameserver fe80::1%eth0
nameserver 2001:db8::53
search example.com
nameserver 10.0.0.54
nameserver 10.0.0.55
`
  assert.deepEqual(parseResolvers(text), ['10.0.0.53', '2001:db8::53', '10.0.0.54'])
  assert.deepEqual(parseResolvers('nameserver not-an-address\nnameserver ::1\n'), [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostLabelOrNull } from './host-label.ts'

const hosts: Record<string, string | null> = {
  'alice--hello.vals.example': 'alice--hello',
  'Alice--HELLO.Vals.Example': 'alice--hello',
  'alice--hello.vals.example:8081': 'alice--hello',
  'alice--hello.vals.example.': 'alice--hello',
  'alice--hello.vals.example.:8081': 'alice--hello',
  '01a1dd3ace867377909b90556be809f1.vals.example': '01a1dd3ace867377909b90556be809f1',
  'vals.example': null,
  '.vals.example': null,
  'hello.evilvals.example': null,
  'alice--hello.vals.example.evil': null,
  'a.b.vals.example': null,
  'alice_hello.vals.example': null,
  'alice--hello.vals.example:80@evil': null,
  'alice--hello.vals.example/path': null,
  '[::1]:8081': null,
  '127.0.0.1': null,
  '': null,
}

for (const [host, label] of Object.entries(hosts)) {
  test(`the label in '${host}' is ${label ?? 'none'}`, () => {
    assert.equal(hostLabelOrNull(host, 'vals.example'), label)
  })
}

test('a label has 63 characters at the most', () => {
  assert.equal(hostLabelOrNull(`${'a'.repeat(63)}.localhost`, 'localhost'), 'a'.repeat(63))
  assert.equal(hostLabelOrNull(`${'a'.repeat(64)}.localhost`, 'localhost'), null)
  assert.equal(hostLabelOrNull(undefined, 'localhost'), null)
})

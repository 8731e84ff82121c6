import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { endpointLabel, parseLabelOrNull } from './endpoint.ts'

const id = '0199f2ab-4c1e-7d3a-9b52-6f0c1d2e3f40'
const digits = id.replaceAll('-', '')
const val = { id, username: 'alice', name: 'myWeather_2', privacy: 'public' } as const

test('a val answers under its owner and its name, in lower case, with hyphens for underscores', () => {
  assert.equal(endpointLabel(val), 'alice--myweather-2')
  assert.equal(endpointLabel({ ...val, privacy: 'private' }), 'alice--myweather-2')
  assert.equal(endpointLabel({ ...val, username: 'a-b-c', name: 'x__Y' }), 'a-b-c--x--y')
})

test('an unlisted val, and one whose name makes no good label, is shown under the digits of its id', () => {
  const [username, name] = ['u'.repeat(14), 'n'.repeat(47)]
  assert.equal(endpointLabel({ ...val, privacy: 'unlisted' }), digits)
  assert.equal(endpointLabel({ ...val, username, name }).length, 63)
  assert.equal(endpointLabel({ ...val, username, name: `${name}n` }), digits, 'too long')
  assert.equal(endpointLabel({ ...val, name: 'hello_' }), digits, 'a label does not end in a hyphen')
  assert.equal(endpointLabel({ ...val, username: 'xn' }), digits, 'browsers take xn-- for encoded Unicode')
})

test('whatever label a val is shown under, it leads back to that val and is one label of a host name', () => {
  const anyVal = fc.record({
    id: fc.uuid({ version: 7 }),
    username: fc.stringMatching(/^[a-z][a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,2}$/),
    name: fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,47}$/),
    privacy: fc.constantFrom('public', 'unlisted', 'private'),
  })
  fc.assert(
    fc.property(anyVal, (each) => {
      const label = endpointLabel(each)
      assert.match(label, /^[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$/)
      assert.equal(new URL(`http://${label}.example.com`).hostname, `${label}.example.com`)
      const by = parseLabelOrNull(label.toUpperCase()) ?? assert.fail()
      if (by.kind === 'id') assert.equal(by.id, each.id)
      else assert.deepEqual([by.username, by.name], [each.username, each.name.toLowerCase()])
    }),
  )
})

test('a label is split at its first two hyphens', () => {
  assert.deepEqual(parseLabelOrNull('alice--a--b'), { kind: 'name', username: 'alice', name: 'a__b' })
  assert.deepEqual(parseLabelOrNull('alice--a-'), { kind: 'name', username: 'alice', name: 'a_' })
  assert.deepEqual(parseLabelOrNull('a-b--c-d'), { kind: 'name', username: 'a-b', name: 'c_d' })
})

test('a label that no val can have names nothing', () => {
  const empty = ['', '-', '--', '---', 'alice', 'alice--', '--hello', 'alice---hello', 'alice-hello']
  const misspelt = [
    'a--b',
    '9a--b',
    'alice--9',
    'alice--he_llo',
    'al_ice--hello',
    'alice--héllo',
    '\u212Aate--x',
  ]
  const injected = ["alice--x'; DROP TABLE vals; --", 'alice--%', 'alice--\0', 'alice--..', 'alice--a.b']
  const spaced = ['alice--hello\n', ' alice--hello', '__proto__', 'constructor']
  const long = [`alice--${'n'.repeat(57)}`, 'x'.repeat(10_000)]
  const noIds = [digits.slice(1), `${digits}0`, id, 'g'.repeat(32), '00000000000000000000000000000001']
  const hostile = [...empty, ...misspelt, ...injected, ...spaced, ...long, ...noIds]
  for (const label of hostile) assert.equal(parseLabelOrNull(label), null, JSON.stringify(label))
})

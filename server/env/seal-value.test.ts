import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../database/ids.ts'
import { newKeyText, parseKeysOrNull } from './keys.ts'
import { openValueOrNull, sealValue } from './seal-value.ts'

const keys = parseKeysOrNull(`${newKeyText('a')},${newKeyText('b')}`) ?? assert.fail()
const [first = assert.fail(), second = assert.fail()] = keys
const place = { owner_id: newId(), holder_id: newId(), name: 'SECRET' }

test('a value opens with its own key, wherever that stands in the list, and with no other', () => {
  for (const value of ['', 'plain', 'ä\u{1f600}', 'x'.repeat(32 * 1024)]) {
    const sealed = sealValue(second, place, value)
    assert.equal(openValueOrNull(keys, sealed), value)
    assert.equal(openValueOrNull([first], sealed), null)
    assert.equal(openValueOrNull([{ ...first, id: 'b' }], sealed), null, 'another key under the same id')
    assert.equal(openValueOrNull([], sealed), null)
  }
})

test('a value opens nowhere but in the row that it was sealed for', () => {
  const sealed = sealValue(first, place, 'value')
  for (const other of [
    { owner_id: newId() },
    { holder_id: newId() },
    { holder_id: place.owner_id },
    { name: 'secret' },
  ]) {
    assert.equal(openValueOrNull(keys, { ...sealed, ...other }), null)
  }
})

test('a value of which a byte was changed, cut off or added does not open', () => {
  const sealed = sealValue(first, place, 'value')
  const { sealed_value: bytes } = sealed
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(openValueOrNull(keys, { ...sealed, sealed_value: changed }), null, `byte ${at}`)
    assert.equal(
      openValueOrNull(keys, { ...sealed, sealed_value: bytes.subarray(0, at) }),
      null,
      `${at} bytes`,
    )
  }
  const longer = Buffer.concat([bytes, Buffer.from([0])])
  assert.equal(openValueOrNull(keys, { ...sealed, sealed_value: longer }), null)
})

test('the same value is never sealed into the same bytes', () => {
  const seals = Array.from({ length: 50 }, () =>
    sealValue(first, place, 'value').sealed_value.toString('hex'),
  )
  assert.equal(new Set(seals.map((seal) => seal.slice(0, 24))).size, seals.length)
})

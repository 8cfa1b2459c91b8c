/** Which `Authorization` values a thread knows again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { newKeyText } from '../../src/access/key-records.ts'
import { KnownKeys } from '../../src/access/key-ring.ts'

test('A value is known again with its row, and no value that differs in any of its characters.', () => {
  const values = Array.from({ length: 20 }, () => `Bearer ${newKeyText()}`)
  const known = new KnownKeys()
  values.forEach((value, row) => known.add(value, row))
  fc.assert(
    fc.property(fc.nat(19), fc.nat(59), fc.nat(0xffff), (row, at, unit) => {
      const value = values[row]
      // Another one may have taken its place.
      assert.ok([row, -1].includes(known.find(value)))
      const changed = value.slice(0, at) + String.fromCharCode(unit) + value.slice(at + 1)
      if (changed !== value) assert.equal(known.find(changed), -1)
    }),
    { numRuns: 2000 },
  )
  assert.equal(known.find(values[19]), 19)
})

test('A value of another length, or with other characters than ASCII, is not remembered, nor takes a place.', () => {
  const value = `Bearer ${newKeyText()}`
  const known = new KnownKeys()
  known.add(value, 7)
  for (const other of [
    '',
    'Bearer ',
    `${value} `,
    value.slice(0, -1),
    `bearer  ${value.slice(7)}`,
    `${value.slice(0, -1)}é`,
  ]) {
    known.add(other, 8)
    assert.equal(known.find(other), -1)
    assert.equal(known.find(value), 7)
  }
})

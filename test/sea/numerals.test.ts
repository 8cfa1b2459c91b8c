/** Numbers as requests and tables write them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimalOf, idOf, integerOf } from '../../src/sea/numerals.ts'

const NOT_PLAIN = ['', ' 5', '5 ', '5\n', ...'- +5 --5 1e2 0x10 1_000 1,000 Infinity NaN ٣ ５'.split(' ')]

test('Plain decimal text is the number that it says, to the last bit, and nothing else is one.', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => assert.equal(integerOf(String(value)), value + 0)))
  const decimals = fc.tuple(fc.integer(), fc.nat({ max: 999_999_999 }), fc.integer({ min: 9, max: 12 }))
  fc.assert(
    fc.property(decimals, ([whole, fraction, digits]) => {
      const text = `${whole}.${String(fraction).padStart(digits, '0')}`
      assert.equal(decimalOf(text), parseFloat(text) + 0)
    }),
  )
  assert.ok(Object.is(integerOf('-0'), 0) && Object.is(decimalOf('-0.0'), 0), 'no negative zero')
  assert.equal(integerOf('007'), 7)
  for (const text of [...NOT_PLAIN, '5.0']) assert.ok(Number.isNaN(integerOf(text)), JSON.stringify(text))
  for (const text of [...NOT_PLAIN, '.5', '5.', '1.2.3']) {
    assert.ok(Number.isNaN(decimalOf(text)), JSON.stringify(text))
  }
  assert.equal(idOf('12'), 12)
  for (const text of ['-1', '1'.repeat(17), 'anglet']) assert.ok(Number.isNaN(idOf(text)), text)
})

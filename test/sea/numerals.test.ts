/** Numbers read in place against a pattern and `Number`, which share nothing with the reader. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimalAt, digitsAt, integerAt } from '../../src/sea/numerals.ts'

const INTEGER = /^-?[0-9]+$/
const DECIMAL = /^-?[0-9]+(\.[0-9]+)?$/

/** Nearly numbers: digits, signs, points and what lenient readers take. */
const nearly = fc.string({ unit: fc.constantFrom(...'0123456789019-.+e x,٣'.split('')), maxLength: 24 })
const longer = fc.tuple(fc.string({ maxLength: 4 }), fc.string({ maxLength: 4 }))

function assertReads(
  read: (text: string, from: number, to: number) => number,
  pattern: RegExp,
  number: string,
  [before, after]: [string, string],
): void {
  const got = read(before + number + after, before.length, before.length + number.length)
  // Without a negative zero.
  const expected = pattern.test(number) ? Number(number) + 0 : NaN
  assert.ok(Object.is(got, expected), `${JSON.stringify(number)} is read as ${got}, wanted ${expected}`)
}

test('Any text is the integer that Number makes of it, or none, wherever it stands.', () => {
  fc.assert(
    fc.property(fc.oneof(nearly, fc.maxSafeInteger().map(String)), longer, (number, around) =>
      assertReads(integerAt, INTEGER, number, around),
    ),
    { numRuns: 3000 },
  )
  for (const number of ['', '-', '-0', '0', '9007199254740993', '1'.repeat(400)]) {
    assertReads(integerAt, INTEGER, number, ['', ''])
  }
})

test('Any text is the decimal number that Number makes of it, to the last bit, or none.', () => {
  const decimals = fc
    .tuple(fc.integer(), fc.nat({ max: 999_999_999 }), fc.integer({ min: 1, max: 12 }))
    .map(([whole, fraction, digits]) => `${whole}.${String(fraction).padStart(digits, '0')}`)
  fc.assert(
    fc.property(fc.oneof(nearly, decimals), longer, (number, around) =>
      assertReads(decimalAt, DECIMAL, number, around),
    ),
    { numRuns: 5000 },
  )
  for (const number of [
    '',
    '-',
    '-0.0',
    '.5',
    '5.',
    '1.2.3',
    '0.1',
    '179.9999999999999',
    `0.${'1'.repeat(300)}`,
  ]) {
    assertReads(decimalAt, DECIMAL, number, ['', ''])
  }
})

test('A run of digits is read, and anything else in it refused, the end of the text too.', () => {
  assert.equal(digitsAt('x2026-03', 1, 4), 2026)
  assert.equal(digitsAt('x2026-03', 5, 2), -1)
  assert.equal(digitsAt('x2026-03', 6, 3), -1)
})

/** One range of a body, against the words of RFC 9110, section 14.1.2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rangeOf } from '../../src/http/parts.ts'

const BODY = Buffer.from('0123456789abcdefghij')
const bytesOf = (asked: string): string | null => {
  const range = rangeOf(asked, BODY.length)
  return range === null || range === 'unsatisfiable' ? range : BODY.toString('latin1', range.from, range.to)
}

test('A range is what its words say, and what is not understood is as if nothing were asked.', () => {
  for (const [asked, expected] of [
    ['bytes=0-0', '0'],
    ['bytes=0-4', '01234'],
    ['bytes=15-', 'fghij'],
    ['bytes=15-99999', 'fghij'],
    ['bytes=-5', 'fghij'],
    ['bytes=-99999', BODY.toString()],
    [' bytes=19-19 ', 'j'],
    ['bytes=20-', 'unsatisfiable'],
    ['bytes=20-30', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', null],
    ['bytes=-', null],
    ['bytes=', null],
    ['', null],
    ['bytes=0-1,3-4', null],
    ['bytes=0-1, bytes=3-4', null],
    ['items=0-1', null],
    ['bytes=0x1-2', null],
    ['bytes=1-1e1', null],
    [`bytes=${'9'.repeat(40)}-`, null],
  ] as const) {
    assert.equal(bytesOf(asked), expected, asked)
  }
  assert.equal(rangeOf('bytes=-5', 0), 'unsatisfiable')
})

test('Whatever is asked, a range lies within the body and is not empty.', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.stringMatching(/^bytes=\d{0,6}-\d{0,6}$/)),
      fc.nat({ max: 100_000 }),
      (asked, length) => {
        const range = rangeOf(asked, length)
        if (range === null || range === 'unsatisfiable') return
        assert.ok(range.from >= 0 && range.from < range.to && range.to <= length)
      },
    ),
  )
})

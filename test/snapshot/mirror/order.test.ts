import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { whyOlder, type Publication } from '../../../src/snapshot/mirror/mirror-folder.ts'

const of = (asOf: number, publishedAt: number | null): Publication => ({ id: 'x', asOf, publishedAt })

const CASES: [name: string, shown: Publication, held: Publication, wasLeft: boolean, isTaken: boolean][] = [
  ['the next snapshot', of(20, 200), of(10, 100), false, true],
  ['a rollback: old data, published again', of(10, 300), of(20, 200), true, true],
  ['a rollback to a snapshot that this mirror never had', of(5, 300), of(20, 200), false, true],
  ['the snapshot before, from a cache that lags', of(10, 100), of(20, 200), true, false],
  ['one before that, which is no longer kept', of(5, 50), of(20, 200), false, false],
  ['what a rollback took back, from a cache that lags', of(20, 200), of(10, 300), true, false],
  ['newer data, by a builder whose clock was set back', of(30, 100), of(20, 200), false, true],
  ['newer data without a date', of(30, null), of(20, 200), false, true],
  ['older data without a date', of(10, null), of(20, 200), false, false],
  ['a snapshot that was left, without a date', of(20, null), of(10, 100), true, false],
  ['another build of the same data', of(20, null), of(20, null), false, true],
]

for (const [name, shown, held, wasLeft, isTaken] of CASES) {
  test(`${isTaken ? 'Taken' : 'Not taken'}: ${name}.`, () => {
    assert.equal(whyOlder(shown, held, wasLeft) === null, isTaken)
  })
}

test('Of two dated publications the later one is always taken, whatever its data.', () => {
  const time = fc.integer({ min: 0, max: 1000 })
  fc.assert(
    fc.property(
      time,
      time,
      time,
      fc.integer({ min: 0, max: 50 }),
      fc.boolean(),
      (a, b, held, later, wasLeft) => {
        assert.equal(whyOlder(of(a, held + later), of(b, held), wasLeft), null)
      },
    ),
  )
})

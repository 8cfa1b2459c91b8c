/** Searches by halving and by guessing, against a scan. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { lowerBound, partitionPoint, timeBound } from '../../src/index/bisect.ts'

/** Ascending times that mislead a guess by proportion: clusters, doublings, a lonely row far away. */
const nasty = fc.oneof(
  fc.array(fc.nat(2 ** 32 - 1), { maxLength: 60 }),
  fc.array(fc.nat(50), { maxLength: 60 }),
  fc.nat(31).map((count) => Array.from({ length: count }, (_, i) => 2 ** i)),
  fc.nat(31).map((count) => Array.from({ length: count }, (_, i) => 2 ** 32 - 1 - 2 ** i)),
  fc.nat(60).map((count) => [...Array.from({ length: count }, (_, i) => i), 2 ** 32 - 1]),
  fc.nat(60).map((count) => [0, ...Array.from({ length: count }, (_, i) => 4e9 + i)]),
)

test('Every search finds the index that a scan finds, however the values lie.', () => {
  fc.assert(
    fc.property(
      nasty,
      fc.array(fc.oneof(fc.nat(2 ** 32 - 1), fc.nat(60), fc.double({ min: -10, max: 5e9, noNaN: true }))),
      fc.nat(5),
      fc.nat(5),
      (values, wanted, before, behind) => {
        const rows = [...new Set(values)].toSorted((a, b) => a - b)
        // What lies outside of the range is out of order, so a search that reads it goes wrong.
        const times = Uint32Array.from([
          ...Array.from({ length: before }, () => 4e9),
          ...rows,
          ...Array.from({ length: behind }, () => 1),
        ])
        const [from, to] = [before, before + rows.length]
        for (const time of [...wanted, ...rows, ...rows.map((row) => row + 1)]) {
          const found = rows.findIndex((row) => row >= time)
          const expected = found === -1 ? to : from + found
          assert.equal(timeBound(times, time, from, to), expected)
          assert.equal(lowerBound(times, time, from, to), expected)
          const isBefore = (index: number): boolean => times[index] < time
          assert.equal(partitionPoint(from, to, isBefore), expected)
        }
      },
    ),
    { numRuns: 500 },
  )
})

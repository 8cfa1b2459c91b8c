/** What distinguishes two months of a buoy, against looking at one time after the other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { MonthRows } from '../../src/index/segments.ts'
import { MEASURES } from '../../src/sea/columns.ts'
import { eachDifference } from '../../src/snapshot/compare-snapshots.ts'
import { ADDED, CHANGED, REMOVED } from '../../src/snapshot/row-changes.ts'
import { NOTHING_MEASURED } from '../index/nothing_measured.ts'

type Reading = readonly [time: number, height: number]

/** The rows of one buoy, behind `skipped` rows of another; without heights where `heightless`. */
function monthOf(readings: readonly Reading[], skipped: number, heightless = false): MonthRows {
  const all: Reading[] = [...Array.from({ length: skipped }, (_, i): Reading => [i, 7]), ...readings]
  const significantHeight = { codes: Uint16Array.from(all, ([, height]) => height), mask: -1 }
  return {
    file: 'f',
    month: 0,
    buoys: Uint32Array.of(1, 2),
    start: Uint32Array.of(0, skipped, all.length),
    time: Uint32Array.from(all, ([time]) => time),
    measures: { ...NOTHING_MEASURED, ...(!heightless && { significantHeight }) },
  }
}

const MISSING = MEASURES.significantHeight.missing

function expected(a: readonly Reading[], b: readonly Reading[]): [change: number, time: number][] {
  const [inA, inB] = [new Map(a), new Map(b)]
  return [...new Set([...inA.keys(), ...inB.keys()])]
    .toSorted((x, y) => x - y)
    .filter((time) => inA.get(time) !== inB.get(time))
    .map((time) => {
      if (!inA.has(time)) return [ADDED, time]
      return [inB.has(time) ? CHANGED : REMOVED, time]
    })
}

test('Differences of long months are those of looking at one time after the other.', () => {
  const edits = fc.array(
    fc.record({
      at: fc.nat(1999),
      what: fc.constantFrom('change', 'add', 'remove'),
      run: fc.integer({ min: 1, max: 300 }),
    }),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(
      fc.nat(2000),
      edits,
      fc.nat(9),
      fc.nat(9),
      fc.boolean(),
      (rows, all, skipA, skipB, heightless) => {
        const a = Array.from({ length: rows }, (_, i): Reading => [
          10 * i + 1000,
          heightless ? MISSING : i % 5,
        ])
        let b: Reading[] = [...a]
        for (const { at, what, run } of all) {
          const isIn = (i: number): boolean => i >= at && i < at + run
          if (what === 'change') b = b.map(([time, height], i) => [time, isIn(i) ? 9 : height])
          else if (what === 'remove') b = b.filter((_, i) => !isIn(i))
          else
            b = [...new Map([...b, ...b.filter((_, i) => isIn(i)).map(([time]): Reading => [time + 3, 4])])]
        }
        b = b.toSorted(([x], [y]) => x - y)
        const [monthA, monthB] = [monthOf(a, skipA, heightless), monthOf(b, skipB)]
        const found: [number, number][] = []
        eachDifference(
          monthA,
          { from: skipA, to: skipA + a.length },
          monthB,
          { from: skipB, to: skipB + b.length },
          (change, row, time) => {
            found.push([change, time])
            assert.equal((change === REMOVED ? monthA : monthB).time[row], time)
            return true
          },
        )
        assert.deepEqual(found, expected(a, b))
      },
    ),
    { numRuns: 150 },
  )
})

/** The measured columns: every value on the wire has a code, and a batch that grows loses no row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { codeLimits, codeOf, missingColumn, NO_CODE, OUTSIDE, RowBatch } from '../../src/sea/row-batch.ts'
import { EXPECTED } from '../measures.ts'

test('Every measure has its scale and limits, and the codes within them fit and are never the missing one.', () => {
  assert.deepEqual(Object.keys(EXPECTED), [...MEASURE_NAMES])
  for (const name of MEASURE_NAMES) {
    const { scale, min, max, missing, signed } = MEASURES[name]
    assert.deepEqual([scale, min, max], EXPECTED[name])
    assert.equal(MEASURES[name].name, name)
    const column = missingColumn(MEASURES[name], 2)
    assert.deepEqual([...column], [missing, missing])
    assert.equal(column instanceof Int16Array, signed)
    for (const value of [min, max]) {
      const code = Math.round(value * scale)
      column[0] = code
      assert.equal(column[0], code)
      assert.notEqual(code, missing)
    }
  }
})

test('A value becomes the code that its decimals make, rounded by hand; beyond the limits it becomes none.', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...MEASURE_NAMES),
      fc.integer({ min: -600, max: 600_000 }),
      fc.integer({ min: 0, max: 9999 }),
      (name, whole, parts) => {
        const { scale, missing } = MEASURES[name]
        const [, min, max] = EXPECTED[name]
        // In ten-thousandths, so that the expectation is exact.
        const tenThousandths = whole * 100 + parts
        const size = Math.floor((2 * Math.abs(tenThousandths) * scale + 10_000) / 20_000)
        const rounded = tenThousandths < 0 ? 0 - size : size
        const turned = max === 359.99 && rounded === 360 * scale ? 0 : rounded
        const isWithin = turned >= min * scale && turned <= Math.round(max * scale)
        const code = codeOf(scale, codeLimits(MEASURES[name]), tenThousandths / 10_000)
        assert.equal(code, isWithin ? turned : OUTSIDE)
        assert.notEqual(code, missing)
      },
    ),
    { numRuns: 2000 },
  )
})

const rows = fc.array(
  fc.record({
    time: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    values: fc.dictionary(fc.constantFrom(...MEASURE_NAMES), fc.integer({ min: 0, max: 30_000 })),
  }),
  { maxLength: 80 },
)

test('A batch holds the rows that were added, missing where nothing was set, whatever it held before.', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.array(fc.tuple(fc.nat(9), rows), { minLength: 1, maxLength: 3 }),
      (capacity, fills) => {
        const batch = new RowBatch(capacity)
        const held: { time: number; values: { [name in MeasureName]?: number } }[] = []
        for (const [kept, fill] of fills) {
          held.splice(kept, Infinity, ...fill)
          batch.clear(Math.min(kept, batch.length))
          for (const { time, values } of fill) {
            const codes = MEASURE_NAMES.map((name) => values[name] ?? NO_CODE)
            batch.addCodes(time, MEASURE_NAMES, Int32Array.from(codes))
          }
          assert.equal(batch.length, held.length)
          for (const [index, { time, values }] of held.entries()) {
            assert.equal(batch.time[index], time)
            for (const name of MEASURE_NAMES) {
              assert.equal(batch.columns[name][index], values[name] ?? MEASURES[name].missing)
            }
          }
        }
      },
    ),
  )
})

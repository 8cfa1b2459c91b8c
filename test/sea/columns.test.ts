/**
 * The measured columns: every value that the wire may hold has a code, and a batch loses no row while it
 * grows.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, MEASURES, missingColumn, RowBatch, type MeasureName } from '../../src/sea/columns.ts'

/** Codes per unit and limits, written out again so that a change of either shows. */
const EXPECTED: { [name in MeasureName]: [scale: number, min: number, max: number] } = {
  significantHeight: [1000, 0, 25],
  maximumHeight: [1000, 0, 50],
  period: [1000, 0, 60],
  peakPeriod: [1000, 0, 60],
  direction: [100, 0, 359.99],
  waterTemperature: [100, -5, 45],
  windSpeed: [100, 0, 500],
  windDirection: [100, 0, 359.99],
  gustSpeed: [100, 0, 500],
}

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
      fc.array(rows, { minLength: 1, maxLength: 3 }),
      (capacity, fills) => {
        const batch = new RowBatch(capacity)
        for (const fill of fills) {
          batch.clear()
          assert.equal(batch.length, 0)
          for (const [index, { time, values }] of fill.entries()) {
            assert.equal(batch.add(time), index)
            for (const [name, code] of Object.entries(values))
              batch.columns[name as MeasureName][index] = code
          }
          assert.equal(batch.length, fill.length)
          for (const [index, { time, values }] of fill.entries()) {
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

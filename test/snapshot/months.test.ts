/** Monthly parts: what is left out comes back as missing, what is an alias as the column it stands for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, type MeasureName } from '../../src/sea/columns.ts'
import { SnapshotError, type Part } from '../../src/snapshot/format.ts'
import { decodePart, encodePart } from '../../src/snapshot/part.ts'
import type { Column } from '../../src/sea/columns.ts'
import { monthPart, readMonth } from '../../src/snapshot/months.ts'
import type { MonthTable } from '../../src/snapshot/months.ts'

const MONTH = (2026 - 1970) * 12 + 2
const missingOf = (name: MeasureName): number => (name === 'waterTemperature' ? -32_768 : 65_535)

/** Codes of some columns, each for `rows` rows; the other columns hold nothing. */
function tableOf(rows: number, given: { [name in MeasureName]?: number[] }): MonthTable {
  const columns = Object.fromEntries(
    MEASURE_NAMES.map((name) => {
      const codes = given[name] ?? Array.from({ length: rows }, () => missingOf(name))
      return [name, name === 'waterTemperature' ? Int16Array.from(codes) : Uint16Array.from(codes)]
    }),
  ) as MonthTable['columns']
  return {
    month: MONTH,
    buoys: Uint32Array.of(3, 9),
    start: Uint32Array.of(0, 1, rows),
    time: Uint32Array.from({ length: rows }, (_, i) => 1_772_323_200 + i),
    columns,
  }
}

const through = (part: Part): Part => decodePart(encodePart(part), 'f')

const codes = (name: MeasureName, rows: number) =>
  fc.array(
    fc.oneof(
      fc.constant(missingOf(name)),
      name === 'waterTemperature' ? fc.integer({ min: -500, max: 4500 }) : fc.nat(9),
    ),
    { minLength: rows, maxLength: rows },
  )

const tables = fc.integer({ min: 2, max: 20 }).chain((rows) =>
  fc.record({
    rows: fc.constant(rows),
    samePeak: fc.boolean(),
    columns: fc.record(Object.fromEntries(MEASURE_NAMES.map((name) => [name, codes(name, rows)])), {
      requiredKeys: [],
    }),
  }),
)

test('Every value of a month comes back through its part, and columns without a value take no room.', () => {
  fc.assert(
    fc.property(tables, fc.constantFrom('readings', 'weather'), ({ rows, samePeak, columns }, kind) => {
      const given = columns as { [name in MeasureName]?: number[] }
      if (samePeak && given.period !== undefined) given.peakPeriod = [...given.period]
      const part = through(monthPart(kind, tableOf(rows, given)))
      assert.equal(part.kind, kind)
      assert.equal(part.meta.month, '2026-03')
      const month = readMonth(part, MONTH, 'f')
      assert.equal(month.month, MONTH)
      assert.deepEqual([...month.buoys], [3, 9])
      assert.deepEqual([...month.start], [0, 1, rows])
      assert.deepEqual([...month.time], [...tableOf(rows, {}).time])
      for (const name of MEASURE_NAMES) {
        const expected = given[name] ?? Array.from({ length: rows }, () => missingOf(name))
        const { codes: found, mask } = month.measures[name]
        assert.deepEqual(
          expected.map((_, row) => found[row & mask]),
          expected,
          name,
        )
        if (expected.every((code) => code === missingOf(name))) {
          assert.equal(found.length, 1)
          assert.equal(part.columns.has(name), false)
        }
      }
    }),
  )
})

test('A peak period that is the period in every row is kept once.', () => {
  const period = [8000, 65_535, 7100]
  const heights = [1000, 2000, 3000]
  const same = through(
    monthPart('readings', tableOf(3, { significantHeight: heights, period, peakPeriod: period })),
  )
  assert.deepEqual([...same.columns.keys()], ['buoy', 'start', 'time', 'significantHeight', 'period'])
  assert.deepEqual([...readMonth(same, MONTH, 'f').measures.peakPeriod.codes], period)
  const other = through(
    monthPart('readings', tableOf(3, { significantHeight: heights, period, peakPeriod: [8000, 7000, 7100] })),
  )
  assert.ok(other.columns.has('peakPeriod'))
})

test('A part without a column of the rows, or with one of another type or length, is refused.', () => {
  const table = tableOf(3, { significantHeight: [1, 2, 3], waterTemperature: [1, 2, 3] })
  const broken = (name: string, column: Column | null): void => {
    const part = monthPart('readings', table)
    if (column === null) part.columns.delete(name)
    else part.columns.set(name, column)
    assert.throws(() => readMonth(part, MONTH, 'readings-0'), SnapshotError, name)
  }
  for (const name of ['buoy', 'start', 'time']) {
    broken(name, null)
    broken(name, Int32Array.of(1, 2, 3))
  }
  broken('significantHeight', Uint16Array.of(1, 2))
  broken('significantHeight', Int16Array.of(1, 2, 3))
  broken('waterTemperature', Uint16Array.of(1, 2, 3))
  broken('period', Float64Array.of(1, 2, 3))
})

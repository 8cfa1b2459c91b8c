/** Monthly parts: what is left out comes back as missing, what is an alias as the column it stands for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { codeLimits } from '../../src/sea/row-batch.ts'
import { finish, type Steps } from '../../src/system/steps.ts'
import type { Part } from '../../src/snapshot/snapshot-format.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { checkMonth } from '../../src/snapshot/check-snapshot.ts'
import { monthPart, type MonthTable } from '../../src/builder/month-tables.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { entryOf } from './entry_of.ts'

const MONTH = (2026 - 1970) * 12 + 2
const isSigned = (name: MeasureName): boolean => /temperature|dewpoint/i.test(name)
const missingOf = (name: MeasureName): number => (isSigned(name) ? -32_768 : 65_535)

/** Codes of some columns, each for `rows` rows; the other columns hold nothing. */
function tableOf(rows: number, given: { [name in MeasureName]?: number[] }): MonthTable {
  const columns = Object.fromEntries(
    MEASURE_NAMES.map((name) => {
      const codes = given[name] ?? Array.from({ length: rows }, () => missingOf(name))
      return [name, isSigned(name) ? Int16Array.from(codes) : Uint16Array.from(codes)]
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
    fc.oneof(fc.constant(missingOf(name)), isSigned(name) ? fc.integer({ min: -500, max: 4500 }) : fc.nat(9)),
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

/** The check of a month of readings, as a server reads it. */
function checkOf(table: MonthTable): Steps<void> {
  const part = through(monthPart('readings', table))
  return checkMonth(readMonth(part, MONTH, 'f'), entryOf('readings', table.time.length, { month: MONTH }))
}

function monthWith(rows: number, name: MeasureName, row: number, code: number): MonthTable {
  const { min, max } = codeLimits(MEASURES[name])
  const codes = Array.from({ length: rows }, (_, i) => {
    if (i % 3 === 0 && name !== 'significantHeight') return missingOf(name)
    return i % 2 === 0 ? min : max
  })
  codes[row] = code
  return tableOf(rows, { significantHeight: Array<number>(rows).fill(0), [name]: codes })
}

test('A code beyond the limits of its measure is refused in every row, one at them nowhere.', () => {
  for (const name of MEASURE_NAMES) {
    const { min, max } = codeLimits(MEASURES[name])
    const missing = name === 'significantHeight' ? [] : [missingOf(name)]
    const bad = [
      max + 1,
      ...(min < 0 ? [min - 1, -32_767, 32_767] : [65_534]),
      ...(missing.length > 0 ? [] : [65_535]),
    ]
    for (const rows of [2, 11]) {
      for (let row = 0; row < rows; row++) {
        for (const code of [min, max, ...missing]) finish(checkOf(monthWith(rows, name, row, code)))
        for (const code of bad) {
          assert.throws(
            () => finish(checkOf(monthWith(rows, name, row, code))),
            /has a value outside its limits/,
            `${name} ${code}`,
          )
        }
      }
    }
  }
})

test('A long month is checked in slices of at most 65,536 values, and refused for one wrong value wherever a slice ends.', () => {
  const rows = 140_000
  const slices = 3
  // Heights and periods, after the times.
  assert.equal([...checkOf(monthWith(rows, 'period', rows - 1, 0))].length, 1 + 2 * slices)
  for (const [name, code] of [
    ['significantHeight', 0xffff],
    ['period', 0xfffe],
    ['waterTemperature', -501],
    ['waterTemperature', 4501],
  ] as const) {
    for (const row of name === 'period' ? [0, 65_535, 65_536, 131_072, rows - 1] : [65_536]) {
      const why = new RegExp(`: ${name} has a value outside its limits$`)
      assert.throws(() => finish(checkOf(monthWith(rows, name, row, code))), why, `${name} ${row}`)
    }
  }
})

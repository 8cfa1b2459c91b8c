/** Readings in bytes against objects put together by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { csvReadings } from '../../src/dataset/reading-csv.ts'
import {
  addExtras,
  EXTRA_GROUPS,
  READING_BYTES,
  writeReading,
  writeReadings,
} from '../../src/dataset/reading-json.ts'
import { readingColumns, type ReadingRun } from '../../src/dataset/reading-table.ts'
import { csvForm, jsonListForm, type RowForm, rowPieces } from '../../src/dataset/row-writers.ts'
import { type Column, integer, type Table, text } from '../../src/dataset/table.ts'
import type { MeasureColumn, MonthRows, MonthRun } from '../../src/index/segments.ts'
import { MEASURE_NAMES, type MeasureName, MEASURES } from '../../src/sea/columns.ts'
import { missingColumn } from '../../src/sea/row-batch.ts'
import { NOTHING_MEASURED } from '../index/nothing_measured.ts'
import { compass, energy } from '../oracle/oracle.ts'
import { rounds } from '../rounds.ts'

/** One row in codes; `null` where nothing was measured. */
interface Row {
  time: number
  height: number
  maximum: number | null
  period: number | null
  temperature: number | null
  direction: number | null
}

const row: fc.Arbitrary<Row> = fc.record({
  time: fc.oneof(
    fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    fc.constantFrom(0, 86_399, 86_400, 1_774_569_600, 2 ** 31, 2 ** 32 - 1),
  ),
  height: fc.oneof(fc.integer({ min: 0, max: 25_000 }), fc.constantFrom(0, 1, 1500, 25_000)),
  maximum: fc.option(fc.integer({ min: 0, max: 50_000 })),
  period: fc.option(fc.oneof(fc.integer({ min: 0, max: 60_000 }), fc.constantFrom(0, 60_000))),
  temperature: fc.option(fc.integer({ min: -500, max: 4500 })),
  direction: fc.option(
    fc.oneof(fc.integer({ min: 0, max: 35_999 }), fc.constantFrom(1124, 1125, 34_874, 34_875)),
  ),
})
const buoyId = fc.oneof(fc.integer({ min: 1, max: 900_000 }), fc.constantFrom(1, 9999, 10_000, 900_000))

function rowsOf(rows: Row[], hasTemperature: boolean): MonthRows {
  const whole = (codes: Uint16Array | Int16Array) => ({ codes, mask: -1 })
  const unsigned = (of: (each: Row) => number | null) =>
    whole(Uint16Array.from(rows, (each) => of(each) ?? 0xffff))
  return {
    file: 'a part',
    month: 0,
    buoys: Uint32Array.of(1),
    start: Uint32Array.of(0, rows.length),
    time: Uint32Array.from(rows, ({ time }) => time),
    measures: {
      ...NOTHING_MEASURED,
      significantHeight: unsigned(({ height }) => height),
      maximumHeight: unsigned(({ maximum }) => maximum),
      period: unsigned(({ period }) => period),
      direction: unsigned(({ direction }) => direction),
      ...(hasTemperature && {
        waterTemperature: whole(Int16Array.from(rows, ({ temperature }) => temperature ?? -0x8000)),
      }),
    },
  }
}

const per = (code: number | null, scale: number): number | null => (code === null ? null : code / scale)

function objectOf(id: number, each: Row, hasTemperature: boolean) {
  const hex = each.time.toString(16).padStart(12, '0')
  return {
    id: id * 1e10 + each.time,
    uuid: `${hex.slice(0, 8)}-${hex.slice(8)}-8000-8000-${id.toString(16).padStart(12, '0')}`,
    significient_height: each.height / 1000,
    maximum_height: per(each.maximum, 1000),
    period: per(each.period, 1000),
    time: new Date(each.time * 1000).toISOString().replace('.000', ''),
    water_temperature: hasTemperature ? per(each.temperature, 100) : null,
    direction: per(each.direction, 100),
    direction_compass: each.direction === null ? null : compass(each.direction / 100),
    unit: 'm',
    energy_per_wave: energy(each.height / 1000, per(each.period, 1000)),
  }
}

/** A writer full of bytes that would show where they are not overwritten. */
function dirtyWriter(readings: number): JsonWriter {
  const out = new JsonWriter(readings * READING_BYTES)
  out.bytes.fill(0xff)
  return out
}

const runOf = (month: MonthRows, isDescending: boolean): MonthRun => {
  const count = month.time.length
  return { month, from: isDescending ? count - 1 : 0, step: isDescending ? -1 : 1, count }
}

const textOf = (out: JsonWriter): string => new TextDecoder('utf-8', { fatal: true }).decode(out.answer())

test('Pages of readings, upwards and downwards, are the bytes of their objects.', () => {
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      buoyId,
      fc.boolean(),
      fc.boolean(),
      (rows, id, hasTemperature, isDescending) => {
        const out = dirtyWriter(rows.length)
        const columns = rowsOf(rows, hasTemperature)
        writeReadings(out, id, runOf(columns, isDescending))
        const objects = (isDescending ? rows.toReversed() : rows).map((each) =>
          objectOf(id, each, hasTemperature),
        )
        // Energies are compared apart: two orders of multiplication may round a half differently.
        const written = JSON.parse(`[${textOf(out).slice(0, -1)}]`) as typeof objects
        for (const [i, object] of objects.entries()) {
          const energy = written[i].energy_per_wave
          const isClose =
            energy === object.energy_per_wave || Math.abs((energy ?? -9) - object.energy_per_wave!) <= 1
          assert.ok(isClose, `${energy} is not ${object.energy_per_wave}`)
          object.energy_per_wave = energy
        }
        assert.equal(textOf(out), objects.map((object) => `${JSON.stringify(object)},`).join(''))
      },
    ),
    { numRuns: 1500 },
  )
})

/** All that `include` adds. */
const EVERYTHING = (1 << EXTRA_GROUPS.length) - 1

/** A row with a code of every measure, some of them missing. */
const fullRow = fc.record({
  time: row.map(({ time }) => time),
  codes: fc.record(
    Object.fromEntries(
      MEASURE_NAMES.map((name) => {
        const { min, max, scale, missing } = MEASURES[name]
        const code = fc.integer({ min: Math.round(min * scale), max: Math.round(max * scale) - 1 })
        // A reading has a height.
        return [name, name === 'significantHeight' ? code : fc.oneof(code, fc.constant(missing))]
      }),
    ) as { [name in MeasureName]: fc.Arbitrary<number> },
  ),
})

test('What writes readings fast writes the cells of their columns, which are the definition.', () => {
  fc.assert(
    fc.property(
      fc.array(fullRow, { minLength: 1, maxLength: 20 }),
      fc.subarray([...MEASURE_NAMES]),
      buoyId,
      fc.boolean(),
      (rows, present, id, isDescending) => {
        const columnOf = (name: MeasureName): MeasureColumn => {
          if (name !== 'significantHeight' && !present.includes(name)) return NOTHING_MEASURED[name]
          const codes = missingColumn(MEASURES[name], rows.length)
          for (const [i, each] of rows.entries()) codes[i] = each.codes[name]
          return { codes, mask: -1 }
        }
        const month: MonthRows = {
          ...rowsOf([], false),
          time: Uint32Array.from(rows, ({ time }) => time),
          measures: Object.fromEntries(
            MEASURE_NAMES.map((name) => [name, columnOf(name)]),
          ) as MonthRows['measures'],
        }
        const run: ReadingRun = { ...runOf(month, isDescending), id }
        const written = (form: RowForm): string => {
          const out = dirtyWriter(rows.length)
          const pieces = rowPieces({ runs: [() => run] }, form)
          assert.ok(pieces.next(out))
          return textOf(out)
        }
        const listOf = (columns: readonly Column[]): string => {
          const table = { columns, runs: [() => run] } as unknown as Table
          return written(jsonListForm(table, { key: 'readings' }, columns))
        }
        const list = (items: string): string => `{"readings":[${items}]}`

        const page = dirtyWriter(rows.length)
        writeReadings(page, id, run)
        assert.equal(list(textOf(page).slice(0, -1)), listOf(readingColumns()))

        const single = dirtyWriter(2 * rows.length)
        for (let i = 0; i < run.count; i++) {
          if (i > 0) single.comma()
          const place = { month, row: run.from + i * run.step }
          single.ensure(READING_BYTES)
          writeReading(single, id, place)
          addExtras(single, place, EVERYTHING)
        }
        assert.equal(list(textOf(single)), listOf(readingColumns(EVERYTHING)))

        const columns = [...readingColumns(), text('name', () => 'x'), integer('n', () => 7)]
        const csv = csvForm(columns, { units: '0', hasMark: false })
        const bulk = csvReadings(id, 'x,7')
        assert.equal(written({ ...csv, bulk, rowBytes: bulk.rowBytes }), written(csv))
      },
    ),
    { numRuns: rounds(300, 5000) },
  )
})

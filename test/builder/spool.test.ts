/** Rows through the spool against one object per row, in memory and by way of files. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { COMMON_NAMES as NAMES, type MeasureName } from '../../src/sea/columns.ts'
import { monthPart, type MonthTable } from '../../src/builder/month-tables.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { Spool } from '../../src/builder/spool.ts'
import { batchOf, type FakeRow } from './fake_source.ts'
import { folderOfFile } from '../live.ts'

const folder = folderOfFile()

/** What a row without waves keeps. */
const WEATHER = ['waterTemperature', 'windSpeed', 'windDirection', 'gustSpeed'] as const

interface Delivery {
  handle: number
  feed: number
  rows: FakeRow[]
}

/** Rows by buoy, as a table gives them and as they should be. */
type Table = { id: number; rows: FakeRow[] }[]

const isMissing = (name: MeasureName, code: number): boolean =>
  code === (name === 'waterTemperature' ? -32_768 : 65_535)

function tableOf(table: MonthTable, names: readonly MeasureName[]): Table {
  return Array.from(table.buoys, (id, i) => ({
    id,
    rows: Array.from({ length: table.start[i + 1] - table.start[i] }, (_, offset) => {
      const row = table.start[i] + offset
      const codes = names.flatMap((name) => {
        const code = table.columns[name][row]
        return isMissing(name, code) ? [] : [[name, code] as const]
      })
      return { time: table.time[row], ...Object.fromEntries(codes) }
    }),
  }))
}

function pick(row: FakeRow, names: readonly MeasureName[]): FakeRow {
  return {
    time: row.time,
    ...Object.fromEntries(names.flatMap((name) => (row[name] === undefined ? [] : [[name, row[name]]]))),
  }
}

type Merged = Map<number, Map<number, FakeRow>>

/**
 * What the rules of `Sink.rows` make of the deliveries, by id and time: within a feed the row that came later
 * replaces the earlier one, a lower feed wins over a higher one, which fills what is missing.
 */
function mergedRows(deliveries: Delivery[], month: string): Merged {
  const byId = new Map<number, Map<number, Map<number, FakeRow>>>()
  for (const { handle, feed, rows } of deliveries) {
    const id = idOf(handle)
    if (id === 0) continue
    const byTime = byId.get(id) ?? new Map<number, Map<number, FakeRow>>()
    byId.set(id, byTime)
    for (const row of rows) {
      if (new Date(row.time * 1000).toISOString().slice(0, 7) !== month) continue
      const byFeed = byTime.get(row.time) ?? new Map<number, FakeRow>()
      byTime.set(row.time, byFeed)
      byFeed.set(feed, row)
    }
  }
  return new Map(
    [...byId].map(([id, byTime]) => [
      id,
      new Map(
        [...byTime].map(([time, byFeed]) => {
          const feeds = [...byFeed].toSorted(([a], [b]) => b - a).map(([, row]) => row)
          return [time, Object.assign({}, ...feeds) as FakeRow]
        }),
      ),
    ]),
  )
}

/** The two tables of a month: readings, and what others measured of weather. */
function tablesOf(merged: Merged, asOf: number): { readings: Table; weather: Table } {
  const readings: Table = []
  const weather: Table = []
  for (const [id, byTime] of [...merged].toSorted(([a], [b]) => a - b)) {
    const rows = [...byTime.values()].filter(({ time }) => time <= asOf).toSorted((a, b) => a.time - b.time)
    const waves = rows.filter((row) => row.significantHeight !== undefined)
    const others = rows
      .filter((row) => row.significantHeight === undefined && WEATHER.some((name) => row[name] !== undefined))
      .map((row) => pick(row, WEATHER))
    if (waves.length > 0) readings.push({ id, rows: waves.map((row) => pick(row, NAMES)) })
    if (others.length > 0) weather.push({ id, rows: others })
  }
  return { readings, weather }
}

const monthNumber = (month: string): number =>
  (Number(month.slice(0, 4)) - 1970) * 12 + Number(month.slice(5)) - 1
const at = (text: string): number => Date.parse(text) / 1000

// Few moments, so that they meet; on both sides of borders of months, a leap day among them.
const moments = fc.oneof(
  fc.constantFrom(
    at('2024-01-31T23:59:59Z'),
    at('2024-02-01T00:00:00Z'),
    at('2024-02-29T23:59:59Z'),
    at('2024-03-01T00:00:00Z'),
    at('1970-01-01T00:00:00Z'),
    2 ** 32 - 1,
  ),
  fc.integer({ min: 0, max: 12 }).map((step) => at('2024-02-10T00:00:00Z') + step * 1800),
)
const rows = fc.record(
  {
    time: moments,
    significantHeight: fc.nat(25_000),
    period: fc.nat(60_000),
    peakPeriod: fc.nat(3),
    waterTemperature: fc.integer({ min: -500, max: 4500 }),
    windSpeed: fc.nat(50_000),
  },
  { requiredKeys: ['time'] },
)
const deliveries = fc.array(
  fc.record({ handle: fc.nat(3), feed: fc.nat(2), rows: fc.array(rows, { maxLength: 30 }) }),
  { maxLength: 7 },
)

/** The third handle is left out, the others have ids in another order than their handles. */
function idOf(handle: number): number {
  return [30, 10, 0, 20][handle]
}

let spools = 0

function check(given: Delivery[], budget: number | undefined, asOf: number): void {
  const dir = join(folder, `spool-${spools++}`)
  const spool = budget === undefined ? new Spool(dir) : new Spool(dir, budget)
  for (const { handle, feed, rows: list } of given) spool.add(handle, feed, batchOf(list))
  const all = given.flatMap(({ rows: list }) => list)
  const months = [
    ...new Set(all.map(({ time }) => new Date(time * 1000).toISOString().slice(0, 7))),
  ].toSorted()
  assert.deepEqual(
    spool.months(),
    months.map((month) => monthNumber(month)),
  )
  for (const month of months) {
    const tables = spool.take(monthNumber(month), idOf, asOf)
    const expected = tablesOf(mergedRows(given, month), asOf)
    assert.equal(tables.readings.month, monthNumber(month))
    assert.deepEqual(tableOf(tables.readings, NAMES), expected.readings)
    assert.deepEqual(tableOf(tables.weather, WEATHER), expected.weather)
    // Taken is gone.
    assert.equal(spool.take(monthNumber(month), idOf, asOf).readings.time.length, 0)
  }
  assert.deepEqual(spool.months(), [])
  spool.close()
  assert.equal(existsSync(dir), false)
}

const cuts = fc.constantFrom(2 ** 32, at('2024-02-10T03:00:00Z'), at('2024-02-01T00:00:00Z'), 0)

test('Rows come out merged, sorted and cut by month and time as one object per row would be, also where they went through files.', () => {
  fc.assert(
    fc.property(deliveries, cuts, fc.constantFrom(undefined, 0), (given, asOf, budget) =>
      check(given, budget, asOf),
    ),
    { numRuns: 200 },
  )
})

test('A new row replaces the row of its time as a whole, in both tables; an empty row removes it.', () => {
  fc.assert(
    fc.property(deliveries, deliveries, cuts, (older, newer, asOf) => {
      const month = '2024-02'
      const number = monthNumber(month)
      const first = new Spool(join(folder, 'older'))
      for (const { handle, feed, rows: list } of older) first.add(handle, feed, batchOf(list))
      const { readings, weather } = first.take(number, idOf, 2 ** 32)
      const base = (
        [
          ['readings', readings],
          ['weather', weather],
        ] as const
      ).map(([kind, table]) => readMonth(monthPart(kind, table), number, kind))
      const second = new Spool(join(folder, 'newer'))
      for (const { handle, feed, rows: list } of newer) second.add(handle, feed, batchOf(list))
      const tables = second.take(number, idOf, asOf, base)

      const kept = tablesOf(mergedRows(older, month), 2 ** 32)
      const merged: Merged = new Map()
      for (const { id, rows: list } of [...kept.readings, ...kept.weather]) {
        merged.set(
          id,
          new Map([...(merged.get(id) ?? []), ...list.map((row): [number, FakeRow] => [row.time, row])]),
        )
      }
      for (const [id, byTime] of mergedRows(newer, month)) {
        merged.set(id, new Map([...(merged.get(id) ?? []), ...byTime]))
      }
      const expected = tablesOf(merged, asOf)
      assert.deepEqual(tableOf(tables.readings, NAMES), expected.readings)
      assert.deepEqual(tableOf(tables.weather, WEATHER), expected.weather)
    }),
    { numRuns: 200 },
  )
})

test('Long deliveries of one buoy, in order and interleaved with others, lose no row.', () => {
  const start = at('2024-02-01T00:00:00Z')
  const long = (handle: number, count: number, step: number): FakeRow[] =>
    Array.from({ length: count }, (_, i) => ({
      time: start + i * step,
      // Runs of readings and of weather of many lengths.
      ...((i >> 4) % 3 === 0 || i % 50 === 7
        ? { windSpeed: i % 50_000 }
        : { significantHeight: (i * 7 + handle) % 25_000 }),
      waterTemperature: (i % 5000) - 500,
    }))
  const halves = long(1, 6000, 240)
  const given = [
    { handle: 0, feed: 0, rows: long(0, 20_000, 120) },
    { handle: 1, feed: 0, rows: halves.slice(3000) },
    { handle: 3, feed: 0, rows: long(3, 100, 3600).toReversed() },
    { handle: 1, feed: 0, rows: halves.slice(0, 3000) },
  ]
  check(given, undefined, start + 15 * 86_400 + 60)
  check(given, 1_000_000, 2 ** 32)
})

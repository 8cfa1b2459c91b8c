import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MEASURES, type Measure } from '../../src/sea/columns.ts'
import { isShort, Series, type SeasonDates, type Bucket, type SeriesYear } from '../../src/index/seasons.ts'
import { yearsOf } from '../../src/handlers/series.ts'
import type { MeasureRows } from '../../src/index/buckets.ts'
import type { Aggregates } from '../../src/index/day-aggregates.ts'
import { isDirection, NO_VALUE, type Aggregation } from '../../src/index/statistics.ts'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { zone, type Zone } from '../../src/sea/zones.ts'
import { fieldsOf } from '../fields.ts'
import { makeOracle, type Check } from '../oracle/oracle.ts'
import { emptyRow } from '../oracle/plans.ts'
import { smallWorld } from '../oracle/world.ts'

const WHOLE_YEAR: SeasonDates = { startMonth: 1, startDay: 1, endMonth: 12, endDay: 31 }
const dates = (startMonth: number, startDay: number, endMonth: number, endDay: number): SeasonDates => ({
  startMonth,
  startDay,
  endMonth,
  endDay,
})
function known(name: string): Zone {
  const found = zone(name)
  assert.ok(found)
  return found
}

const epochOf = (text: string): number => Date.parse(text) / 1000

/** Rows as one segment: times in epoch seconds with the code of each. */
function segment(rows: readonly (readonly [number, number])[], signed = false): MeasureRows {
  const codes = rows.map(([, code]) => code)
  return {
    time: Uint32Array.from(rows, ([time]) => time),
    codes: signed ? Int16Array.from(codes) : Uint16Array.from(codes),
    from: 0,
    to: rows.length,
  }
}

/** A row every `step` seconds from `start` to before `end`. */
function steady(start: string, end: string, step: number, code = 1000): MeasureRows {
  const rows: [number, number][] = []
  for (let time = epochOf(start); time < epochOf(end); time += step) rows.push([time, code])
  return segment(rows)
}

interface Asked {
  zone?: string
  dates?: SeasonDates
  bucket?: Bucket
  aggregation?: Aggregation
  measure?: Measure
  startYear: number
  endYear?: number
  asOf?: number
}

interface Point {
  ordinal: number
  label: string
  start: string
  end: string
  value: number
  count: number
}

/** Years of the series that `points` worked out last, each with its number of points. */
let years: (SeriesYear & { points: number })[] = []

/** The points of a series, year by year, as a client sees them. */
function points(asked: Asked, ...lists: MeasureRows[][]): Point[][] {
  const rules = known(asked.zone ?? 'UTC')
  const bucket = asked.bucket ?? 'day'
  const series = new Series(
    {
      zone: rules,
      dates: asked.dates ?? WHOLE_YEAR,
      bucket,
      aggregation: asked.aggregation ?? 'median',
      measure: asked.measure ?? MEASURES.significantHeight,
      startYear: asked.startYear,
      endYear: asked.endYear ?? asked.startYear,
      asOf: asked.asOf ?? epochOf('2026-03-27T09:00:00Z'),
      known: null,
    },
    () => lists,
  )
  const out = new JsonWriter(64)
  const written = (write: () => void): string => {
    out.begin()
    write()
    return Buffer.from(out.answer()).toString('latin1')
  }
  const text = (epoch: number): string =>
    written(() => out.localTime(epoch, rules.offsetAt(epoch))).slice(1, -1)
  const { startYear, endYear = startYear } = asked
  years = []
  return Array.from({ length: endYear - startYear + 1 }, (_, i) => {
    const season = series.season(startYear + i)
    years.push({ ...season, points: series.length })
    return Array.from({ length: series.length }, (_, point) => {
      const { start, end, ordinal } = series.bucket(point)
      return {
        ordinal,
        label: written(() => out.dayLabel(start + rules.offsetAt(start), bucket === 'hour')),
        start: text(start),
        end: text(end),
        value: series.value[point],
        count: series.count[point],
      }
    })
  })
}

function valueOf(codes: number[], aggregation: Aggregation, measure: Measure): number {
  const start = epochOf('2025-06-01T00:00:00Z')
  const rows = codes.map((code, i) => [start + i * 60, code] as const)
  const [year] = points({ aggregation, measure, startYear: 2025 }, [segment(rows, measure.signed)])
  assert.equal(year.length, 1)
  assert.equal(year[0].count, codes.length)
  return year[0].value
}

/** Where clocks change and days are left out, where years turn, and around 29 February. */
const EDGES = [
  ['Europe/Paris', '2026-03-29'],
  ['Europe/Paris', '2026-10-25'],
  ['Australia/Lord_Howe', '2025-10-05'],
  ['Australia/Lord_Howe', '2025-04-06'],
  ['Pacific/Apia', '2011-12-30'],
  ['America/Sao_Paulo', '2018-11-04'],
  ['Asia/Kathmandu', '2025-01-01'],
  ['Europe/Moscow', '2026-01-01'],
  ['UTC', '2024-02-29'],
  ['UTC', '2023-02-28'],
] as const

/** By metric: the measure, and what an aggregation may be. */
const METRICS = {
  significient_height: ['significantHeight', ['median', 'avg', 'min', 'max']],
  water_temperature: ['waterTemperature', ['median', 'avg', 'min', 'max']],
  direction: ['direction', ['median', 'avg']],
} as const

const dayOf = (date: Date): readonly [month: number, day: number] => [
  date.getUTCMonth() + 1,
  date.getUTCDate(),
]
const [ALPHA] = smallWorld().buoys

/** What may be asked about the days around an edge, and rows of those days in the years about it. */
const anyAsked = fc.constantFrom(...EDGES).chain(([zoneName, date]) => {
  const at = new Date(date)
  const day = fc.oneof(
    fc.integer({ min: -8, max: 8 }).map((days) => dayOf(new Date(at.getTime() + days * 86_400_000))),
    fc.constantFrom([1, 1] as const, [12, 31] as const, [2, 28] as const, [2, 29] as const, [3, 1] as const),
  )
  const time = fc
    .tuple(fc.constantFrom(-1, 0, 0, 0, 1), fc.integer({ min: -900, max: 900 }), fc.constantFrom(-1, 0, 0, 1))
    .map(([years, quarters, second]) => {
      const begin = Date.UTC(at.getUTCFullYear() + years, at.getUTCMonth(), at.getUTCDate()) / 1000
      return begin + quarters * 900 + second
    })
  const option = (min: number, max: number) => fc.option(fc.integer({ min, max }), { freq: 5 })
  const row = fc.record({
    time,
    significantHeight: option(0, 25_000),
    direction: option(0, 35_999),
    waterTemperature: option(-500, 4500),
  })
  const year = fc.option(
    fc.constantFrom(-13, -12, -11, -2, -1, 0, 0, 1, 2).map((years) => at.getUTCFullYear() + years),
    { freq: 1 },
  )
  return fc.record({
    zone: fc.constant(zoneName),
    metric: fc.constantFrom('significient_height', 'water_temperature', 'direction'),
    aggregation: fc.nat(3),
    bucket: fc.constantFrom('day', 'hour', 'week'),
    season: fc.option(fc.tuple(day, day), { freq: 2 }),
    years: fc.tuple(year, year),
    asOf: fc.oneof(time, fc.constant(at.getTime() / 1000 + 2 * 366 * 86_400)),
    rows: fc.uniqueArray(row, { selector: (one) => one.time, maxLength: 120, size: 'max' }),
    cut: fc.nat(120),
  })
})

test('Seasons, years, buckets and values are those of the oracle, around every edge of clocks and calendars.', () => {
  let compared = 0
  const property = fc.property(anyAsked, ({ metric, season, bucket, asOf, cut, ...given }) => {
    // A week that begins with the day that was left out has two right labels.
    fc.pre(given.zone !== 'Pacific/Apia' || bucket !== 'week')
    const [name, aggregations] = METRICS[metric]
    const measure = MEASURES[name]
    const aggregation = aggregations[given.aggregation % aggregations.length]
    const rows = given.rows.filter(({ time }) => time <= asOf).toSorted((a, b) => a.time - b.time)
    const [first, last] = season ?? [[1, 1] as const, [12, 31] as const]
    const [from, to] = given.years

    const parameters = { metric, bucket, aggregation, start_year: from, end_year: to }
    const days = { start_month: first[0], start_day: first[1], end_month: last[0], end_day: last[1] }
    const texts = Object.entries({ ...parameters, ...(season !== null && days) }).flatMap(([key, value]) =>
      value === null ? [] : [[key, String(value)] as const],
    )
    const inUnits = rows.map((row) => ({
      ...emptyRow(row.time),
      significantHeight: row.significantHeight === null ? null : row.significantHeight / 1000,
      direction: row.direction === null ? null : row.direction / 100,
      waterTemperature: row.waterTemperature === null ? null : row.waterTemperature / 100,
    }))
    const world = { ...smallWorld(), asOf, buoys: [{ ...ALPHA, timezone: given.zone, rows: inUnits }] }
    const question = { operation: 'series', buoyId: 'alpha', parameters: new Map(texts) } as const
    const { status, body } = makeOracle(world)(question)

    const of = dates(first[0], first[1], last[0], last[1])
    const asked = { start_year: from ?? undefined, end_year: to ?? undefined }
    const rangeOf = () => yearsOf(asked, known(given.zone), of, asOf)
    if (status === 422) {
      assert.throws(rangeOf, { code: 'validation_failed' })
      return
    }
    const range = rangeOf()
    const listOf = (some: typeof rows): MeasureRows =>
      segment(
        some.map((row) => [row.time, row[name] ?? measure.missing] as const),
        measure.signed,
      )
    const waves = rows.filter(({ significantHeight }) => significantHeight !== null)
    const weather = rows.filter(({ significantHeight }) => significantHeight === null)
    const lists = [[listOf(waves.slice(0, cut)), listOf(waves.slice(cut))]]
    if (metric === 'water_temperature') lists.push([listOf(weather)])
    const found = points(
      { zone: given.zone, dates: of, bucket, aggregation, measure, asOf, ...range },
      ...lists,
    )

    interface Expected {
      year: number
      complete: boolean
      points: {
        bucket_index: number
        label: string
        bucket_start: string
        bucket_end: string
        value: number | null | Check
        sample_count: number
      }[]
    }
    const expected = (body['data'] as unknown as { years: Expected[] }).years
    assert.deepEqual(
      fieldsOf(years, 'year', 'complete'),
      expected.map(({ year, complete }) => [year, complete]),
    )
    const scale = isDirection(measure) ? 1 : 100
    expected.forEach(({ points: all }, i) => {
      const told = all.map((one, at): Point => {
        // On a rounding tie of a circular mean either of two is right.
        const right = typeof one.value === 'function' ? one.value(found[i][at].value) : one.value
        const value = right === null ? NO_VALUE : Math.round((right as number) * scale)
        const { bucket_index: ordinal, label, bucket_start: start, bucket_end: end } = one
        return { ordinal, label, start, end, value, count: one.sample_count }
      })
      assert.deepEqual(found[i], told)
      compared += told.length
    })
  })
  fc.assert(property, { numRuns: 600 })
  assert.ok(compared > 3000, `${compared} points`)
})

test('The longest answer, thirteen years of hours, has every bucket.', () => {
  const rows = steady('2012-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 3600)
  const years = points({ bucket: 'hour', startYear: 2012, endYear: 2024 }, [rows])
  assert.deepEqual(
    years.map((year) => [year.length, year.at(-1)?.ordinal]),
    Array.from({ length: 13 }, (_, i) => [i % 4 === 0 ? 8784 : 8760, 8784]),
  )
})

test('The median of any number of samples is that of the sorted list.', () => {
  for (let n = 1; n <= 130; n++) {
    // Even hundredths, so that no middle of two is rounded.
    const codes = Array.from({ length: n }, (_, i) => ((i * 7919) % 1009) * 20)
    const sorted = codes.toSorted((a, b) => a - b)
    const expected = (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 20
    assert.equal(valueOf(codes, 'median', MEASURES.significantHeight), expected, `of ${n}`)
  }
})

test('The mean of directions is circular, in whole degrees from 0 to 359, and null where they cancel out.', () => {
  const mean = (...degrees: number[]): number => {
    const codes = degrees.map((degree) => Math.round(degree * 100))
    const value = valueOf(codes, 'median', MEASURES.direction)
    assert.equal(valueOf(codes, 'avg', MEASURES.windDirection), value)
    return value
  }
  const cases: [expected: number, ...degrees: number[]][] = [
    [0, 350, 10],
    [0, 359.6],
    [359, 359.4],
    [5, 350, 20],
    [11, 10, 11],
    [180, 90, 180, 270],
    [NO_VALUE, 10, 190],
    [NO_VALUE, 0, 120, 240],
    [NO_VALUE, 0, 90, 180, 270],
    // A resultant of 0.00009 is small, but it is one.
    [100, 10, 189.99],
    [280, 10, 190.01],
  ]
  for (const [expected, ...degrees] of cases) assert.equal(mean(...degrees), expected, degrees.join())
  // Among 1400 directions the same is too small.
  const pairs = Array.from({ length: 699 }, () => [10, 190]).flat()
  assert.equal(mean(...pairs, 10, 190.01), NO_VALUE)
})

test('More samples in a bucket than the first memory holds are all counted.', () => {
  const start = epochOf('2025-01-01T00:00:00Z')
  const first = Array.from({ length: 600 }, (_, i) => [start + i, 10_000] as const)
  const second = Array.from({ length: 4000 }, (_, i) => [start + i, i] as const)
  const [year] = points({ startYear: 2025, aggregation: 'avg' }, [segment(first)], [segment(second)])
  assert.deepEqual(fieldsOf(year, 'value', 'count'), [[304, 4600]])
})

test('A series is short by the rows it reads and the points it has, whatever the span.', () => {
  const [rules, measure] = [known('UTC'), MEASURES.period]
  /** Days of 2016 and later are known; those before `first`, a day of 2024, have no samples. */
  const shortOf =
    (first: string, list: readonly MeasureRows[]) =>
    (startYear: number, endYear: number, bucket: Bucket = 'day', asked = WHOLE_YEAR): boolean => {
      const begin = epochOf(first) / 86_400
      const aggregates = {
        knows: (year: number) => year >= 2016,
        daysWithin: (year: number, _: number, from: number, to: number) =>
          Math.max(
            0,
            epochOf(`${year}-01-01T00:00:00Z`) / 86_400 +
              to -
              Math.max(begin, epochOf(`${year}-01-01T00:00:00Z`) / 86_400 + from),
          ),
      } as unknown as Aggregates
      const of = {
        zone: rules,
        asOf: 0,
        aggregation: 'median',
        measure,
        known: { aggregates, ordinal: 0 },
      } as const
      return isShort({ ...of, startYear, endYear, bucket, dates: asked }, () => [list])
    }
  const empty = shortOf('2026-01-01T00:00:00Z', [])
  assert.ok(empty(2003, 2015) && empty(2016, 2025) && empty(2003, 2015, 'hour'))
  const full = shortOf('2016-01-01T00:00:00Z', [])
  // 3,653 known days, and 4,018.
  assert.deepEqual([full(2016, 2025), full(2016, 2026)], [true, false])
  const winter = dates(12, 1, 3, 10)
  assert.ok(full(2016, 2028, 'day', winter))

  const hourly = shortOf('2024-01-01T00:00:00Z', [
    steady('2024-01-01T00:00:00Z', '2024-04-01T00:00:00Z', 3600),
    steady('2024-04-01T00:00:00Z', '2025-01-01T00:00:00Z', 3600),
  ])
  // The segments of 2024 have 2,184 and 6,600 rows.
  assert.ok(hourly(2012, 2024, 'hour', dates(2, 1, 3, 1)))
  assert.ok(!hourly(2024, 2024, 'hour', dates(4, 1, 6, 1)))
  assert.ok(hourly(2012, 2024, 'week'))
  const dense = shortOf('2024-01-01T00:00:00Z', [steady('2015-01-01T00:00:00Z', '2015-07-20T00:00:00Z', 900)])
  const denser = shortOf('2024-01-01T00:00:00Z', [
    steady('2015-01-01T00:00:00Z', '2015-08-20T00:00:00Z', 900),
  ])
  // 19,200 rows, and 22,176.
  assert.deepEqual([dense(2015, 2015), denser(2015, 2015)], [true, false])
})

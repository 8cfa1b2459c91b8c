import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MEASURES } from '../../src/sea/columns.ts'
import type { Measure } from '../../src/sea/columns.ts'
import {
  isDayOfYear,
  lastCompleteSeason,
  lastDayOfMonth,
  seasonSpan,
  seasonYears,
} from '../../src/index/season-dates.ts'
import { Series } from '../../src/index/seasons.ts'
import type { SeasonDates } from '../../src/index/season-dates.ts'
import type { Bucket, SeriesRows, SeriesYear } from '../../src/index/seasons.ts'
import { isDirection, NO_VALUE, type Aggregation } from '../../src/index/statistics.ts'
import { finish } from '../../src/system/steps.ts'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { zone } from '../../src/sea/zones.ts'
import type { Zone } from '../../src/sea/zones.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

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
const iso = (epoch: number): string => new Date(epoch * 1000).toISOString().slice(0, 19)

/** Rows as one segment: times in epoch seconds with the code of each. */
function segment(rows: readonly (readonly [number, number])[], signed = false): SeriesRows {
  const codes = rows.map(([, code]) => code)
  return {
    time: Uint32Array.from(rows, ([time]) => time),
    codes: signed ? Int16Array.from(codes) : Uint16Array.from(codes),
    from: 0,
    to: rows.length,
  }
}

/** A row every `step` seconds from `start` to before `end`. */
function steady(start: string, end: string, step: number, code = 1000): SeriesRows {
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
function points(asked: Asked, ...lists: SeriesRows[][]): Point[][] {
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
    const season = finish(series.season(startYear + i))
    years.push({ ...season, points: series.length })
    return Array.from({ length: series.length }, (_, point) => {
      const start = series.start(point)
      return {
        ordinal: series.ordinal(point),
        label: written(() => out.dayLabel(start + rules.offsetAt(start), bucket === 'hour')),
        start: text(start),
        end: text(series.end(point)),
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

// Seasons and years

test('Days of the year are those of a leap year.', () => {
  assert.ok(isDayOfYear(2, 29))
  assert.ok(isDayOfYear(12, 31))
  for (const [month, day] of [
    [2, 30],
    [4, 31],
    [13, 1],
    [0, 1],
    [1, 0],
    [1, 32],
    [-1, 5],
  ] as const) {
    assert.ok(!isDayOfYear(month, day), `${month}-${day}`)
  }
  assert.deepEqual([1, 2, 4, 12].map(lastDayOfMonth), [31, 29, 30, 31])
})

test('A season lies between two local midnights and may cross New Year.', () => {
  const paris = known('Europe/Paris')
  const span = (of: SeasonDates, year: number): string[] => {
    const { start, end } = seasonSpan(paris, of, year)
    return [iso(start), iso(end)]
  }
  assert.deepEqual(span(WHOLE_YEAR, 2025), ['2024-12-31T23:00:00', '2025-12-31T23:00:00'])
  assert.deepEqual(span(dates(12, 1, 2, 28), 2024), ['2024-11-30T23:00:00', '2025-02-28T23:00:00'])
  assert.deepEqual(span(dates(4, 1, 9, 30), 2025), ['2025-03-31T22:00:00', '2025-09-30T22:00:00'])
  // A whole year that begins in summer; one day; the day before the start.
  assert.deepEqual(span(dates(7, 1, 6, 30), 2024), ['2024-06-30T22:00:00', '2025-06-30T22:00:00'])
  assert.deepEqual(span(dates(7, 14, 7, 14), 2025), ['2025-07-13T22:00:00', '2025-07-14T22:00:00'])
})

test('29 February as an end is 28 February in other years, as a start 1 March.', () => {
  const utc = known('UTC')
  const span = (of: SeasonDates, year: number): string[] => {
    const { start, end } = seasonSpan(utc, of, year)
    return [iso(start).slice(0, 10), iso(end).slice(0, 10)]
  }
  assert.deepEqual(span(dates(1, 1, 2, 29), 2024), ['2024-01-01', '2024-03-01'])
  assert.deepEqual(span(dates(1, 1, 2, 29), 2025), ['2025-01-01', '2025-03-01'])
  assert.deepEqual(span(dates(12, 1, 2, 29), 2023), ['2023-12-01', '2024-03-01'])
  assert.deepEqual(span(dates(2, 29, 3, 31), 2024), ['2024-02-29', '2024-04-01'])
  assert.deepEqual(span(dates(2, 29, 3, 31), 2025), ['2025-03-01', '2025-04-01'])
  assert.deepEqual(span(dates(2, 29, 2, 28), 2024), ['2024-02-29', '2025-03-01'])
  assert.deepEqual(span(dates(1, 1, 2, 28), 2024), ['2024-01-01', '2024-02-29'])
  // Nothing of a season that is that day alone is left in other years.
  assert.deepEqual(span(dates(2, 29, 2, 29), 2024), ['2024-02-29', '2024-03-01'])
  assert.deepEqual(span(dates(2, 29, 2, 29), 2025), ['2025-03-01', '2025-03-01'])
  assert.deepEqual(
    points({ dates: dates(2, 29, 2, 29), startYear: 2023, endYear: 2024 }, [
      steady('2023-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 3600),
    ]).map((year) => year.map(({ label, ordinal, count }) => [label, ordinal, count])),
    [[], [['Feb 29', 1, 24]]],
  )
})

test('The last complete season is the latest whose last local day is over.', () => {
  const paris = known('Europe/Paris')
  const last = (of: SeasonDates, asOf: string): number => lastCompleteSeason(paris, of, epochOf(asOf))
  assert.equal(last(WHOLE_YEAR, '2026-03-27T09:00:00Z'), 2025)
  assert.equal(last(WHOLE_YEAR, '2025-12-31T22:59:59Z'), 2024)
  assert.equal(last(WHOLE_YEAR, '2025-12-31T23:00:00Z'), 2025)
  assert.equal(last(dates(12, 1, 2, 29), '2026-02-28T22:59:59Z'), 2024)
  assert.equal(last(dates(12, 1, 2, 29), '2026-02-28T23:00:00Z'), 2025)
  assert.equal(last(dates(1, 1, 1, 31), '2026-03-27T09:00:00Z'), 2026)
  assert.equal(last(dates(7, 1, 6, 30), '2026-03-27T09:00:00Z'), 2024)
})

test('A range of years without an end closes with the last complete season, without a start it has ten.', () => {
  assert.deepEqual(seasonYears(undefined, undefined, 2025), { startYear: 2016, endYear: 2025 })
  assert.deepEqual(seasonYears(undefined, 2020, 2025), { startYear: 2011, endYear: 2020 })
  assert.deepEqual(seasonYears(2020, undefined, 2025), { startYear: 2020, endYear: 2025 })
  assert.deepEqual(seasonYears(2014, 2026, 2025), { startYear: 2014, endYear: 2026 })
  assert.deepEqual(seasonYears(2020, 2020, 2025), { startYear: 2020, endYear: 2020 })
  assert.equal(seasonYears(2013, 2026, 2025), 'too many seasons')
  assert.equal(seasonYears(2000, undefined, 2025), 'too many seasons')
  assert.equal(seasonYears(2021, 2020, 2025), 'start after end')
  assert.equal(seasonYears(2026, undefined, 2025), 'start after end')
})

test('A year is complete once its last day is over, and every year asked for is listed, an empty one without points.', () => {
  const rows = steady('2024-12-30T00:00:00Z', '2025-01-02T00:00:00Z', 1800)
  const asOf = epochOf('2025-12-31T22:30:00Z')
  const asked = { startYear: 2022, endYear: 2026, asOf }
  points({ ...asked, zone: 'Europe/Paris' }, [rows])
  assert.deepEqual(fieldsOf(years, 'year', 'complete', 'points'), [
    [2022, true, 0],
    [2023, true, 0],
    [2024, true, 2],
    [2025, false, 2],
    [2026, false, 0],
  ])
  points({ ...asked, zone: 'Europe/Paris', startYear: 2025, asOf: epochOf('2025-12-31T23:00:00Z') }, [rows])
  assert.deepEqual(fieldOf(years, 'complete'), [true, false])
  // Two hours further east the same instant is in the next year.
  points({ ...asked, zone: 'Europe/Moscow' }, [rows])
  assert.deepEqual(fieldOf(years, 'complete'), [true, true, true, true, false])
  assert.deepEqual(points({ startYear: 2025 }), [[]])
})

test('A season over New Year belongs to the year in which it starts.', () => {
  const rows = steady('2023-11-01T00:00:00Z', '2025-04-01T00:00:00Z', 3600)
  const [first, second] = points({ dates: dates(12, 1, 2, 29), startYear: 2023, endYear: 2024 }, [rows])
  assert.equal(first.length, 91)
  assert.equal(second.length, 90)
  assert.deepEqual(
    [first[0].start, first.at(-1)?.label, first.at(-1)?.ordinal],
    ['2023-12-01T00:00:00+00:00', 'Feb 29', 91],
  )
  assert.deepEqual(
    [second[31].start, second.at(-1)?.label, second.at(-1)?.ordinal],
    ['2025-01-01T00:00:00+00:00', 'Feb 28', 90],
  )
})

// Buckets

/** What a clock on the wall shows: `2026-03-29T03:00:00+02:00`. */
function onTheWall(timeZone: string): (epoch: number) => string {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (epoch) => {
    const local = format.format(epoch * 1000).replace(' ', 'T')
    const minutes = Math.abs(epochOf(`${local}Z`) - epoch) / 60
    const [hours, rest] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
      String(part).padStart(2, '0'),
    )
    return `${local}${epochOf(`${local}Z`) < epoch ? '-' : '+'}${hours}:${rest}`
  }
}

/** The day's or hour's label and ordinal, by the calendar of a leap year. */
function placeOf(text: string, bucket: Bucket, { startMonth, startDay }: SeasonDates): [number, string] {
  const [, month, day] = text.slice(0, 10).split('-').map(Number)
  const inLeapYear = (m: number, d: number): number => Date.UTC(2024, m - 1, d) / 86_400_000
  const days = (inLeapYear(month, day) - inLeapYear(startMonth, startDay) + 366) % 366
  const names = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  const label = `${names[month - 1]} ${text.slice(8, 10)}`
  if (bucket === 'day') return [days + 1, label]
  return [days * 24 + Number(text.slice(11, 13)) + 1, `${label} ${text.slice(11, 13)}:00`]
}

for (const [what, zone, date] of [
  ['the day of 23 hours', 'Europe/Paris', '2026-03-29'],
  ['the day of 25 hours', 'Europe/Paris', '2026-10-25'],
  ['a half hour that is skipped', 'Australia/Lord_Howe', '2025-10-05'],
  ['a half hour that comes twice', 'Australia/Lord_Howe', '2025-04-06'],
  ['a day that was left out', 'Pacific/Apia', '2011-12-30'],
  ['a midnight that does not exist', 'America/Sao_Paulo', '2018-11-04'],
  ['New Year', 'Asia/Kathmandu', '2025-01-01'],
  ['29 February', 'UTC', '2024-02-29'],
  ['28 February of another year', 'UTC', '2023-02-28'],
] as const) {
  test(`Around ${what}, days and hours have the rows that a clock on the wall puts there.`, () => {
    const wall = onTheWall(zone)
    const step = 900
    for (const [before, length] of [
      [0, 0],
      [0, 3],
      [1, 1],
      [3, 6],
    ]) {
      const first = new Date(Date.parse(date) - before * 86_400_000)
      const last = new Date(first.getTime() + length * 86_400_000)
      const [from, to] = [first, last].map((day) => day.toISOString().slice(0, 10))
      const of = dates(first.getUTCMonth() + 1, first.getUTCDate(), last.getUTCMonth() + 1, last.getUTCDate())
      const rows: [number, number][] = []
      for (
        let time = first.getTime() / 1000 - 86_400;
        time < last.getTime() / 1000 + 3 * 86_400;
        time += step
      )
        rows.push([time, 1000])
      for (const bucket of ['day', 'hour'] as const) {
        const expected = new Map<string, Point>()
        for (const [time] of rows) {
          const text = wall(time)
          if (text.slice(0, 10) < from || text.slice(0, 10) > to) continue
          const [ordinal, label] = placeOf(text, bucket, of)
          const point = expected.get(label) ?? { ordinal, label, start: text, end: '', value: 100, count: 0 }
          expected.set(label, { ...point, end: wall(time + step - 1), count: point.count + 1 })
        }
        const asked = { zone, bucket, dates: of, startYear: first.getUTCFullYear() }
        assert.deepEqual(
          points(asked, [segment(rows)]),
          [[...expected.values()]],
          `${bucket} ${from} to ${to}`,
        )
      }
    }
  })
}

test('Days and hours keep an ordinal for 29 February, weeks do not.', () => {
  const rows = steady('2023-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 3600)
  const ordinal = (bucket: Bucket, of: SeasonDates, year: number, label: string): number | undefined =>
    points({ bucket, dates: of, startYear: year }, [rows])[0].find((point) => point.label === label)?.ordinal
  for (const [label, number] of [
    ['Feb 28', 59],
    ['Mar 01', 61],
    ['Dec 31', 366],
  ] as const) {
    assert.equal(ordinal('day', WHOLE_YEAR, 2023, label), number)
    assert.equal(ordinal('day', WHOLE_YEAR, 2024, label), number)
  }
  assert.equal(ordinal('day', WHOLE_YEAR, 2024, 'Feb 29'), 60)
  assert.equal(ordinal('hour', WHOLE_YEAR, 2023, 'Mar 01 05:00'), 60 * 24 + 6)
  assert.equal(ordinal('hour', WHOLE_YEAR, 2024, 'Mar 01 05:00'), 60 * 24 + 6)
  assert.equal(ordinal('week', WHOLE_YEAR, 2023, 'Mar 05'), 10)
  assert.equal(ordinal('week', WHOLE_YEAR, 2024, 'Mar 04'), 10)
  // Only where the season spans the date, and from the first ordinal on where it starts with it.
  assert.equal(ordinal('day', dates(3, 1, 12, 31), 2023, 'Mar 02'), 2)
  assert.equal(ordinal('day', dates(2, 29, 12, 31), 2023, 'Mar 01'), 2)
  assert.equal(ordinal('day', dates(2, 29, 12, 31), 2024, 'Feb 29'), 1)
  assert.equal(ordinal('day', dates(10, 1, 9, 30), 2023, 'Mar 01'), 153)
  assert.equal(ordinal('day', dates(2, 10, 2, 5), 2023, 'Mar 01'), 21)
  assert.equal(ordinal('day', dates(2, 10, 2, 5), 2023, 'Jan 01'), 327)
})

test('Weeks are runs of seven days from the start of the season; the last may be short.', () => {
  const rows = steady('2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 3600)
  const [year] = points({ bucket: 'week', startYear: 2025 }, [rows])
  assert.equal(year.length, 53)
  assert.deepEqual(
    [0, 1, 51, 52].map((i) => [year[i].ordinal, year[i].label, year[i].end.slice(0, 10), year[i].count]),
    [
      [1, 'Jan 01', '2025-01-07', 168],
      [2, 'Jan 08', '2025-01-14', 168],
      [52, 'Dec 24', '2025-12-30', 168],
      [53, 'Dec 31', '2025-12-31', 24],
    ],
  )
})

test('The longest answer, thirteen years of hours, has every bucket.', () => {
  const rows = steady('2012-01-01T00:00:00Z', '2025-01-01T00:00:00Z', 3600)
  const years = points({ bucket: 'hour', startYear: 2012, endYear: 2024 }, [rows])
  assert.deepEqual(
    years.map((year) => [year.length, year.at(-1)?.ordinal]),
    Array.from({ length: 13 }, (_, i) => [i % 4 === 0 ? 8784 : 8760, 8784]),
  )
})

// Values

test('Values have two decimals, rounded once from the exact fraction, halves away from zero.', () => {
  const { significantHeight: height, waterTemperature: temperature } = MEASURES
  assert.equal(valueOf([1234], 'median', height), 123)
  assert.equal(valueOf([1235], 'median', height), 124)
  assert.equal(valueOf([1000, 3000, 1500], 'median', height), 150)
  assert.equal(valueOf([1210, 1220], 'median', height), 122)
  assert.equal(valueOf([1214, 1215], 'median', height), 121)
  assert.equal(valueOf([1000, 1000, 2000], 'avg', height), 133)
  assert.equal(valueOf([0], 'median', height), 0)
  assert.equal(valueOf([2500, 1234, 1999], 'min', height), 123)
  assert.equal(valueOf([2500, 2515, 1999], 'max', height), 252)
  assert.equal(valueOf([-151, -150], 'median', temperature), -151)
  assert.equal(valueOf([-1, 0], 'avg', temperature), -1)
  assert.equal(valueOf([-151, 20, 3], 'min', temperature), -151)
  assert.equal(valueOf([-151, -20], 'max', temperature), -20)
})

test('The mean of directions is circular, in whole degrees from 0 to 359, and null where they cancel out.', () => {
  const mean = (...degrees: number[]): number => {
    const codes = degrees.map((degree) => Math.round(degree * 100))
    const value = valueOf(codes, 'median', MEASURES.direction)
    assert.equal(valueOf(codes, 'avg', MEASURES.windDirection), value)
    return value
  }
  assert.equal(mean(350, 10), 0)
  assert.equal(mean(359.6), 0)
  assert.equal(mean(359.4), 359)
  assert.equal(mean(350, 20), 5)
  assert.equal(mean(10, 11), 11)
  assert.equal(mean(359, 0), 0)
  assert.equal(mean(180), 180)
  assert.equal(mean(90, 180, 270), 180)
  assert.equal(mean(10, 190), NO_VALUE)
  assert.equal(mean(0, 120, 240), NO_VALUE)
  assert.equal(mean(0, 90, 180, 270), NO_VALUE)
  // A resultant of 0.00009 is small, but it is one.
  assert.equal(mean(10, 189.99), 100)
  assert.equal(mean(10, 190.01), 280)
  // Among 1400 directions the same is too small.
  const pairs = Array.from({ length: 699 }, () => [10, 190]).flat()
  assert.equal(mean(...pairs, 10, 190.01), NO_VALUE)
})

test('Directions have no minimum or maximum, and a series has one to thirteen years.', () => {
  assert.ok(isDirection(MEASURES.direction) && isDirection(MEASURES.windDirection))
  assert.ok(!isDirection(MEASURES.significantHeight) && !isDirection(MEASURES.waterTemperature))
  for (const aggregation of ['min', 'max'] as const) {
    assert.throws(() => points({ aggregation, measure: MEASURES.direction, startYear: 2025 }), RangeError)
  }
  assert.throws(() => points({ startYear: 2025, endYear: 2024 }), RangeError)
  assert.throws(() => points({ startYear: 2012, endYear: 2025 }), RangeError)
  assert.equal(points({ startYear: 2013, endYear: 2025 }).length, 13)
})

test('Missing values are not samples, and a bucket of missing values is left out.', () => {
  const { missing } = MEASURES.significantHeight
  const rows = segment([
    [epochOf('2025-01-01T00:00:00Z'), missing],
    [epochOf('2025-01-02T00:00:00Z'), 1000],
    [epochOf('2025-01-02T01:00:00Z'), missing],
    [epochOf('2025-01-02T02:00:00Z'), 3000],
  ])
  const [year] = points({ startYear: 2025 }, [rows])
  assert.deepEqual(fieldsOf(year, 'ordinal', 'value', 'count'), [[2, 200, 2]])
})

test('The first and the last second of a season are in it, the seconds around them are not.', () => {
  const rows = [
    '2024-12-31T23:59:59Z',
    '2025-01-01T00:00:00Z',
    '2025-12-31T23:59:59Z',
    '2026-01-01T00:00:00Z',
  ]
  const segments = rows.map((time, i) => segment([[epochOf(time), 1000 * (i + 1)]]))
  for (const list of [segments, [segment(rows.map((time, i) => [epochOf(time), 1000 * (i + 1)]))]]) {
    const [year] = points({ startYear: 2025 }, list)
    assert.deepEqual(fieldsOf(year, 'ordinal', 'value', 'count'), [
      [1, 200, 1],
      [366, 300, 1],
    ])
  }
})

test('More samples in a bucket than the first memory holds are all counted.', () => {
  const start = epochOf('2025-01-01T00:00:00Z')
  const first = Array.from({ length: 600 }, (_, i) => [start + i, 10_000] as const)
  const second = Array.from({ length: 4000 }, (_, i) => [start + i, i] as const)
  const [year] = points({ startYear: 2025, aggregation: 'avg' }, [segment(first)], [segment(second)])
  assert.deepEqual(fieldsOf(year, 'value', 'count'), [[304, 4600]])
})

test('A circular mean is within a degree of the naive one and turns with its directions.', () => {
  const codes = fc.array(fc.integer({ min: 0, max: 35_999 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(codes, fc.integer({ min: 0, max: 359 }), (list, turn) => {
      let [x, y] = [0, 0]
      for (const code of list) {
        x += Math.cos((code / 18_000) * Math.PI)
        y += Math.sin((code / 18_000) * Math.PI)
      }
      fc.pre(Math.sqrt(x * x + y * y) / list.length > 2e-6)
      const mean = valueOf(list, 'avg', MEASURES.direction)
      assert.ok(mean >= 0 && mean <= 359 && Number.isInteger(mean))
      const apart = (a: number, b: number): number => Math.abs(((((a - b) % 360) + 540) % 360) - 180)
      assert.ok(apart(mean, (Math.atan2(y, x) / Math.PI) * 180) <= 0.5 + 1e-6)
      const turned = list.map((code) => (code + turn * 100) % 36_000)
      assert.ok(apart(valueOf(turned, 'avg', MEASURES.direction), mean + turn) <= 1)
    }),
  )
})

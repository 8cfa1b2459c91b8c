/** The kinds of parts other than the catalogue, as views on their bytes; `check-snapshot.ts` checks them. */
import {
  AGGREGATE_COLUMNS,
  STREAM_WORDS,
  STREAMS_OF_BUOY,
  type AggregateYear,
} from '../index/day-aggregates.ts'
import { FORECAST_COLUMNS, type ForecastCodes, type ForecastColumns } from '../index/forecast.ts'
import { PASS_COLUMNS, type PassColumns } from '../index/passes.ts'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import { TIDE_COLUMNS, type TideColumns } from '../index/tides.ts'
import { MEASURE_NAMES, MEASURES, type Codes, type MeasureName, FORECAST_NAMES } from '../sea/columns.ts'
import { monthText } from '../sea/time.ts'
import { column, columnsOf, expectLength } from './part-columns.ts'
import {
  expect,
  list,
  record,
  sha256,
  text,
  textOrNull,
  texts,
  type Part,
  type PartEntry,
} from './snapshot-format.ts'

/** Columns of rows without any measure. */
export const NO_MEASURES = Object.fromEntries(
  MEASURE_NAMES.map((name) => {
    const { signed, missing } = MEASURES[name]
    return [name, { codes: signed ? Int16Array.of(missing) : Uint16Array.of(missing), mask: 0 }]
  }),
) as { [name in MeasureName]: MeasureColumn }

const ALL_ROWS = -1

/**
 * Readings (rows with a significant height) or weather (rows without) of a month.
 * @throws SnapshotError when a column is missing, of another type, or of another length than the rows
 */
export function readMonth(part: Part, month: number, file: string): MonthRows {
  const isOfMonth = part.meta.month === monthText(month)
  expect(isOfMonth, file, `is not of ${monthText(month)}, as the manifest says`)
  const time = column(part, 'time', Uint32Array, file)
  const peakPeriod = sharedColumn(part, file)
  const measure = (name: MeasureName): MeasureColumn => {
    const codes = part.columns.get(name === 'peakPeriod' ? peakPeriod : name)
    if (codes === undefined) return NO_MEASURES[name]
    const fits = MEASURES[name].signed ? codes instanceof Int16Array : codes instanceof Uint16Array
    const otherwise = `column ${name} has ${codes.length} rows or another type, expected ${time.length}`
    expect(fits && codes.length === time.length, file, otherwise)
    return { codes: codes as Codes, mask: ALL_ROWS }
  }
  return {
    file,
    month,
    buoys: column(part, 'buoy', Uint32Array, file),
    start: column(part, 'start', Uint32Array, file),
    time,
    measures: Object.fromEntries(MEASURE_NAMES.map((name) => [name, measure(name)])) as MonthRows['measures'],
  }
}

/** Networks that know one period have its column once. */
function sharedColumn(part: Part, file: string): 'period' | 'peakPeriod' {
  const { peakPeriod, ...others } = record(part.meta.aliases, `${file}: aliases`)
  expect(
    (peakPeriod === undefined || peakPeriod === 'period') && Object.keys(others).length === 0,
    file,
    'an alias is not of the peak period for the period',
  )
  return peakPeriod === undefined ? 'peakPeriod' : 'period'
}

const MONTHS_OF_YEAR = 12
/** Calendar year of a month counted from January 1970. */
export const yearOfMonth = (month: number): number => 1970 + Math.floor(month / MONTHS_OF_YEAR)
/** January of a year, counted from January 1970: the month of its part in a manifest. */
export const januaryOf = (year: number): number => (year - 1970) * MONTHS_OF_YEAR

/** Whether a part holds the rows of a month: readings, or weather. */
export const hasRows = ({ kind }: PartEntry): boolean => kind === 'readings' || kind === 'weather'

/** Hash of the monthly parts that a year's aggregates are made from. */
export function madeFrom(parts: readonly PartEntry[], year: number): string {
  const months = parts.filter((entry) => hasRows(entry) && yearOfMonth(entry.month!) === year)
  const names = months.map(({ month, kind, sha256 }) => `${month} ${kind} ${sha256}`).sort()
  return sha256(Buffer.from(names.join('\n')))
}

/** @throws SnapshotError when a column is missing, of another type, or of another length than the buoys */
export function readAggregates(part: Part, month: number, file: string): AggregateYear {
  const year = yearOfMonth(month)
  expect(
    part.meta.year === year && januaryOf(year) === month,
    file,
    'is not of the year that the manifest says',
  )
  const buoys = column(part, 'buoy', Uint32Array, file)
  const columns = columnsOf(part, AGGREGATE_COLUMNS, file)
  const { zone, first, days, streams } = columns
  expectLength(buoys.length, [zone, first, days], file)
  expectLength(buoys.length * STREAMS_OF_BUOY * STREAM_WORDS, [streams], file)
  const zones = list(part.meta.zones, `${file}: zones`).map((entry) => {
    const [name, rules] = list(entry, `${file}: zone`)
    return { name: text(name, `${file}: zones`), rules: text(rules, `${file}: zones`) }
  })
  return { file, year, zones, buoys, ...columns }
}

/**
 * Satellite passes newest first, which is the order of the answer, with their observations.
 * @throws SnapshotError when a column is missing or of another type, or lengths disagree
 */
export function readPasses(part: Part, file: string): PassColumns {
  const passes = columnsOf(part, PASS_COLUMNS, file)
  const { first, buoy, time, ...each } = passes
  expectLength(each.mission.length, [...Object.values(each), first.subarray(1)], file)
  expectLength(buoy.length, [time], file)
  expect(first[0] === 0 && first.at(-1) === buoy.length, file, 'passes and observations disagree')
  return passes
}

/**
 * Points of the sea, each with one model run's values: 20 bytes a time.
 * @throws SnapshotError when a column is missing, of another type, or of another length than the rows
 */
export function readForecast(part: Part, file: string): ForecastColumns {
  const { time, start, ...points } = columnsOf(part, FORECAST_COLUMNS, file)
  const types = Object.fromEntries(FORECAST_NAMES.map((name) => [name, Uint16Array] as const))
  const codes = columnsOf(part, types, file) as ForecastCodes
  expectLength(points.lat.length, [...Object.values(points), start.subarray(1)], file)
  expectLength(time.length, Object.values(codes), file)
  const what = `${file}: models`
  const models = list(part.meta.models, what).map((entry) => {
    const { model, credit } = record(entry, what)
    return { model: textOrNull(model, what), credit: textOrNull(credit, what) }
  })
  return { ...points, models, start, time, codes }
}

/** @throws SnapshotError when anything in the part is not what `tidesPart` writes */
export function readTides(part: Part, file: string): TideColumns {
  const datumOffset = column(part, 'datum_offset', Float64Array, file)
  const columns = columnsOf(part, TIDE_COLUMNS, file)
  const { lat, lng, credit, start, constituent, amplitude, phase } = columns
  const [constituents, credits, identifiers, names] = (
    ['constituents', 'credits', 'identifiers', 'names'] as const
  ).map((name) => texts(part.meta[name], `${file}: ${name}`))
  expectLength(lat.length, [lng, datumOffset, credit, identifiers, names, start.subarray(1)], file)
  expectLength(constituent.length, [amplitude, phase], file)
  return { constituents, credits, identifiers, names, datumOffset, ...columns }
}

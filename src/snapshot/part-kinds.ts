/** The kinds of parts other than the catalogue, as views on their bytes; `check-snapshot.ts` checks them. */
import { STREAM_WORDS, STREAMS_OF_BUOY, type AggregateYear } from '../index/day-aggregates.ts'
import type { ForecastCodes, ForecastColumns, ForecastModel } from '../index/forecast.ts'
import type { PassColumns } from '../index/passes.ts'
import type { MeasureColumn, MonthRows } from '../index/segments.ts'
import type { TideColumns } from '../index/tides.ts'
import {
  MEASURE_NAMES,
  MEASURES,
  type Codes,
  type Column,
  type Measure,
  type MeasureName,
} from '../sea/columns.ts'
import { FORECAST_NAMES, type ForecastName } from '../sea/forecast-names.ts'
import { monthText } from '../sea/time.ts'
import { column } from './part-columns.ts'
import {
  expect,
  list,
  record,
  sha256,
  SnapshotError,
  text,
  textOrNull,
  texts,
  type Part,
  type PartEntry,
} from './snapshot-format.ts'

const ABSENT = Object.fromEntries(
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
  if (part.meta.month !== monthText(month)) {
    throw new SnapshotError(`${file}: is not of ${monthText(month)}, as the manifest says`)
  }
  const time = column(part, 'time', Uint32Array, file)
  const aliases = readAliases(part, file)
  const measure = (name: MeasureName): MeasureColumn => {
    const codes = part.columns.get(aliases.get(name) ?? name)
    if (codes === undefined) return ABSENT[name]
    const fits = MEASURES[name].signed ? codes instanceof Int16Array : codes instanceof Uint16Array
    if (!fits || codes.length !== time.length) {
      throw new SnapshotError(
        `${file}: column ${name} has ${codes.length} rows or another type, expected ${time.length}`,
      )
    }
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

/** Measures that share the column of another one, which must have the same unit and scale. */
function readAliases(part: Part, file: string): Map<MeasureName, MeasureName> {
  const measureOf = (name: unknown): Measure | undefined => {
    const known = MEASURE_NAMES.find((measure) => measure === name)
    return known === undefined ? undefined : MEASURES[known]
  }
  return new Map(
    Object.entries(record(part.meta.aliases, `${file}: aliases`)).map(([name, other]) => {
      const [measure, same] = [measureOf(name), measureOf(other)]
      if (
        measure === undefined ||
        same === undefined ||
        !isAlike(measure, same) ||
        !part.columns.has(same.name)
      ) {
        throw new SnapshotError(`${file}: an alias is not of a measure for another of its kind`)
      }
      return [measure.name, same.name]
    }),
  )
}

function isAlike(a: Measure, b: Measure): boolean {
  return a.unit === b.unit && a.scale === b.scale && a.signed === b.signed && a.max === b.max
}

const MONTHS_OF_YEAR = 12
/** Calendar year of a month counted from January 1970. */
export const yearOfMonth = (month: number): number => 1970 + Math.floor(month / MONTHS_OF_YEAR)
/** January of a year, counted from January 1970: the month of its part in a manifest. */
export const januaryOf = (year: number): number => (year - 1970) * MONTHS_OF_YEAR

/** Hash of the monthly parts that a year's aggregates are made from. */
export function madeFrom(parts: readonly PartEntry[], year: number): string {
  const months = parts.filter(
    ({ kind, month }) => month !== null && kind !== 'aggregates' && yearOfMonth(month) === year,
  )
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
  const zone = column(part, 'zone', Uint16Array, file)
  const first = column(part, 'first', Uint16Array, file)
  const days = column(part, 'days', Uint16Array, file)
  const streams = column(part, 'streams', Int32Array, file)
  const count = buoys.length
  expect(
    [zone, first, days].every(({ length }) => length === count) &&
      streams.length === count * STREAMS_OF_BUOY * STREAM_WORDS,
    file,
    'its columns differ in length',
  )
  return {
    file,
    year,
    zones: list(part.meta.zones, `${file}: zones`).map((entry) => {
      const [name, rules] = list(entry, `${file}: zone`)
      return { name: text(name, `${file}: zones`), rules: text(rules, `${file}: zones`) }
    }),
    buoys,
    zone,
    first,
    days,
    streams,
    bytes: column(part, 'bytes', Uint8Array, file),
    words: column(part, 'words', Uint16Array, file),
    doubles: column(part, 'doubles', Uint32Array, file),
  }
}

/** The monthly parts that the part claims to be made from. @throws SnapshotError */
export function saidMadeFrom(part: Part, file: string): string {
  return text(part.meta.made_from, `${file}: made_from`)
}

const PASS_COLUMNS = {
  mission: Uint8Array,
  cycle: Uint32Array,
  number: Uint16Array,
  started: Uint32Array,
  ended: Uint32Array,
  south: Float64Array,
  west: Float64Array,
  north: Float64Array,
  east: Float64Array,
  first: Uint32Array,
  buoy: Uint32Array,
  time: Uint32Array,
} as const

/**
 * Satellite passes newest first, which is the order of the answer, with their observations.
 * @throws SnapshotError when a column is missing or of another type, or lengths disagree
 */
export function readPasses(part: Part, file: string): PassColumns {
  const columns: { [name: string]: Column } = {}
  for (const [name, ColumnArray] of Object.entries(PASS_COLUMNS)) {
    const column = part.columns.get(name)
    if (!(column instanceof ColumnArray)) throw new SnapshotError(`${file}: has no column ${name}`)
    columns[name] = column
  }
  const passes = columns as unknown as PassColumns
  const { first, buoy, time, mission } = passes
  const rows = mission.length
  for (const name of ['cycle', 'number', 'started', 'ended', 'south', 'west', 'north', 'east'] as const) {
    if (passes[name].length !== rows) throw new SnapshotError(`${file}: its columns differ in length`)
  }
  if (
    first.length !== rows + 1 ||
    first[0] !== 0 ||
    first[rows] !== buoy.length ||
    buoy.length !== time.length
  )
    throw new SnapshotError(`${file}: passes and observations disagree`)
  return passes
}

/**
 * Points of the sea, each with one model run's values: 20 bytes a time.
 * @throws SnapshotError when a column is missing, of another type, or of another length than the rows
 */
export function readForecast(part: Part, file: string): ForecastColumns {
  const time = column(part, 'time', Uint32Array, file)
  const lat = column(part, 'lat', Float64Array, file)
  const codesOf = (name: ForecastName): Uint16Array => {
    const codes = column(part, name, Uint16Array, file)
    if (codes.length !== time.length) {
      throw new SnapshotError(`${file}: column ${name} has ${codes.length} rows, expected ${time.length}`)
    }
    return codes
  }
  const columns = {
    lat,
    lng: column(part, 'lng', Float64Array, file),
    run: column(part, 'run', Uint32Array, file),
    // Older parts have no such column.
    ...(part.columns.has('model') && { model: column(part, 'model', Uint16Array, file) }),
    models: readModels(part, file),
    start: column(part, 'start', Uint32Array, file),
    time,
    codes: Object.fromEntries(FORECAST_NAMES.map((name) => [name, codesOf(name)])) as ForecastCodes,
  }
  const { lng, run, model = lat, start } = columns
  if (
    lng.length !== lat.length ||
    run.length !== lat.length ||
    model.length !== lat.length ||
    start.length !== lat.length + 1
  ) {
    throw new SnapshotError(`${file}: the columns of the points differ in length`)
  }
  return columns
}

function readModels(part: Part, file: string): ForecastModel[] {
  const what = `${file}: models`
  return list(part.meta.models ?? [], what).map((entry) => {
    const { model, credit } = record(entry, what)
    return { model: textOrNull(model, what), credit: textOrNull(credit, what) }
  })
}

/** @throws SnapshotError when anything in the part is not what `tidesPart` writes */
export function readTides(part: Part, file: string): TideColumns {
  return {
    constituents: texts(part.meta.constituents, `${file}: constituents`),
    credits: texts(part.meta.credits, `${file}: credits`),
    identifiers: texts(part.meta.identifiers, `${file}: identifiers`),
    names: texts(part.meta.names, `${file}: names`),
    lat: column(part, 'lat', Float64Array, file),
    lng: column(part, 'lng', Float64Array, file),
    datumOffset: column(part, 'datum_offset', Float64Array, file),
    credit: column(part, 'credit', Uint16Array, file),
    start: column(part, 'start', Uint32Array, file),
    constituent: column(part, 'constituent', Uint16Array, file),
    amplitude: column(part, 'amplitude', Float32Array, file),
    phase: column(part, 'phase', Float32Array, file),
  }
}

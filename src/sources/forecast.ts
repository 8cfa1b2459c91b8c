/**
 * Forecasts as the public services answer them, one answer a file: Open-Meteo JSON (marine and weather, one
 * place or many), CoverageJSON of OGC EDR services, and the griddap or tabledap JSON of ERDDAP. What a file
 * is, is told by its content. Some services answer one quantity at a time, so what belongs to one point is
 * gathered over all files.
 *
 *     DIR/*          answers, plain or gzip, named as you like
 *     DIR/points.csv file,lat,lng: places of the answers that do not say where they are (many EDR services leave it out)
 *
 * A file that cannot be understood is reported and skipped whole.
 */
import { join } from 'node:path'
import { MEASURES } from '../sea/columns.ts'
import { wrapLongitude } from '../sea/geo.ts'
import { directionBetween, LONGEST_STEP } from '../index/forecast.ts'
import { buildPoints, Points } from '../index/points.ts'
import { pointKey } from '../sea/geo.ts'
import { parseBounded } from './reading/documents.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import { FORECAST_MEASURES, FORECAST_NAMES, type ForecastName, type ForecastRecord } from '../sea/records.ts'
import {
  degreesOf,
  Fields,
  isoSeconds,
  listFolder,
  readText,
  splitSeparated,
  textsOf,
} from './reading/text.ts'

/**
 * An answer is held whole, as text and as objects, some ten times its size: ask for fewer places at a time.
 */
const MAX_ANSWER_BYTES = 64 * 2 ** 20
const POSITIONS_FILE = 'points.csv'
const MAX_POSITIONS_BYTES = 16 * 2 ** 20
const COMMA = 44

/**
 * Weather and wave models have grids of their own. A point with waves but no wind takes the wind of the
 * nearest point within this many km: a little more than half the diagonal of a quarter-degree cell.
 */
const WIND_REACH_KM = 25

/** What is counted when an answer is of something else, air temperature for instance. */
const NOTHING_USED = 'no wave or wind forecast'

type Values = (number | null)[]

/** Values of a file's own columns at one place, in the file's own units. */
interface Series {
  lat: number
  lng: number
  /** Epoch seconds. */
  runAt: number
  /** Ascending epoch seconds. */
  times: number[]
  columns: Map<string, SeriesColumn>
}

interface SeriesColumn {
  unit: string
  /** The name of the CF convention, where the file gives one. */
  standardName: string
  values: Values
}

/** One quantity at one place, in the contract's unit. */
interface Quantity {
  runAt: number
  times: number[]
  values: Values
}

/** All that the files say of one place. */
interface Place {
  lat: number
  lng: number
  quantities: { [name in ForecastName]?: Quantity }
}

type Positions = ReadonlyMap<string, { lat: number; lng: number }>

/** Says what a file is not; never carries any of its text. */
class FormatFault extends Error {}

/** Opens `folder` as a set of forecast answers. */
export const openForecast: OpenSource = (folder) => ({
  read: (sink, context) => readFolder(folder, sink, context),
})

async function readFolder(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const root = await listFolder(folder)
  if (root === null) throw new BuildError(`forecast: there is no folder ${folder}`)
  const positions = root.files.includes(POSITIONS_FILE)
    ? await readPositions(join(folder, POSITIONS_FILE), report.file(join(folder, POSITIONS_FILE)))
    : new Map<string, never>()
  const places = new Map<string, Place>()
  for (const name of root.files) {
    if (name === POSITIONS_FILE) continue
    const path = join(folder, name)
    const file = report.file(path)
    try {
      const series = seriesOf(await readText(path, file, MAX_ANSWER_BYTES), positions.get(name))
      if (series.length === 0) file.skipped(NOTHING_USED)
      // A fault shows before anything of the file has been taken.
      const taken = series.map((one) => ({ one, quantities: quantitiesOf(one, file) }))
      for (const { one, quantities } of taken) {
        gather(places, one, quantities)
        file.rows(one.times.length)
      }
      file.end()
    } catch (error) {
      if (!(error instanceof FormatFault)) throw error
      report.warn(`forecast: skipped ${JSON.stringify(path)}: ${error.message}`)
    }
  }
  const records = recordsOf(places)
  if (records.length === 0) report.warn(`forecast: ${folder} has no forecast`)
  for (const record of records) sink.forecast(record)
}

async function readPositions(path: string, file: FileReport): Promise<Positions> {
  const bytes = await readText(path, file, MAX_POSITIONS_BYTES)
  const fields = new Fields()
  splitSeparated(bytes, 0, COMMA, fields)
  if (textsOf(bytes, fields).join() !== 'file,lat,lng') {
    throw new BuildError(`${path}: the header is not file,lat,lng`)
  }
  const positions = new Map<string, { lat: number; lng: number }>()
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, COMMA, fields)
    const [name, latText, lngText] = textsOf(bytes, fields)
    if (fields.count === 1 && name === '') continue
    const lat = degreesOf(latText ?? '', 90)
    const lng = degreesOf(lngText ?? '', 180)
    if (fields.fault !== null || fields.count !== 3 || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(line, fields.fault ?? 'not a file name, a latitude and a longitude')
      continue
    }
    positions.set(name, { lat, lng })
    file.rows(1)
  }
  file.end()
  return positions
}

// What a file is.

type Json = { [key: string]: unknown }

/** @throws FormatFault */
function seriesOf(bytes: Uint8Array, position: { lat: number; lng: number } | undefined): Series[] {
  const parsed = parseBounded(bytes)
  if ('fault' in parsed) throw new FormatFault(parsed.fault)
  const answer = parsed.value
  const first: unknown = Array.isArray(answer) ? answer[0] : answer
  if (isJson(first)) {
    if (isJson(first.hourly)) return (Array.isArray(answer) ? answer : [answer]).map(openMeteoSeries)
    if (first.type === 'Coverage') return coverageSeries(first, first.parameters, position)
    if (first.type === 'CoverageCollection') {
      return listOf(first.coverages, 'coverages').flatMap((coverage) =>
        coverageSeries(jsonOf(coverage, 'a coverage'), first.parameters, position),
      )
    }
    if (isJson(first.table)) return tableSeries(first.table)
  }
  throw new FormatFault('it is neither Open-Meteo JSON, CoverageJSON nor ERDDAP JSON')
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function jsonOf(value: unknown, what: string): Json {
  if (!isJson(value)) throw new FormatFault(`${what} is not an object`)
  return value
}

function listOf(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new FormatFault(`${what} is not a list`)
  return value
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function valuesOf(list: readonly unknown[], length: number, what: string): Values {
  if (list.length !== length) throw new FormatFault(`${what} does not have one value for each time`)
  return list.map((value) => {
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value
    throw new FormatFault(`${what} holds something that is not a number`)
  })
}

/** @throws FormatFault for what is no place on the globe; longitudes up to 360 are brought into −180…180. */
function placeOf(lat: unknown, lng: unknown): { lat: number; lng: number } {
  if (typeof lat !== 'number' || typeof lng !== 'number' || !(Math.abs(lat) <= 90 && Math.abs(lng) <= 360)) {
    throw new FormatFault('its position is not on the globe')
  }
  return { lat, lng: wrapLongitude(lng) }
}

const encoder = new TextEncoder()

/** ISO 8601 to epoch seconds; without a zone it is UTC plus `offset` seconds. @throws FormatFault */
function secondsOf(value: unknown, offset: number): number {
  const bytes = encoder.encode(textOf(value))
  const zoned = isoSeconds(bytes, 0, bytes.length, 'offset')
  if (zoned >= 0) return zoned
  const local = isoSeconds(bytes, 0, bytes.length, 'none')
  if (local < 0) throw new FormatFault('a time is not ISO 8601 in whole seconds')
  return inRange(local - offset)
}

function inRange(seconds: number): number {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds > 0xffff_ffff) {
    throw new FormatFault('a time lies before 1970 or after February 2106')
  }
  return seconds
}

function ascending(times: number[]): number[] {
  if (times.length === 0) throw new FormatFault('it has no times')
  if (times.some((time, i) => i > 0 && time <= times[i - 1])) throw new FormatFault('its times do not ascend')
  return times
}

/**
 * Open-Meteo says nothing of its run, so that is taken to begin with the first time. Times are local to the
 * answer's offset.
 */
function openMeteoSeries(value: unknown): Series {
  const answer = jsonOf(value, 'an answer')
  const hourly = jsonOf(answer.hourly, 'hourly')
  const units = isJson(answer.hourly_units) ? answer.hourly_units : {}
  const offset = answer.utc_offset_seconds ?? 0
  if (typeof offset !== 'number' || Math.abs(offset) > 86_400)
    throw new FormatFault('utc_offset_seconds is not an offset in seconds')
  const times = ascending(
    listOf(hourly.time, 'hourly.time').map((time) =>
      typeof time === 'number' ? inRange(time) : secondsOf(time, offset),
    ),
  )
  const columns = new Map<string, SeriesColumn>()
  for (const [name, list] of Object.entries(hourly)) {
    if (!isKnownLabel(name)) continue
    // Its own default for wind is km/h; units of the rest are those of the contract unless it says otherwise.
    const unit = textOf(units[name]) || (name.includes('speed') ? 'km/h' : '')
    columns.set(name.toLowerCase(), {
      unit,
      standardName: '',
      values: valuesOf(listOf(list, name), times.length, name),
    })
  }
  return { ...placeOf(answer.latitude, answer.longitude), runAt: times[0], times, columns }
}

/** A table with one row per time and place. The run is the first time. */
function tableSeries(table: Json): Series[] {
  const labels = listOf(table.columnNames, 'columnNames').map(textOf)
  const units = (Array.isArray(table.columnUnits) ? table.columnUnits : []).map(textOf)
  const [timeField, latField, lngField] = ['time', 'latitude', 'longitude'].map((label) => {
    const field = labels.indexOf(label)
    if (field < 0) throw new FormatFault(`the table has no column ${label}`)
    return field
  })
  const used = labels.flatMap((label, field) => (isKnownLabel(label) ? [{ label, field }] : []))
  const places = new Map<string, { times: number[]; rows: unknown[][]; lat: number; lng: number }>()
  for (const entry of listOf(table.rows, 'rows')) {
    const row = listOf(entry, 'a row')
    if (row.length !== labels.length)
      throw new FormatFault('a row has another number of fields than the header')
    const { lat, lng } = placeOf(row[latField], row[lngField])
    const key = pointKey(lat, lng)
    let place = places.get(key)
    if (place === undefined) {
      place = { times: [], rows: [], lat, lng }
      places.set(key, place)
    }
    place.times.push(secondsOf(row[timeField], 0))
    place.rows.push(row)
  }
  return [...places.values()].map(({ times, rows, lat, lng }) => ({
    lat,
    lng,
    runAt: ascending(times)[0],
    times,
    columns: new Map(
      used.map(({ label, field }) => [
        label.toLowerCase(),
        {
          unit: units[field] ?? '',
          standardName: '',
          values: valuesOf(
            rows.map((row) => row[field]),
            times.length,
            label,
          ),
        },
      ]),
    ),
  }))
}

/** Names of the axis that tells when the run was made. */
const RUN_AXES = ['forecast_reference_time', 'reference_time', 'run_time']

/** A coverage over times, at one place or on a grid of places; every other axis must have one value. */
function coverageSeries(
  coverage: Json,
  sharedParameters: unknown,
  position: { lat: number; lng: number } | undefined,
): Series[] {
  const axes = jsonOf(jsonOf(coverage.domain, 'domain').axes, 'axes')
  const times = ascending(axisOf(axes, 't').map((time) => secondsOf(time, 0)))
  const runAxis = RUN_AXES.find((name) => name in axes)
  const runAt = runAxis === undefined ? times[0] : secondsOf(axisOf(axes, runAxis)[0], 0)
  const isPlaced = 'x' in axes && 'y' in axes
  if (!isPlaced && position === undefined) {
    throw new FormatFault(`it does not say where it is: name its place in ${POSITIONS_FILE}`)
  }
  const xs = isPlaced ? axisOf(axes, 'x') : [position!.lng]
  const ys = isPlaced ? axisOf(axes, 'y') : [position!.lat]
  const parameters = isJson(coverage.parameters) ? coverage.parameters : sharedParameters
  const ranges = Object.entries(jsonOf(coverage.ranges, 'ranges')).flatMap(([name, range]) => {
    const { unit, standardName } = parameterOf(parameters, name)
    if (!isKnownLabel(name) && !isKnownLabel(standardName)) return []
    const { values, at } = rangeOf(jsonOf(range, name), name, {
      t: times.length,
      x: xs.length,
      y: ys.length,
    })
    return [{ label: isKnownLabel(name) ? name : standardName, unit, standardName, values, at }]
  })
  // Without it an empty answer could name a grid of any size.
  if (ranges.length === 0) return []
  return ys.flatMap((y, row) =>
    xs.map((x, column) => {
      const { lat, lng } = placeOf(y, x)
      const columns = new Map<string, SeriesColumn>()
      for (const { label, unit, standardName, values, at } of ranges) {
        const ofPlace = times.map((_, t) => values[at(t, column, row)])
        columns.set(label.toLowerCase(), {
          unit,
          standardName,
          values: valuesOf(ofPlace, times.length, label),
        })
      }
      return { lat, lng, runAt, times, columns }
    }),
  )
}

function axisOf(axes: Json, name: string): unknown[] {
  const axis = jsonOf(axes[name], `axis ${name}`)
  if (Array.isArray(axis.values) && axis.values.length > 0) return axis.values
  const { start, stop, num } = axis
  if (typeof start !== 'number' || typeof stop !== 'number' || typeof num !== 'number') {
    throw new FormatFault(`axis ${name} has no values`)
  }
  if (!(Number.isInteger(num) && num >= 1 && num <= 100_000)) {
    throw new FormatFault(`axis ${name} has an impossible number of values`)
  }
  return Array.from({ length: num }, (_, i) => (num === 1 ? start : start + ((stop - start) * i) / (num - 1)))
}

function parameterOf(parameters: unknown, name: string): { unit: string; standardName: string } {
  const parameter = isJson(parameters) && isJson(parameters[name]) ? parameters[name] : {}
  const observed = isJson(parameter.observedProperty) ? parameter.observedProperty : {}
  const unit = isJson(parameter.unit) ? parameter.unit : {}
  const symbol = isJson(unit.symbol) ? unit.symbol.value : unit.symbol
  const label = isJson(unit.label) ? unit.label.en : undefined
  return {
    unit: textOf(symbol) || textOf(label),
    // As a bare name or as the end of an address.
    standardName: textOf(observed.id).replace(/^.*[/#]/, ''),
  }
}

/** The values of a range in row-major order, and where among them time t of column x and row y stands. */
function rangeOf(
  range: Json,
  name: string,
  lengths: { readonly [axis: string]: number },
): { values: unknown[]; at: (t: number, x: number, y: number) => number } {
  const values = listOf(range.values, `the values of ${name}`)
  const names = range.axisNames === undefined ? ['t'] : listOf(range.axisNames, 'axisNames').map(textOf)
  const shape = range.shape === undefined ? [values.length] : listOf(range.shape, 'shape')
  const strides = new Map<string, number>()
  let size = 1
  for (let i = names.length - 1; i >= 0; i--) {
    const length = lengths[names[i]] ?? 1
    if (shape[i] !== length) {
      throw new FormatFault(`${name} has another shape than its axes, or more than one run or level`)
    }
    strides.set(names[i], size)
    size *= length
  }
  if (shape.length !== names.length || values.length !== size) {
    throw new FormatFault(`${name} has another number of values than its shape`)
  }
  for (const [axis, length] of Object.entries(lengths)) {
    if (length > 1 && !strides.has(axis)) throw new FormatFault(`${name} does not run along axis ${axis}`)
  }
  const [t, x, y] = ['t', 'x', 'y'].map((axis) => strides.get(axis) ?? 0)
  return { values, at: (time, column, row) => time * t + column * x + row * y }
}

// What its columns are.

/**
 * Names of a quantity in the answers of Open-Meteo, WAVEWATCH III and GFS-Wave, Copernicus Marine and the CF
 * convention, the preferred ones first: periods of the peak before means, since `period` is that of the
 * dominant waves.
 */
const LABELS: { readonly [name in ForecastName]: readonly string[] } = {
  waveHeight: ['wave_height', 'hs', 'swh', 'htsgw', 'thgt', 'vhm0', 'sea_surface_wave_significant_height'],
  wavePeriod: [
    'wave_period',
    'tp',
    'perpw',
    'tper',
    'vtpk',
    'sea_surface_wave_period_at_variance_spectral_density_maximum',
    't01',
    'vtm10',
    't02',
    'vtm02',
    'sea_surface_wave_mean_period',
  ],
  waveDirection: ['wave_direction', 'dir', 'dirpw', 'tdir', 'vmdr', 'sea_surface_wave_from_direction'],
  swellHeight: [
    'swell_wave_height',
    'swell',
    'shgt',
    'vhm0_sw1',
    'sea_surface_swell_wave_significant_height',
  ],
  swellPeriod: ['swell_wave_period', 'swper', 'sper', 'vtm01_sw1', 'sea_surface_swell_wave_period'],
  swellDirection: [
    'swell_wave_direction',
    'swdir',
    'sdir',
    'vmdr_sw1',
    'sea_surface_swell_wave_from_direction',
    'sea_surface_swell_wave_to_direction',
  ],
  windSpeed: ['wind_speed_10m', 'windspeed_10m', 'wind_speed'],
  windDirection: ['wind_direction_10m', 'winddirection_10m', 'wind_from_direction', 'wind_to_direction'],
}

/** The wind's eastward and northward parts. */
const EASTWARD = ['ugrd10m', 'ugrd', 'u10', 'eastward_wind']
const NORTHWARD = ['vgrd10m', 'vgrd', 'v10', 'northward_wind']

const KNOWN_LABELS = new Set([...Object.values(LABELS).flat(), ...EASTWARD, ...NORTHWARD])

function isKnownLabel(label: string): boolean {
  return KNOWN_LABELS.has(label.toLowerCase())
}

const METRES = { m: 1, metre: 1, metres: 1, meter: 1, meters: 1, ft: 0.3048, foot: 0.3048, feet: 0.3048 }
const SECONDS = { s: 1, sec: 1, second: 1, seconds: 1 }
const DEGREES = { '°': 1, deg: 1, degree: 1, degrees: 1, degrees_true: 1, degree_true: 1 }
const KILOMETRES_PER_HOUR = {
  'km/h': 1,
  'km h-1': 1,
  'm/s': 3.6,
  'm s-1': 3.6,
  'm s**-1': 3.6,
  'm.s-1': 3.6,
  kn: 1.852,
  kt: 1.852,
  knot: 1.852,
  knots: 1.852,
  mph: 1.609344,
  'mp/h': 1.609344,
  'mi/h': 1.609344,
}

/**
 * How many of the contract's units one of the file's is, or null for an unknown one. An unnamed unit is the
 * contract's, but for speed.
 */
function factorOf(name: ForecastName, unit: string): number | null {
  const measured = MEASURES[FORECAST_MEASURES[name]].unit
  const factors: { readonly [unit: string]: number } =
    measured === 'm'
      ? METRES
      : measured === 's'
        ? SECONDS
        : measured === 'degree'
          ? DEGREES
          : KILOMETRES_PER_HOUR
  const key = unit.trim().toLowerCase()
  if (key === '') return measured === 'km/h' ? null : 1
  return Object.hasOwn(factors, key) ? factors[key] : null
}

/**
 * What a series says of each quantity, in the contract's units; values beyond their limits are left out and
 * counted.
 */
function quantitiesOf(series: Series, file: FileReport): Map<ForecastName, Quantity> {
  const columns = new Map(series.columns)
  resolveWind(columns, file)
  const quantities = new Map<ForecastName, Quantity>()
  for (const name of FORECAST_NAMES) {
    const label = LABELS[name].find((candidate) => columns.has(candidate))
    if (label === undefined) continue
    const { unit, standardName, values } = columns.get(label)!
    const factor = factorOf(name, unit)
    if (factor === null) {
      file.skipped(`${name} in an unknown unit`)
      continue
    }
    const turn = label.endsWith('to_direction') || standardName.endsWith('to_direction') ? 180 : 0
    quantities.set(name, {
      runAt: series.runAt,
      times: series.times,
      values: values.map((value) => {
        if (value === null) return null
        const kept = keepable(name, value * factor, turn)
        if (kept === null) file.skipped(`${name} outside its limits`)
        return kept
      }),
    })
  }
  if (quantities.size === 0) file.skipped(NOTHING_USED)
  return quantities
}

/** The value within its measure's limits, directions in 0…360; null for one outside. */
function keepable(name: ForecastName, value: number, turn: number): number | null {
  const { unit, min, max } = MEASURES[FORECAST_MEASURES[name]]
  if (unit !== 'degree') return value >= min && value <= max ? value : null
  // A full turn either way is notation; anything farther is a marker of missing values.
  return value >= -360 && value <= 360 ? (value + turn + 720) % 360 : null
}

/**
 * Adds speed and direction where the wind comes as its eastward and northward parts. Wind comes from where it
 * does not blow to.
 */
function resolveWind(columns: Map<string, SeriesColumn>, file: FileReport): void {
  const east = EASTWARD.flatMap((label) => columns.get(label) ?? [])[0]
  const north = NORTHWARD.flatMap((label) => columns.get(label) ?? [])[0]
  if (east === undefined || north === undefined) return
  const factors = [east, north].map(({ unit }) => factorOf('windSpeed', unit))
  const [eastFactor, northFactor] = factors
  if (eastFactor === null || northFactor === null) {
    file.skipped('wind in an unknown unit')
    return
  }
  const resolved = east.values.map((value, i): { speed: number; from: number | null } | null => {
    const other = north.values[i]
    if (value === null || other === null) return null
    const [u, v] = [value * eastFactor, other * northFactor]
    // A calm has no direction.
    return { speed: Math.hypot(u, v), from: u === 0 && v === 0 ? null : (Math.atan2(-u, -v) * 180) / Math.PI }
  })
  columns.set('wind_speed', {
    unit: 'km/h',
    standardName: '',
    values: resolved.map((wind) => wind?.speed ?? null),
  })
  columns.set('wind_from_direction', {
    unit: 'degree',
    standardName: '',
    values: resolved.map((wind) => wind?.from ?? null),
  })
}

// What belongs to one point.

/**
 * Of each quantity the newest run stays; files of the same run complete each other, the first one counts
 * where they overlap.
 */
function gather(
  places: Map<string, Place>,
  { lat, lng }: Series,
  quantities: ReadonlyMap<ForecastName, Quantity>,
): void {
  const key = pointKey(lat, lng)
  let place = places.get(key)
  if (place === undefined) {
    place = { lat, lng, quantities: {} }
    places.set(key, place)
  }
  for (const [name, quantity] of quantities) {
    if (quantity.values.every((value) => value === null)) continue
    const known = place.quantities[name]
    if (known === undefined || known.runAt < quantity.runAt) place.quantities[name] = quantity
    else if (known.runAt === quantity.runAt) place.quantities[name] = joined(known, quantity)
  }
}

function joined(first: Quantity, second: Quantity): Quantity {
  const byTime = new Map<number, number | null>()
  for (const { times, values } of [second, first]) {
    times.forEach((time, i) => {
      if (values[i] !== null || !byTime.has(time)) byTime.set(time, values[i])
    })
  }
  const times = [...byTime.keys()].sort((a, b) => a - b)
  return { runAt: first.runAt, times, values: times.map((time) => byTime.get(time)!) }
}

const WAVE_NAMES = FORECAST_NAMES.filter((name) => !name.startsWith('wind'))
const WIND_NAMES = FORECAST_NAMES.filter((name) => name.startsWith('wind'))

/**
 * One record per place, south to north. Wind-only places that lent their wind to a place with waves are none
 * of their own.
 */
function recordsOf(places: ReadonlyMap<string, Place>): ForecastRecord[] {
  const inOrder = [...places.values()]
    .filter(({ quantities }) => Object.keys(quantities).length > 0)
    .sort((a, b) => a.lat - b.lat || a.lng - b.lng)
  const has = ({ quantities }: Place, names: readonly ForecastName[]): boolean =>
    names.some((name) => quantities[name] !== undefined)
  const windOnly = inOrder.filter((place) => !has(place, WAVE_NAMES))
  const windless = inOrder.filter((place) => !has(place, WIND_NAMES))
  const lent = new Set<Place>()
  if (windOnly.length > 0) {
    const lat = Float64Array.from(windOnly, (place) => place.lat)
    const lng = Float64Array.from(windOnly, (place) => place.lng)
    const points = new Points(buildPoints(lat, lng), lat, lng)
    for (const place of windless) {
      const [nearest] = points.nearest(place.lat, place.lng, 1, WIND_REACH_KM, () => true).ordinals
      if (nearest === undefined) continue
      for (const name of WIND_NAMES) {
        const quantity = windOnly[nearest].quantities[name]
        if (quantity !== undefined) place.quantities[name] = quantity
      }
      lent.add(windOnly[nearest])
    }
  }
  return inOrder.filter((place) => !lent.has(place)).map(recordOf)
}

/** All quantities on one axis of time. The run is the oldest among the waves', where there are any. */
function recordOf({ lat, lng, quantities }: Place): ForecastRecord {
  const given = FORECAST_NAMES.flatMap((name) => {
    const quantity = quantities[name]
    return quantity === undefined ? [] : [{ name, quantity }]
  })
  const waves = given.filter(({ name }) => WAVE_NAMES.includes(name))
  const runs = (waves.length > 0 ? waves : given).map(({ quantity }) => quantity.runAt)
  const times = [...new Set(given.flatMap(({ quantity }) => quantity.times))].sort((a, b) => a - b)
  return {
    lat,
    lng,
    runAt: Math.min(...runs),
    times,
    values: Object.fromEntries(given.map(({ name, quantity }) => [name, laidOn(times, name, quantity)])),
  }
}

/**
 * The values of a quantity at `times`, which hold all of its own. A model that steps by three hours is laid
 * on the hours of another as the server would read it between its times; its own gaps stay.
 */
function laidOn(times: readonly number[], name: ForecastName, quantity: Quantity): Values {
  const { times: own, values } = quantity
  const isDirection = MEASURES[FORECAST_MEASURES[name]].unit === 'degree'
  let next = 0
  return times.map((time) => {
    while (next < own.length && own[next] < time) next++
    if (own[next] === time) return values[next]
    if (next === 0 || next === own.length || own[next] - own[next - 1] > LONGEST_STEP) return null
    const [before, after] = [values[next - 1], values[next]]
    if (before === null || after === null) return null
    const share = (time - own[next - 1]) / (own[next] - own[next - 1])
    return isDirection ? directionMean(before, after, share) : before + (after - before) * share
  })
}

function directionMean(before: number, after: number, share: number): number | null {
  const opposite = Math.abs(after - before) === 180
  return opposite ? null : directionBetween(before * 100, after * 100, share) / 100
}

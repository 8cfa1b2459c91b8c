/** Forecast services' answers as series, by content: Open-Meteo, Stormglass, CoverageJSON, ERDDAP's JSON. */
import {
  isKnownLabel,
  isWindLabel,
  type Series,
  type SeriesColumn,
  type Values,
} from './forecast-quantities.ts'
import { type TakeDoubt, isObject, type Json, UnusableFile, parseBounded } from '../reading/source-files.ts'
import { isoTime, timeReader } from '../reading/times.ts'
import { pointKey, wrapLongitude } from '../../sea/geo.ts'
import { LAST_SECOND } from '../../sea/time.ts'
import { entryOf } from '../../system/entry-of.ts'

export const POSITIONS_FILE = 'points.csv'

/** @param pick the only model that counts of an answer with several */
export function seriesOf(
  bytes: Uint8Array,
  position: { lat: number; lng: number } | undefined,
  doubt: TakeDoubt,
  pick?: string,
): Series[] {
  const parsed = parseBounded(bytes)
  if ('fault' in parsed) throw new UnusableFile(parsed.fault)
  const answer = parsed.value
  const answers: unknown[] = Array.isArray(answer) ? answer : [answer]
  const [first] = answers
  if (isObject(first)) {
    if (isObject(first.hourly)) return answers.flatMap((one) => openMeteoSeries(one, doubt, pick))
    if (Array.isArray(first.hours)) return stormglassSeries(first, doubt, pick)
    if (first.type === 'Coverage') return coverageSeries(first, first.parameters, position, doubt)
    if (first.type === 'CoverageCollection') {
      return listOf(first.coverages, 'coverages').flatMap((coverage) =>
        coverageSeries(jsonOf(coverage, 'a coverage'), first.parameters, position, doubt),
      )
    }
    if (isObject(first.table)) return tableSeries(first.table, doubt)
  }
  throw new UnusableFile(
    'it is not a forecast of Open-Meteo by the hour, Stormglass, CoverageJSON or ERDDAP JSON',
  )
}

function jsonOf(value: unknown, what: string): Json {
  if (!isObject(value)) throw new UnusableFile(`${what} is not an object`)
  return value
}

function listOf(value: unknown, what: string): unknown[] {
  if (!Array.isArray(value)) throw new UnusableFile(`${what} is not a list`)
  return value
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function valuesOf(list: readonly unknown[], length: number, what: string): Values {
  if (list.length !== length) throw new UnusableFile(`${what} does not have one value for each time`)
  return list.map((value) => {
    if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value
    if (value === 'NaN') return null
    throw new UnusableFile(`${what} holds something that is not a number`)
  })
}

/** @throws UnusableFile for a position off the globe; longitudes up to 360 are wrapped into −180…180 */
function placeOf(lat: unknown, lng: unknown): { lat: number; lng: number } {
  if (typeof lat !== 'number' || typeof lng !== 'number' || !(Math.abs(lat) <= 90 && Math.abs(lng) <= 360)) {
    throw new UnusableFile('its position is not on the globe')
  }
  return { lat, lng: wrapLongitude(lng) }
}

function inRange(seconds: number): number {
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= LAST_SECOND) return seconds
  throw new UnusableFile('a time is not in whole seconds from 1970 to February 2106')
}

/** Seconds of an ISO 8601 time, `offset` seconds ahead of UTC without a zone. @throws UnusableFile */
const secondsOf = (value: unknown, offset = 0): number => inRange(isoTime(textOf(value), offset))

function ascending(times: number[]): number[] {
  if (times.length === 0) throw new UnusableFile('it has no times')
  if (times.some((time, i) => i > 0 && time <= times[i - 1]))
    throw new UnusableFile('its times do not ascend')
  return times
}

/** Open-Meteo's times are local, by the answer's offset. The names of models follow the labels. */
function openMeteoSeries(value: unknown, doubt: TakeDoubt, pick?: string): Series[] {
  const answer = jsonOf(value, 'an answer')
  const hourly = jsonOf(answer.hourly, 'hourly')
  const units = isObject(answer.hourly_units) ? answer.hourly_units : {}
  const offset = answer.utc_offset_seconds ?? 0
  if (typeof offset !== 'number' || Math.abs(offset) > 86_400)
    throw new UnusableFile('utc_offset_seconds is not an offset in seconds')
  const times = ascending(
    listOf(hourly.time, 'hourly.time').map((time) =>
      typeof time === 'number' ? inRange(time) : secondsOf(time, offset),
    ),
  )
  const models: Models = new Map()
  for (const [name, list] of Object.entries(hourly)) {
    const label = isKnownLabel(name) ? name : beginningOf(name)
    if (label === undefined) continue
    entryOf(models, name.slice(label.length + 1), () => new Map()).set(label.toLowerCase(), {
      unit: textOf(units[name]),
      values: valuesOf(listOf(list, name), times.length, name),
    })
  }
  const place = placeOf(answer.latitude, answer.longitude)
  return ofModels('Open-Meteo', models, { ...place, times }, doubt, pick)
}

/** Columns by their labels, by model. */
type Models = Map<string, Map<string, SeriesColumn>>

/**
 * A series for each model, or for the one that is picked. The service names no run: its first time counts.
 */
function ofModels(
  service: string,
  models: Models,
  at: Pick<Series, 'lat' | 'lng' | 'times'>,
  doubt: TakeDoubt,
  pick?: string,
): Series[] {
  const names = [...models.keys()]
  if (pick !== undefined && !models.has(pick))
    throw new UnusableFile(`it has no values of the model ${pick}, but of ${names.join(', ').slice(0, 200)}`)
  if (pick === undefined && names.length > 1) doubt('models', names.join())
  const runAt = at.times[0]
  if (names.length === 0) return [{ ...at, runAt, columns: new Map() }]
  return (pick === undefined ? names : [pick]).map((name) => ({
    ...at,
    runAt,
    model: `${service} ${name}`.trim(),
    columns: models.get(name)!,
  }))
}

/** Stormglass' quantities as labels, with the units of its description. */
const STORMGLASS: { readonly [name: string]: readonly [label: string, unit: string] } = {
  waveHeight: ['wave_height', 'm'],
  wavePeriod: ['wave_period', 's'],
  waveDirection: ['wave_direction', 'degree'],
  swellHeight: ['swell_wave_height', 'm'],
  swellPeriod: ['swell_wave_period', 's'],
  swellDirection: ['swell_wave_direction', 'degree'],
  windSpeed: ['wind_speed', 'm/s'],
  windDirection: ['wind_from_direction', 'degree'],
}
/** The service's own choice among its sources comes first. */
const STORMGLASS_OWN = 'sg'
/** Stormglass has some fifteen. */
const MOST_MODELS = 50

/** An object for each hour, with a value of each source for each quantity. */
function stormglassSeries({ hours: list, meta }: Json, doubt: TakeDoubt, pick?: string): Series[] {
  const hours = listOf(list, 'hours').map((hour) => jsonOf(hour, 'an hour'))
  const times = ascending(hours.map(({ time }) => secondsOf(time)))
  const models: Models = new Map()
  for (const [name, [label, unit]] of Object.entries(STORMGLASS)) {
    const cells = hours.map((hour) => (isObject(hour[name]) ? hour[name] : {}))
    for (const source of new Set(cells.flatMap(Object.keys))) {
      const given = cells.map((cell) => cell[source] ?? null)
      const columns = entryOf(models, source, () => new Map())
      columns.set(label, { unit, values: valuesOf(given, times.length, name) })
      if (models.size > MOST_MODELS) throw new UnusableFile(`it has more than ${MOST_MODELS} sources`)
    }
  }
  const inOrder = [...models].sort(([a], [b]) => Number(b === STORMGLASS_OWN) - Number(a === STORMGLASS_OWN))
  const { lat, lng } = jsonOf(meta, 'meta')
  return ofModels('Stormglass', new Map(inOrder), { ...placeOf(lat, lng), times }, doubt, pick)
}

/** The longest label that the name of a model follows, as in `wave_height_ecmwf_wam025`. */
function beginningOf(name: string): string | undefined {
  const ends = [...name.matchAll(/_(?=[a-z])(?!max|min|mean|gusts)/g)].map(({ index }) => index)
  return ends.map((end) => name.slice(0, end)).findLast((label) => label.includes('_') && isKnownLabel(label))
}

/** A table with one row for each time and position. The run is the first time. */
function tableSeries(table: Json, doubt: TakeDoubt): Series[] {
  const labels = listOf(table.columnNames, 'columnNames').map(textOf)
  const units = (Array.isArray(table.columnUnits) ? table.columnUnits : []).map(textOf)
  const [timeField, latField, lngField] = ['time', 'latitude', 'longitude'].map((label) => {
    const field = labels.indexOf(label)
    if (field < 0) throw new UnusableFile(`the table has no column ${label}`)
    return field
  })
  const read = timeReader(units[timeField] ?? '')
  if (read === null) throw new UnusableFile('the column time is in an unknown unit')
  const rows = listOf(table.rows, 'rows').map((row) => listOf(row, 'a row'))
  const levels = labels.flatMap((label, field) => rows.map((row) => [label, row[field]] as const))
  const isLabel = atSea(levels, '', doubt)
  const used = labels.flatMap((label, field) => (isLabel(label) ? [{ label, field }] : []))
  const places = new Map<string, { times: number[]; rows: unknown[][]; lat: number; lng: number }>()
  for (const row of rows) {
    if (row.length !== labels.length)
      throw new UnusableFile('a row has another number of fields than the header')
    const { lat, lng } = placeOf(row[latField], row[lngField])
    const key = pointKey(lat, lng)
    const place = entryOf(places, key, () => ({ times: [], rows: [], lat, lng }))
    place.times.push(inRange(read(String(row[timeField]))))
    place.rows.push(row)
  }
  return [...places.values()].map(({ times, rows, lat, lng }) => ({
    lat,
    lng,
    runAt: ascending(times)[0],
    times,
    columns: new Map(
      used.map(({ label, field }) => {
        const given = rows.map((row) => row[field])
        const values = valuesOf(given, times.length, label)
        return [label.toLowerCase(), { unit: units[field] ?? '', values }]
      }),
    ),
  }))
}

const RUN_AXES = ['forecast_reference_time', 'reference_time', 'run_time']

/** Axes by the names that services give them. */
const AXES: { readonly [name: string]: string } = {
  lon: 'x',
  longitude: 'x',
  lat: 'y',
  latitude: 'y',
  time: 't',
}

const axisName = (name: string): string => AXES[name.toLowerCase()] ?? name

/** A coverage over times, at one position or on a grid of them; every other axis must have one value. */
function coverageSeries(
  coverage: Json,
  sharedParameters: unknown,
  position: { lat: number; lng: number } | undefined,
  doubt: TakeDoubt,
): Series[] {
  const domain = jsonOf(coverage.domain, 'domain')
  const given = Object.entries(jsonOf(domain.axes, 'axes'))
  const axes: Json = Object.fromEntries(given.map(([name, axis]) => [axisName(name), axis]))
  if ('composite' in axes) throw new UnusableFile('it has a composite axis: ask for a series at one position')
  const references = JSON.stringify(domain.referencing ?? []).slice(0, REFERENCES_READ)
  if (references.includes('ProjectedCRS'))
    throw new UnusableFile('its positions are not latitudes and longitudes')
  if (/"calendar":"(?!gregorian|standard|http)/i.test(references))
    throw new UnusableFile('its times are of another calendar than the standard one')
  const times = ascending(axisOf(axes, 't').map((time) => secondsOf(time)))
  const runAxis = RUN_AXES.find((name) => name in axes)
  const runAt = runAxis === undefined ? times[0] : secondsOf(axisOf(axes, runAxis)[0])
  const isPlaced = 'x' in axes && 'y' in axes
  if (!isPlaced && position === undefined) {
    throw new UnusableFile(`it does not say where it is: name its place in ${POSITIONS_FILE}`)
  }
  const xs = isPlaced ? axisOf(axes, 'x') : [position!.lng]
  const ys = isPlaced ? axisOf(axes, 'y') : [position!.lat]
  const levels = given
    .filter(([name]) => LEVEL.test(name))
    .map(([name]) => [name, axisOf(axes, name)[0]] as const)
  const isLabel = atSea(levels, references, doubt)
  const parameters = isObject(coverage.parameters) ? coverage.parameters : sharedParameters
  const ranges = Object.entries(jsonOf(coverage.ranges, 'ranges')).flatMap(([name, range]) => {
    const { unit, standardName } = parameterOf(parameters, name)
    const label = isKnownLabel(name) ? name : standardName
    if (!isLabel(label)) return []
    const { values, placeOf } = rangeOf(jsonOf(range, name), name, {
      t: times.length,
      x: xs.length,
      y: ys.length,
    })
    return [{ label, unit, standardName, values, placeOf }]
  })
  // An empty answer could otherwise name a grid of any size.
  if (ranges.length === 0) return []
  return ys.flatMap((y, row) =>
    xs.map((x, column) => {
      const { lat, lng } = placeOf(y, x)
      const columns = new Map<string, SeriesColumn>()
      for (const { label, unit, standardName, values, placeOf } of ranges) {
        const ofPlace = times.map((_, t) => values[placeOf(t, column, row)])
        const placed = valuesOf(ofPlace, times.length, label)
        columns.set(label.toLowerCase(), { unit, standardName, values: placed })
      }
      return { lat, lng, runAt, times, columns }
    }),
  )
}

/** Axes and columns of levels; wind over the sea is that of ten metres. */
const LEVEL = /^(?:z|level|levelist|height|altitude|pressure|isobaric\w*)$/i
const WIND_HEIGHT = 10
const REFERENCES_READ = 10_000

/** Which labels may be used: none of wind if a level is a pressure or higher than the wind of the sea. */
function atSea(
  levels: readonly (readonly [name: string, level: unknown])[],
  references: string,
  doubt: TakeDoubt,
): (label: string) => boolean {
  const high = levels.find(
    ([name, level]) =>
      LEVEL.test(name) &&
      (Number(level) > WIND_HEIGHT ||
        (Number(level) > 0 && /pressure|isobaric|pa\b/i.test(name + references))),
  )
  if (high === undefined) return isKnownLabel
  doubt('otherLevel', high.join(' '))
  return (label) => isKnownLabel(label) && !isWindLabel(label)
}

function axisOf(axes: Json, name: string): unknown[] {
  const axis = jsonOf(axes[name], `axis ${name}`)
  if (Array.isArray(axis.values) && axis.values.length > 0) return axis.values
  const { start, stop, num } = axis
  if (typeof start !== 'number' || typeof stop !== 'number' || typeof num !== 'number') {
    throw new UnusableFile(`axis ${name} has no values`)
  }
  if (!(Number.isInteger(num) && num >= 1 && num <= 100_000)) {
    throw new UnusableFile(`axis ${name} has an impossible number of values`)
  }
  return Array.from({ length: num }, (_, i) => (num === 1 ? start : start + ((stop - start) * i) / (num - 1)))
}

function parameterOf(parameters: unknown, name: string): { unit: string; standardName: string } {
  const parameter = isObject(parameters) && isObject(parameters[name]) ? parameters[name] : {}
  const observed = isObject(parameter.observedProperty) ? parameter.observedProperty : {}
  const unit = isObject(parameter.unit) ? parameter.unit : {}
  const symbol = isObject(unit.symbol) ? unit.symbol.value : unit.symbol
  const label = isObject(unit.label) ? unit.label.en : undefined
  return {
    unit: textOf(symbol) || textOf(label),
    // A bare name, or the end of a URI.
    standardName: textOf(observed.id).replace(/^.*[/#]/, ''),
  }
}

/** Values of a range in row-major order, and the index in them of time t, column x and row y. */
function rangeOf(
  range: Json,
  name: string,
  lengths: { readonly [axis: string]: number },
): { values: unknown[]; placeOf: (t: number, x: number, y: number) => number } {
  const values = listOf(range.values, `the values of ${name}`)
  const names =
    range.axisNames === undefined ? ['t'] : listOf(range.axisNames, 'axisNames').map(textOf).map(axisName)
  const shape = range.shape === undefined ? [values.length] : listOf(range.shape, 'shape')
  const strides = new Map<string, number>()
  let size = 1
  for (let i = names.length - 1; i >= 0; i--) {
    const length = lengths[names[i]] ?? 1
    if (shape[i] !== length) {
      throw new UnusableFile(`${name} has another shape than its axes, or more than one run or level`)
    }
    strides.set(names[i], size)
    size *= length
  }
  if (shape.length !== names.length || values.length !== size) {
    throw new UnusableFile(`${name} has another number of values than its shape`)
  }
  for (const [axis, length] of Object.entries(lengths)) {
    if (length > 1 && !strides.has(axis)) throw new UnusableFile(`${name} does not run along axis ${axis}`)
  }
  const [t, x, y] = ['t', 'x', 'y'].map((axis) => strides.get(axis) ?? 0)
  return { values, placeOf: (time, column, row) => time * t + column * x + row * y }
}

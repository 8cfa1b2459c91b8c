/** Tables of the API as CoverageJSON (OGC 21-069r2), and as GeoJSON and CSV of EDR. */
import { TableRows } from '../dataset/row-writers.ts'
import { csvText } from '../dataset/cells.ts'
import type { Column, Pieces, Table } from '../dataset/table.ts'
import type { Run } from '../index/segments.ts'
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import { ApiError } from '../operation/errors.ts'
import { haversineKm } from '../sea/geo.ts'
import { timestampText } from '../sea/time.ts'
import { COLLECTIONS, CRS84, type EdrParameter, nameOf, parametersOf, SPEED_DECIMALS } from './collections.ts'
import type { EdrForm, EdrWithin } from './translate.ts'

/** Values of an answer: some 20 MB of JSON. */
const MOST_VALUES = 2_000_000
const ASK_LESS = 'a shorter datetime, a smaller area or fewer parameter-name'

/** The rows of a buoy, or of a position. */
interface Series {
  /** Null for a position of the sea. */
  readonly buoy: { readonly id: number; readonly name: string; readonly slug: string } | null
  readonly lat: number
  readonly lng: number
  readonly times: number[]
  /** Lists of values by parameter. */
  readonly values: (number | null)[][]
}

/** The number in a cell; null where it is missing. */
function numberIn(column: Column, row: number, run: Run): number | null {
  if (column.kind === 'code') {
    const code = column.value(row, run)
    return code === (column.signed ? MISSING_I16 : MISSING_U16) ? null : code / column.scale
  }
  if (column.kind !== 'number' && column.kind !== 'integer') return null
  const value = column.value(row, run)
  return Number.isNaN(value) ? null : value
}

function valueIn(column: Column, row: number, run: Run, { factor }: EdrParameter): number | null {
  const value = numberIn(column, row, run)
  if (value === null || factor === undefined) return value
  return Math.round(value * factor * SPEED_DECIMALS) / SPEED_DECIMALS
}

/** Whether a position lies within, by even-odd rule for polygons (straight lines in degrees). */
export function isWithin(within: EdrWithin | null, lat: number, lng: number): boolean {
  if (within === null) return true
  if (within.kind === 'circle') return haversineKm(within.lat, within.lng, lat, lng) <= within.km
  let isInside = false
  for (const ring of within.rings) {
    for (let i = 1; i < ring.length; i++) {
      const [[fromLng, fromLat], [toLng, toLat]] = [ring[i - 1], ring[i]]
      const crosses = fromLat > lat !== toLat > lat
      if (crosses && lng < fromLng + ((lat - fromLat) / (toLat - fromLat)) * (toLng - fromLng)) {
        isInside = !isInside
      }
    }
  }
  return isInside
}

/** @param slugOf the slug of a buoy's id @throws ApiError 413 */
function seriesOf(table: Table, form: EdrForm, slugOf: (id: number) => string): Series[] {
  const parameters = parametersIn(form)
  const columnOf = (name: string): Column | undefined => table.columns.find((column) => column.name === name)
  const time = columnOf('time')!
  const [id, name] = [columnOf('buoy_id'), columnOf('buoy_name')]
  const columns = parameters.map(({ column }) => columnOf(column)!)
  const { place } = table
  const found = new Map<number, Series>()
  const rows = new TableRows(table)
  let count = 0
  for (let run = rows.take(Infinity); run !== null; run = rows.take(Infinity)) {
    const { from, step, count: length } = run
    const key = id?.kind === 'integer' ? id.value(from, run) : 0
    const [lat, lng] =
      place?.kind === 'point'
        ? [place.lat(from, run), place.lng(from, run)]
        : [form.place!.lat, form.place!.lng]
    if (!isWithin(form.within, lat, lng)) continue
    count += length * columns.length
    if (count > MOST_VALUES) {
      const message = `The answer has more than ${MOST_VALUES} values. Allowed: ${ASK_LESS}`
      throw new ApiError('too_large', message)
    }
    let series = found.get(key)
    if (series === undefined) {
      const text = name?.kind === 'text' ? (name.value(from, run) ?? '') : ''
      const buoy = id === undefined ? null : { id: key, name: text, slug: slugOf(key) }
      found.set(key, (series = { buoy, lat, lng, times: [], values: columns.map(() => []) }))
    }
    for (let i = 0, row = from; i < length; i++, row += step) {
      series.times.push(time.kind === 'time' ? time.value(row, run) : NaN)
      columns.forEach((column, at) => series.values[at].push(valueIn(column, row, run, parameters[at])))
    }
  }
  return [...found.values()].filter(
    ({ values, buoy }) => buoy !== null || values.some((all) => all.some((value) => value !== null)),
  )
}

const parametersIn = ({ collection, parameters }: EdrForm): EdrParameter[] => {
  const all = COLLECTIONS.find(({ id }) => id === collection)!.parameters
  return parameters.map((name) => all.find((parameter) => nameOf(parameter) === name)!)
}

const REFERENCING = [
  { coordinates: ['x', 'y'], system: { type: 'GeographicCRS', id: CRS84 } },
  { coordinates: ['t'], system: { type: 'TemporalRS', calendar: 'Gregorian' } },
]

/** The body of an answer; empty where there are no data. @throws ApiError 413 */
export function edrPieces(table: Table, form: EdrForm, slugOf: (id: number) => string): Pieces {
  if (form.isOfLocations) return pieces(locationsOf(table, form))
  const all = seriesOf(table, form, slugOf)
  if (all.length === 0) return pieces([])
  if (form.format === 'GeoJSON') return pieces(featuresOf(all, form))
  return pieces(form.format === 'CSV' ? linesOf(all, form) : coveragesOf(all, form))
}

export function pieces(texts: Iterable<string>): Pieces {
  const iterator = texts[Symbol.iterator]()
  return {
    next(writer) {
      const { done, value } = iterator.next() as IteratorResult<string, undefined>
      if (done !== true) writer.text(value)
      return done === true
    },
  }
}

const addressOf = ({ base, collection }: EdrForm, slug: string): string =>
  `${base}/collections/${collection}/locations/${slug}`

function idOf({ buoy, lat, lng }: Series, form: EdrForm): string {
  if (buoy !== null) return addressOf(form, buoy.slug)
  return `${form.base}/collections/${form.collection}/position?coords=${encodeURIComponent(`POINT(${lng} ${lat})`)}`
}

function coverageOf(series: Series, form: EdrForm): object {
  const { buoy, lat, lng, times, values } = series
  const away = form.place === null ? null : haversineKm(form.place.lat, form.place.lng, lat, lng)
  const ranges = form.parameters.map((name, i) => [
    name,
    { type: 'NdArray', dataType: 'float', axisNames: ['t'], shape: [times.length], values: values[i] },
  ])
  return {
    type: 'Coverage',
    id: idOf(series, form),
    domain: {
      type: 'Domain',
      domainType: 'PointSeries',
      axes: { t: { values: times.map(timestampText) }, x: { values: [lng] }, y: { values: [lat] } },
      referencing: REFERENCING,
    },
    ranges: Object.fromEntries(ranges) as object,
    ...(buoy !== null && {
      'groundswell:buoy': { ...buoy, distance_km: away === null ? null : Math.round(away * 100) / 100 },
    }),
  }
}

function* coveragesOf(all: readonly Series[], form: EdrForm): Generator<string> {
  const parameters = parametersOf(parametersIn(form), form.base)
  if (!form.isMany) {
    yield JSON.stringify({ ...coverageOf(all[0], form), parameters })
    return
  }
  const head = { type: 'CoverageCollection', domainType: 'PointSeries', parameters, referencing: REFERENCING }
  yield `${JSON.stringify(head).slice(0, -1)},"coverages":[`
  for (const [i, series] of all.entries()) {
    yield `${i === 0 ? '' : ','}${JSON.stringify(coverageOf(series, form))}`
  }
  yield ']}'
}

const labelOf = ({ buoy, lat, lng }: Series): string => buoy?.name ?? `${lat}, ${lng}`

/** A feature for each time. */
function* featuresOf(all: readonly Series[], form: EdrForm): Generator<string> {
  yield '{"type":"FeatureCollection","features":['
  let isFirst = true
  for (const series of all) {
    const { lat, lng, times, values } = series
    const common = {
      label: labelOf(series),
      'parameter-name': form.parameters,
      edrqueryendpoint: idOf(series, form),
    }
    const features = times.map((time, i) => {
      const measured = Object.fromEntries(form.parameters.map((name, at) => [name, values[at][i]]))
      return JSON.stringify({
        type: 'Feature',
        id: `${idOf(series, form)}#${timestampText(time)}`,
        geometry: { type: 'Point', coordinates: [lng, lat] },
        properties: { datetime: timestampText(time), ...common, ...measured },
      })
    })
    if (features.length > 0) yield `${isFirst ? '' : ','}${features.join()}`
    isFirst &&= features.length === 0
  }
  yield ']}'
}

function* linesOf(all: readonly Series[], { parameters }: EdrForm): Generator<string> {
  yield `${['datetime', 'x', 'y', 'label', ...parameters].join()}\r\n`
  for (const series of all) {
    const place = [series.lng, series.lat, csvText(labelOf(series))].join()
    const lines = series.times.map((time, i) => {
      const values = series.values.map((each) => each[i] ?? '')
      return `${timestampText(time)},${place},${values.join()}\r\n`
    })
    yield lines.join('')
  }
}

/** All buoys, each with the address of its data. */
function* locationsOf(table: Table, form: EdrForm): Generator<string> {
  const textOf = (name: string, row: number, run: Run): string => {
    const column = table.columns.find((each) => each.name === name)!
    return column.kind === 'text' ? (column.value(row, run) ?? '') : ''
  }
  const newest = table.columns.find(({ name }) => name === 'last_reading_time')!
  const place = table.place!
  yield '{"type":"FeatureCollection","features":['
  let isFirst = true
  for (const workOut of table.runs) {
    const run = workOut()
    const { from, count } = run
    for (let row = from; row < from + count; row++) {
      if (place.kind !== 'point') continue
      const slug = textOf('slug', row, run)
      const time = newest.kind === 'time' ? newest.value(row, run) : NaN
      const feature = {
        type: 'Feature',
        id: slug,
        geometry: { type: 'Point', coordinates: [place.lng(row, run), place.lat(row, run)] },
        properties: {
          label: textOf('name', row, run),
          name: textOf('name', row, run),
          source: textOf('source', row, run),
          source_identifier: textOf('source_identifier', row, run),
          datetime: `../${Number.isNaN(time) ? '..' : timestampText(time)}`,
          'parameter-name': form.parameters,
          edrqueryendpoint: addressOf(form, slug),
        },
      }
      yield `${isFirst ? '' : ','}${JSON.stringify(feature)}`
      isFirst = false
    }
  }
  yield ']}'
}

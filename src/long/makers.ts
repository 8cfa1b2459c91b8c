/**
 * The makers of long answers, by the names of operations: tables for each that has `tables`, and for each
 * that has no `answer` the usual JSON, unless it is that of the table.
 */
import { buoyBeside, type BuoyItem, buoyRows, passColumns, passLine } from '../dataset/buoy-table.ts'
import { matchingBuoys } from '../operation/filters.ts'
import { WIRE_NAMES } from '../dataset/reading-json.ts'
import { MEASURES, WEATHER_NAMES } from '../sea/columns.ts'
import { allRows, inZone, number, type Table, text, time } from '../dataset/table.ts'
import { dateText } from '../sea/time.ts'
import { type LongJson, requireBuoy, tablePage } from '../operation/operation.ts'
import { type parameters as buoysParameters, perPageOf } from '../handlers/buoys.ts'
import { chartArrays } from '../handlers/chart.ts'
import { WITH_MODEL, WITH_USUAL, WITH_WEATHER } from '../handlers/conditions.ts'
import { ARRAYS } from '../handlers/forecast.ts'
import { type parameters as passesParameters, passesOf } from '../handlers/satellite-passes.ts'
import { askedOf, type parameters as seriesParameters, seriesJson } from '../handlers/series.ts'
import { changesAnswer } from './changes.ts'
import { CLIMATE_MAKERS } from './climate.ts'
import {
  arrayTable,
  dataOf,
  type JsonRecord,
  type Maker,
  type MakeRequest,
  type RecordColumn,
  recordTable,
} from './maker.ts'
import {
  heightOf,
  type parameters as tidesParameters,
  tidesJson,
  tideTable,
  typeOf,
} from '../handlers/tides.ts'
import { readingsOfBuoysTable, readingsTable } from './readings.ts'
import { spectraOf, spectraTable } from './spectra.ts'
import { seriesTable } from './series.ts'

export const MAKERS: { readonly [operation: string]: Maker } = {
  listBuoys: { table: buoysTable },
  getBuoy: foundBuoys('detail', 'buoy'),
  lastReadings: foundBuoys('lastReading', 'last-readings'),
  searchBuoys: foundBuoys('search', 'found-buoys'),
  nearestBuoys: foundBuoys('nearest', 'nearest-buoys'),
  mapBuoys: foundBuoys('map', 'buoys-map'),
  listReadings: { table: readingsTable },
  readingsOfBuoys: { table: readingsOfBuoysTable },
  chart: { table: chartTable },
  readingSeries: { table: seriesTable, json: seriesOf },
  listSatellites: records('satellites', 'slug name agency instrument description image_url', 'pass_count'),
  listSatellitePasses: { table: passesTable },
  conditions: { table: conditionsTable },
  listCountries: records('countries', 'code name', 'buoy_count'),
  forecast: { table: forecastTable },
  listSpectra: { table: spectraTable, json: spectraOf },
  listChanges: { json: changesAnswer },
  tides: { table: tidesTable, json: tidesAnswer },
  ...CLIMATE_MAKERS,
}

function seriesOf({ view, query, path: [buoyId] }: MakeRequest<typeof seriesParameters>): LongJson {
  return seriesJson(view, query, askedOf(view, query, buoyId))
}

function buoysTable({ view, query, isWhole }: MakeRequest<typeof buoysParameters>): Table {
  const matches = matchingBuoys(view.dataset, query, query.active_only)
  const { from, to, paging } = tablePage(matches.length, isWhole, query.page, perPageOf(query))
  return {
    ...buoyRows('list', view.dataset, Uint32Array.from(matches).subarray(from, to), query.include),
    ...(paging && { paging }),
    total: matches.length,
    name: 'buoys',
    list: { key: 'buoys', after: `,"count":${matches.length}` },
  }
}

/** The buoys that the usual JSON has, as `buoys` or as a single `buoy`. */
function foundBuoys(item: BuoyItem, name: string): Maker {
  return {
    table(request) {
      const { dataset } = request.view
      const data = dataOf(request)
      const key = 'buoy' in data ? 'buoy' : 'buoys'
      const { [key]: found, ...rest } = data
      const buoys = [found].flat() as { id: number; distance_km?: number }[]
      const table = buoyRows(
        item,
        dataset,
        Uint32Array.from(buoys, ({ id }) => dataset.ordinalOfId(id)),
        request.query.include as number | undefined,
      )
      const distance = number('distance_km', (row) => buoys[row].distance_km!, 'km')
      return {
        ...table,
        columns: item === 'nearest' ? [...table.columns, distance] : table.columns,
        total: buoys.length,
        name,
        list:
          key === 'buoy' ? { key, isSingle: true } : { key, after: `,${JSON.stringify(rest).slice(1, -1)}` },
      }
    },
  }
}

/** The list `key` of the usual JSON; its members are `texts` and a number. */
function records(key: string, texts: string, count: string): Maker {
  const columns: RecordColumn[] = texts.split(' ').map((name) => ({ name, kind: 'text' }))
  columns.push({ name: count, kind: 'integer' })
  return {
    table(request) {
      const rows = dataOf(request)[key] as JsonRecord[]
      return recordTable(rows, columns, {
        name: key,
        place: null,
        list: { key, after: `,"count":${rows.length}` },
      })
    },
  }
}

function passesTable({ view: { dataset }, query }: MakeRequest<typeof passesParameters>): Table {
  const passes = passesOf(dataset, query)
  return {
    columns: Object.values(passColumns(dataset, (row) => passes[row])),
    runs: allRows(passes.length),
    place: { kind: 'line', line: (row) => passLine(dataset, passes[row]) },
    id: 'id',
    total: passes.length,
    name: 'satellite-passes',
    list: { key: 'satellite_passes', after: `,"count":${passes.length}` },
  }
}

/** A row for each slot of the axis. */
function chartTable(request: MakeRequest): Table {
  const { view, query, path } = request
  const { dataset } = view
  const ordinal = requireBuoy(view, path[0])
  const table = arrayTable(dataOf(request), chartArrays((query.include as number | undefined) ?? 0))
  return {
    ...table,
    columns: [...table.columns, ...buoyBeside(dataset, () => ordinal, true)],
    place: null,
    name: `${dataset.catalog.slugs[ordinal]}_chart`,
  }
}

/** A row for each hour. */
function forecastTable(request: MakeRequest): Table {
  const data = dataOf(request)
  const { lat, lng } = data.location as { lat: number; lng: number }
  return {
    ...arrayTable(data, ARRAYS),
    place: { kind: 'point', lat: () => lat, lng: () => lng },
    name: `forecast_${lat}_${lng}`,
  }
}

function tidesAnswer({ view, query, now }: MakeRequest<typeof tidesParameters>): LongJson {
  return {
    next(writer) {
      writer.text(tidesJson(view, query, now))
      return true
    },
  }
}

/** A row for each high or low water. */
function tidesTable({ view, query, now }: MakeRequest<typeof tidesParameters>): Table {
  const { position, clock, first, extremes } = tideTable(view, query, now)
  return {
    columns: [
      inZone(
        time('time', (row) => extremes[row].time),
        clock,
      ),
      text('type', (row) => typeOf(extremes[row])),
      number('height', (row) => heightOf(extremes[row]), 'm'),
    ],
    runs: allRows(extremes.length),
    place: null,
    total: extremes.length,
    name: `tides_${position.lat}_${position.lng}_${dateText(first)}`,
    list: null,
  }
}

const KINDS = new Set(['integer', 'time', 'text', 'flag'])

/** `members`: the name of each with its kind, or with its unit where it is a number. */
const columnsOf = (object: string, members: string): RecordColumn[] =>
  members.split(', ').map((member) => {
    const [name, word] = member.split(' ')
    const column = `${object}.${name}`
    if (!KINDS.has(word)) return { name: column, kind: 'number', unit: word }
    return { name: column, kind: word as RecordColumn['kind'], unit: word === 'time' ? 'UTC' : '' }
  })

const COLUMNS: readonly RecordColumn[] = [
  ...columnsOf('location', 'lat degree, lng degree, timezone text'),
  ...columnsOf('forecast', 'waves_height m, waves_period s, waves_direction text'),
  ...columnsOf('forecast', 'wind_speed km/h, wind_direction text'),
  ...columnsOf('forecast', 'swell_height m, swell_period s, swell_direction text, wave_energy kJ/m'),
  ...columnsOf('reading', 'exists flag, significient_height m, maximum_height m, direction_degrees degree'),
  ...columnsOf('reading', 'period s, time time, wave_energy kJ/m'),
  ...columnsOf('reading.buoy', 'id integer, name text, distance_km km'),
  ...columnsOf('tide', 'height m, time time, direction text, seconds_to_next_tide_change s'),
  ...columnsOf('tide', 'next_tide text, next_tide_height m, harbor text'),
  ...columnsOf('metadata', 'forecast_updated_at time, reading_age_minutes min, tide_source text'),
  ...columnsOf('units', 'height text, speed text'),
]
const USUAL_COLUMNS = columnsOf(
  'reading.usual',
  'higher_than_percent integer, percentile %, median m, p90 m, years integer, first_year integer, ' +
    'highest_since time, highest_since_missing_days integer',
)
const MODEL_COLUMNS = columnsOf('metadata', 'forecast_model text, forecast_credit text')
const WEATHER_COLUMNS = columnsOf(
  'reading',
  WEATHER_NAMES.map((name) => `${WIRE_NAMES[name]} ${MEASURES[name].unit}`).join(', '),
)
const SPOT_COLUMNS = columnsOf('spot', 'id integer, name text, lat degree, lng degree')

/** One row. The buoys near a spot are a list of their own and not in it: `GET /buoys/nearest` has them. */
function conditionsTable(request: MakeRequest): Table {
  const data = dataOf(request)
  const { lat, lng, include = 0 } = request.query as { lat: number; lng: number; include?: number }
  const columns = [
    ...COLUMNS,
    ...((include & WITH_MODEL) === 0 ? [] : MODEL_COLUMNS),
    ...((include & WITH_WEATHER) === 0 ? [] : WEATHER_COLUMNS),
    ...((include & WITH_USUAL) === 0 ? [] : USUAL_COLUMNS),
    ...(data.spot === undefined ? [] : SPOT_COLUMNS),
  ]
  return recordTable([data], columns, {
    name: `conditions_${lat}_${lng}`,
    place: { kind: 'point', lat: () => lat, lng: () => lng },
    list: null,
  })
}

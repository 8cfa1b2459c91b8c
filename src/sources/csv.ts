/**
 * Our own plain format, for whoever has a database of buoys: a folder of CSV tables in the contract's units,
 * described for operators in `docs/sources.md`.
 *
 *     sources.csv        name,network,credit,licence
 *     buoys.csv          source,identifier,name,lat,lng,country,timezone,virtual
 *     readings/*.csv     source,identifier,time,significant_height,…
 *     forecast/*.csv     lat,lng,run,time,wave_height,…
 *     spots.csv          id,name,lat,lng
 *     passes.csv         mission,cycle,number,started_at,ended_at,south,west,north,east
 *     pass_observations.csv  mission,cycle,number,source,identifier,time
 *     harbours.csv       identifier,name,lat,lng,datum_offset,credit
 *     constituents.csv   harbour,constituent,amplitude,phase
 *
 * The header names the columns, in any order; optional ones may be left out. Quoting is that of RFC 4180.
 */
import { join } from 'node:path'
import { type MeasureName, MEASURES, RowBatch } from '../sea/columns.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfSlug } from '../sea/missions.ts'
import { constituentOf } from '../sea/tidal-constituents.ts'
import { pointKey } from '../sea/geo.ts'
import { MAX_AMPLITUDE } from '../sea/tidal-constituents.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import {
  type BuoyRecord,
  FORECAST_MEASURES,
  FORECAST_NAMES,
  type ForecastName,
  type ForecastRecord,
  type HarbourRecord,
  type Network,
  type PassRecord,
  type SourceInfo,
  type SpotRecord,
} from '../sea/records.ts'
import {
  cleanName,
  degreesOf,
  digitsAt,
  dropUnusable,
  Fields,
  isoSeconds,
  lineFault,
  lineText,
  listFolder,
  measureColumn,
  type MeasureColumn,
  NO_CODE,
  readMeasures,
  readText,
  separatorOf,
  splitSeparated,
  textOf,
  textsOf,
} from './reading/text.ts'

/** `sources.csv` and `buoys.csv`: a million buoys fit. */
const MAX_TABLE_BYTES = 128 * 2 ** 20

/** Rows of one buoy that are handed over at once. */
const BATCH_ROWS = 8192
/** Rows over all buoys that wait to be handed over: a file may take its buoys in turns, row by row. */
const MAX_WAITING_ROWS = 262_144

const MEASURE_COLUMNS: { readonly [label: string]: MeasureName } = {
  significant_height: 'significantHeight',
  maximum_height: 'maximumHeight',
  period: 'period',
  peak_period: 'peakPeriod',
  direction: 'direction',
  water_temperature: 'waterTemperature',
  wind_speed: 'windSpeed',
  wind_direction: 'windDirection',
  gust_speed: 'gustSpeed',
}

/** Opens `folder` as a set of CSV tables. */
export const openCsv: OpenSource = (folder) => ({
  isControlled: true,
  read: (sink, context) => readCsv(folder, sink, context),
})

/** Handles of the buoys by source and identifier. */
type Handles = Map<string, Map<string, number>>

async function readCsv(folder: string, sink: Sink, context: SourceContext): Promise<void> {
  const { report } = context
  const root = await listFolder(folder)
  if (root === null) throw new BuildError(`csv: there is no folder ${folder}`)
  const handles: Handles = new Map()
  const table = (name: string, columns: readonly string[], required: readonly string[], read: ReadLine) =>
    readTable(join(folder, name), report.file(join(folder, name)), columns, required, read)

  await table('sources.csv', ['name', 'network', 'credit', 'licence'], ['name', 'network'], (cell) => {
    const info = sourceOf(cell)
    if (typeof info === 'string') return info
    if (handles.has(info.name)) return 'a source with this name stands above'
    handles.set(info.name, new Map())
    sink.source(info)
    return null
  })
  const buoyColumns = ['source', 'identifier', 'name', 'lat', 'lng', 'country', 'timezone', 'virtual']
  const zones = new Set<string>()
  await table('buoys.csv', buoyColumns, ['source', 'identifier', 'name', 'lat', 'lng'], (cell) => {
    const record = buoyOf(cell, zones)
    if (typeof record === 'string') return record
    const ofSource = handles.get(record.source)
    if (ofSource === undefined) return 'this source is not in sources.csv'
    if (ofSource.has(record.identifier)) return 'a buoy with this source and identifier stands above'
    ofSource.set(record.identifier, sink.buoy(record))
    return null
  })

  const readings = (await listFolder(join(folder, 'readings')))?.files ?? []
  if (readings.length === 0) report.warn(`csv: ${folder} has no readings`)
  for (const name of readings) {
    const path = join(folder, 'readings', name)
    if (!/\.csv(\.gz)?$/i.test(name)) {
      report.warn(`csv: ignored ${JSON.stringify(path)}`)
      continue
    }
    const file = report.file(path)
    sendReadings(await readText(path, file), file, handles, sink)
    file.end()
  }
  await readForecasts(join(folder, 'forecast'), sink, context)
  if (root.files.includes('passes.csv')) {
    const passes = new Map<string, PassRecord>()
    await table('passes.csv', PASS_COLUMNS, PASS_COLUMNS, (cell) => {
      const pass = passOf(cell)
      if (typeof pass === 'string') return pass
      if (passes.has(passKey(cell))) return 'a pass with this mission, cycle and number stands above'
      passes.set(passKey(cell), pass)
      return null
    })
    if (root.files.includes('pass_observations.csv')) {
      await table('pass_observations.csv', OBSERVATION_COLUMNS, OBSERVATION_COLUMNS, (cell) => {
        const pass = passes.get(passKey(cell))
        if (pass === undefined) return 'this mission, cycle and number are not in passes.csv'
        const buoy = handles.get(cleanName(cell('source')))?.get(cell('identifier'))
        if (buoy === undefined) return 'this source and identifier are not in buoys.csv'
        const time = secondsOf(cell('time'))
        if (time < pass.startedAt || time > pass.endedAt) return 'time is not within the pass'
        pass.observations.push({ buoy, time })
        return null
      })
    }
    for (const pass of passes.values()) sink.pass(pass)
  }
  if (root.files.includes('spots.csv')) {
    const ids = new Set<number>()
    await table('spots.csv', SPOT_COLUMNS, SPOT_COLUMNS, (cell) => {
      const spot = spotOf(cell)
      if (typeof spot === 'string') return spot
      if (ids.has(spot.id)) return 'a spot with this id stands above'
      ids.add(spot.id)
      sink.spot(spot)
      return null
    })
  }
  if (root.files.includes('harbours.csv')) {
    const harbours = new Map<string, HarbourRecord>()
    await table('harbours.csv', HARBOUR_COLUMNS, HARBOUR_COLUMNS, (cell) => {
      const harbour = harbourOf(cell)
      if (typeof harbour === 'string') return harbour
      if (harbours.has(harbour.identifier)) return 'a harbour with this identifier stands above'
      harbours.set(harbour.identifier, harbour)
      return null
    })
    await table('constituents.csv', CONSTITUENT_COLUMNS, CONSTITUENT_COLUMNS, (cell) => {
      const constituents = harbours.get(cell('harbour'))?.constituents
      if (constituents === undefined) return 'this harbour is not in harbours.csv'
      const name = constituentOf(cell('constituent'))?.name
      if (name === undefined) return 'constituent is not the name of a tidal constituent'
      if (constituents.some((known) => known.name === name)) return 'this constituent stands above'
      const amplitude = degreesOf(cell('amplitude'), MAX_AMPLITUDE)
      if (!(amplitude >= 0)) return `amplitude is not a number from 0 to ${MAX_AMPLITUDE}`
      const phase = degreesOf(cell('phase'), 360)
      if (Number.isNaN(phase)) return 'phase is not a number from -360 to 360'
      constituents.push({ name, amplitude, phase })
      return null
    })
    for (const harbour of harbours.values()) {
      if (harbour.constituents.some(({ amplitude }) => amplitude > 0)) sink.harbour(harbour)
      else report.warn(`csv: harbour ${JSON.stringify(harbour.identifier)} has no tide and is left out`)
    }
  }
}

/** Cell of the current line by its column's name; empty where the table has no such column. */
type Cell = (column: string) => string
/** Takes in a line; returns what is wrong with it, or null. */
type ReadLine = (cell: Cell) => string | null

/**
 * Reads a small table line by line; it has at most 128 MiB.
 * @throws BuildError when the file is missing or its header lacks a required column.
 */
export async function readTable(
  path: string,
  file: FileReport,
  columns: readonly string[],
  required: readonly string[],
  read: ReadLine,
): Promise<void> {
  const bytes = await readText(path, file, MAX_TABLE_BYTES)
  const separator = separatorOf(bytes)
  const fields = new Fields()
  splitSeparated(bytes, 0, separator, fields)
  const labels = textsOf(bytes, fields)
  const fault = headerFault(labels, columns, required)
  if (fault !== null) throw new BuildError(`${path}: ${fault}`)
  // The cell that was looked at last is the one to blame.
  let looked = ''
  const cell: Cell = (column) => (looked = textOf(bytes, fields, labels.indexOf(column)).trim())
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, separator, fields)
    if (isEmptyLine(fields)) continue
    const fault = lineFault(fields, labels.length)
    const bad = fault ?? read(cell)
    if (bad === null) file.rows(1)
    else file.bad(line, bad, fault === null ? looked : lineText(bytes, at, fields))
  }
  file.end()
}

function isEmptyLine(fields: Fields): boolean {
  return fields.count === 1 && fields.starts[0] === fields.ends[0] && fields.fault === null
}

/** A column of another name is more likely misspelt than meant to be ignored, so it is a fault. */
function headerFault(
  labels: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): string | null {
  const meant = (label: string): string | undefined => {
    const usual = USUAL_LABELS[label.trim().toLowerCase()] ?? label.trim().toLowerCase()
    return columns.includes(usual) ? usual : undefined
  }
  const missing = required.find((column) => !labels.includes(column))
  if (missing !== undefined) {
    const instead = labels.findIndex((label) => meant(label) === missing)
    return `the header lacks the column ${missing}${instead < 0 ? '' : `; its column ${instead + 1} should be called that`}`
  }
  if (new Set(labels).size < labels.length) return 'the header names a column twice'
  const unknown = labels.findIndex((label) => !columns.includes(label))
  if (unknown < 0) return null
  const suggestion = meant(labels[unknown])
  const hint = suggestion === undefined || labels.includes(suggestion) ? '' : `; is ${suggestion} meant?`
  return `column ${unknown + 1} of the header is not one of ${columns.join(', ')}${hint}`
}

/** What others call our columns, lower case. */
const USUAL_LABELS: { readonly [label: string]: string } = {
  lon: 'lng',
  long: 'lng',
  longitude: 'lng',
  latitude: 'lat',
  id: 'identifier',
  station: 'identifier',
  station_id: 'identifier',
  source_identifier: 'identifier',
  buoy: 'identifier',
  network: 'source',
  date: 'time',
  datetime: 'time',
  timestamp: 'time',
  hs: 'significant_height',
  hm0: 'significant_height',
  swh: 'significant_height',
  wvht: 'significant_height',
  significient_height: 'significant_height',
  significant_wave_height: 'significant_height',
  hmax: 'maximum_height',
  max_height: 'maximum_height',
  wave_period: 'period',
  tp: 'peak_period',
  dpd: 'peak_period',
  wave_direction: 'direction',
  mwd: 'direction',
  wtmp: 'water_temperature',
  sst: 'water_temperature',
  wspd: 'wind_speed',
  wdir: 'wind_direction',
  gust: 'gust_speed',
  gst: 'gust_speed',
  tz: 'timezone',
}

function isNetwork(text: string): text is Network {
  return text === 'national' || text === 'coastal' || text === 'satellite'
}

function sourceOf(cell: Cell): SourceInfo | string {
  const name = cleanName(cell('name'))
  const network = cell('network')
  if (!/^[^"]+$/.test(name)) return 'a source needs a name, without quotes'
  if (!isNetwork(network)) return 'network is not one of national, coastal, satellite'
  const credit = cleanName(cell('credit'))
  const licence = cleanName(cell('licence'))
  return { name, network, ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
}

function buoyOf(cell: Cell, zones: Set<string>): BuoyRecord | string {
  const identifier = cell('identifier')
  if (!/^[^"\p{Cc}]{1,64}$/u.test(identifier)) return 'identifier is not 1 to 64 characters without quotes'
  const name = cleanName(cell('name'))
  if (name === '') return 'a buoy without a name'
  const lat = degreesOf(cell('lat'), 90)
  if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
  const lng = degreesOf(cell('lng'), 180)
  if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
  const country = cell('country')
  if (!/^([A-Z]{2})?$/.test(country)) return 'country is not two capital letters'
  const timezone = cell('timezone')
  if (timezone !== '' && !isZone(timezone, zones)) return 'timezone is not an IANA time zone'
  const virtual = cell('virtual')
  if (!['', 'true', 'false', '1', '0'].includes(virtual)) return 'virtual is not true or false'
  return {
    source: cleanName(cell('source')),
    identifier,
    name,
    lat,
    lng,
    ...(country !== '' && { country }),
    ...(timezone !== '' && { timezone }),
    ...((virtual === 'true' || virtual === '1') && { virtual: true }),
  }
}

/** Whether this Node.js knows the zone; `zones` holds those that it did, for a look-up costs 0.05 ms. */
function isZone(name: string, zones: Set<string>): boolean {
  if (zones.has(name)) return true
  // Newer engines also take offsets for zones.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  zones.add(name)
  return true
}

const SPOT_COLUMNS = ['id', 'name', 'lat', 'lng']

function spotOf(cell: Cell): SpotRecord | string {
  const id = /^[0-9]{1,10}$/.test(cell('id')) ? Number(cell('id')) : 0
  if (id < 1 || id > 0xffff_ffff) return 'id is not a whole number from 1 to 4294967295'
  const name = cleanName(cell('name'))
  if (name === '') return 'a spot without a name'
  const lat = degreesOf(cell('lat'), 90)
  if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
  const lng = degreesOf(cell('lng'), 180)
  if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
  return { id, name, lat, lng }
}

const HARBOUR_COLUMNS = ['identifier', 'name', 'lat', 'lng', 'datum_offset', 'credit']
const CONSTITUENT_COLUMNS = ['harbour', 'constituent', 'amplitude', 'phase']
/** m; chart datum lies within some metres of the sea. */
const MAX_DATUM_OFFSET = 20

function harbourOf(cell: Cell): HarbourRecord | string {
  const identifier = cell('identifier')
  if (!/^[^"\p{Cc}]{1,64}$/u.test(identifier)) return 'identifier is not 1 to 64 characters without quotes'
  const name = cleanName(cell('name'))
  if (name === '') return 'a harbour without a name'
  const lat = degreesOf(cell('lat'), 90)
  if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
  const lng = degreesOf(cell('lng'), 180)
  if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
  const datumOffset = degreesOf(cell('datum_offset'), MAX_DATUM_OFFSET)
  if (Number.isNaN(datumOffset)) {
    return `datum_offset is not a number from -${MAX_DATUM_OFFSET} to ${MAX_DATUM_OFFSET}`
  }
  const credit = cleanName(cell('credit'))
  if (credit === '') return 'a harbour without a credit'
  return { identifier, name, lat, lng, datumOffset, credit, constituents: [] }
}

const PASS_KEYS = ['mission', 'cycle', 'number']
const PASS_COLUMNS = [...PASS_KEYS, 'started_at', 'ended_at', 'south', 'west', 'north', 'east']
const OBSERVATION_COLUMNS = [...PASS_KEYS, 'source', 'identifier', 'time']

const passKey = (cell: Cell): string =>
  `${cell('mission')} ${countOf(cell('cycle'))} ${countOf(cell('number'))}`

function passOf(cell: Cell): PassRecord | string {
  const mission = cell('mission')
  if (missionOfSlug(mission) === undefined) return 'mission is not the slug of a satellite mission'
  const cycle = countOf(cell('cycle'))
  if (!(cycle <= MAX_CYCLE)) return `cycle is not a whole number from 0 to ${MAX_CYCLE}`
  const number = countOf(cell('number'))
  if (!(number >= 1 && number <= MAX_PASS_NUMBER))
    return `number is not a whole number from 1 to ${MAX_PASS_NUMBER}`
  const [startedAt, endedAt] = [secondsOf(cell('started_at')), secondsOf(cell('ended_at'))]
  if (startedAt < 0 || endedAt < startedAt) return 'started_at and ended_at are not two times in this order'
  const [south, north] = [degreesOf(cell('south'), 90), degreesOf(cell('north'), 90)]
  if (!(south <= north)) return 'south and north are not numbers from -90 to 90 in this order'
  const [west, east] = [degreesOf(cell('west'), 180), degreesOf(cell('east'), 180)]
  if (Number.isNaN(west) || Number.isNaN(east)) return 'west and east are not numbers from -180 to 180'
  return {
    mission,
    cycle,
    number,
    startedAt,
    endedAt,
    bounds: { south, west, north, east },
    observations: [],
  }
}

/** A whole number in at most nine digits, else NaN. */
const countOf = (text: string): number => (/^[0-9]{1,9}$/.test(text) ? Number(text) : NaN)

/** As `timeOf`, of text. */
function secondsOf(text: string): number {
  const bytes = Buffer.from(text)
  return timeOf(bytes, 0, bytes.length)
}

const READING_COLUMNS = ['source', 'identifier', 'time', ...Object.keys(MEASURE_COLUMNS)]

function sendReadings(bytes: Uint8Array, file: FileReport, handles: Handles, sink: Sink): void {
  const separator = separatorOf(bytes)
  const fields = new Fields()
  splitSeparated(bytes, 0, separator, fields)
  const labels = textsOf(bytes, fields)
  const fault = headerFault(labels, READING_COLUMNS, ['source', 'identifier', 'time'])
  if (fault !== null) {
    file.bad(1, fault)
    return
  }
  const columns: MeasureColumn[] = []
  for (const [label, name] of Object.entries(MEASURE_COLUMNS)) {
    const field = labels.indexOf(label)
    if (field >= 0) columns.push(measureColumn(name, field, label))
  }
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  const [sourceField, identifierField, timeField] = READING_COLUMNS.map((label) => labels.indexOf(label))
  const waiting = new WaitingRows(sink)
  const { starts, ends } = fields
  // Rows of one buoy mostly follow each other: then its two names need not be looked up again.
  const known = new Uint8Array(256)
  let knownLength = -1
  let handle: number | undefined
  let understood = 0
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, separator, fields)
    if (isEmptyLine(fields)) continue
    const fault = lineFault(fields, labels.length)
    if (fault !== null) {
      file.bad(line, fault, lineText(bytes, at, fields))
      continue
    }
    if (!sameNames(bytes, fields, sourceField, identifierField, known, knownLength)) {
      knownLength = keepNames(bytes, fields, sourceField, identifierField, known)
      handle = handles
        .get(cleanName(textOf(bytes, fields, sourceField)))
        ?.get(textOf(bytes, fields, identifierField).trim())
    }
    if (handle === undefined) {
      file.bad(
        line,
        'this source and identifier are not in buoys.csv',
        `${textOf(bytes, fields, sourceField)},${textOf(bytes, fields, identifierField)}`,
      )
      continue
    }
    const time = timeOf(bytes, starts[timeField], ends[timeField])
    if (time < 0) {
      file.bad(
        line,
        'time is neither ISO 8601 with Z or an offset nor whole epoch seconds',
        textOf(bytes, fields, timeField),
      )
      continue
    }
    const bad = readMeasures(bytes, fields, columns, codes, file)
    if (bad !== null) {
      file.bad(line, bad, textOf(bytes, fields, fields.wrong))
      continue
    }
    understood++
    if (dropUnusable(names, codes, file)) waiting.add(handle, time, names, codes)
  }
  waiting.flush()
  file.rows(understood)
}

const FORECAST_LABELS: { readonly [label: string]: ForecastName } = {
  wave_height: 'waveHeight',
  wave_period: 'wavePeriod',
  wave_direction: 'waveDirection',
  swell_height: 'swellHeight',
  swell_period: 'swellPeriod',
  swell_direction: 'swellDirection',
  wind_speed: 'windSpeed',
  wind_direction: 'windDirection',
}
const FORECAST_KEYS = ['lat', 'lng', 'run', 'time']
const FORECAST_COLUMNS = [...FORECAST_KEYS, ...Object.keys(FORECAST_LABELS)]

/** The lines of one point's newest run, in the order in which they came: a time and one code per name. */
interface PointLines {
  lat: number
  lng: number
  runAt: number
  times: number[]
  codes: number[]
}

async function readForecasts(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const points = new Map<string, PointLines>()
  for (const name of (await listFolder(folder))?.files ?? []) {
    const path = join(folder, name)
    if (!/\.csv(\.gz)?$/i.test(name)) {
      report.warn(`csv: ignored ${JSON.stringify(path)}`)
      continue
    }
    const file = report.file(path)
    gatherForecasts(await readText(path, file), file, points)
    file.end()
  }
  for (const point of points.values()) sink.forecast(forecastOf(point))
}

/** Adds the lines of a file to its points. Of several runs of one point only the newest is kept. */
function gatherForecasts(bytes: Uint8Array, file: FileReport, points: Map<string, PointLines>): void {
  const separator = separatorOf(bytes)
  const fields = new Fields()
  splitSeparated(bytes, 0, separator, fields)
  const labels = textsOf(bytes, fields)
  const fault = headerFault(labels, FORECAST_COLUMNS, FORECAST_KEYS)
  if (fault !== null) {
    file.bad(1, fault)
    return
  }
  const columns: MeasureColumn[] = []
  const places: number[] = []
  for (const [label, name] of Object.entries(FORECAST_LABELS)) {
    const field = labels.indexOf(label)
    if (field < 0) continue
    columns.push(measureColumn(FORECAST_MEASURES[name], field, label))
    places.push(FORECAST_NAMES.indexOf(name))
  }
  const codes = new Int32Array(columns.length)
  const [latField, lngField, runField, timeField] = FORECAST_KEYS.map((label) => labels.indexOf(label))
  const { starts, ends } = fields
  // Lines of one point mostly follow each other: then its position need not be read again.
  const known = new Uint8Array(256)
  let knownLength = -1
  let lat = NaN
  let lng = NaN
  let key = ''
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, separator, fields)
    if (isEmptyLine(fields)) continue
    const fault = lineFault(fields, labels.length)
    if (fault !== null) {
      file.bad(line, fault, lineText(bytes, at, fields))
      continue
    }
    if (!sameNames(bytes, fields, latField, lngField, known, knownLength)) {
      knownLength = keepNames(bytes, fields, latField, lngField, known)
      lat = degreesOf(textOf(bytes, fields, latField), 90)
      lng = degreesOf(textOf(bytes, fields, lngField), 180)
      key = pointKey(lat, lng)
    }
    const runAt = timeOf(bytes, starts[runField], ends[runField])
    const time = timeOf(bytes, starts[timeField], ends[timeField])
    const isPlaced = !Number.isNaN(lat) && !Number.isNaN(lng)
    const bad = !isPlaced
      ? 'lat and lng are not numbers from -90 to 90 and -180 to 180'
      : runAt < 0 || time < 0
        ? 'run or time is neither ISO 8601 with Z or an offset nor whole epoch seconds'
        : readMeasures(bytes, fields, columns, codes, file)
    if (bad !== null) {
      const wrong = !isPlaced
        ? [latField, lngField]
        : runAt < 0
          ? [runField]
          : time < 0
            ? [timeField]
            : [fields.wrong]
      file.bad(line, bad, wrong.map((field) => textOf(bytes, fields, field)).join(','))
      continue
    }
    file.rows(1)
    let point = points.get(key)
    if (point !== undefined && runAt < point.runAt) {
      file.skipped('an older run of the same forecast point')
      continue
    }
    if (point === undefined || runAt > point.runAt) {
      point = { lat, lng, runAt, times: [], codes: [] }
      points.set(key, point)
    }
    point.times.push(time)
    const first = point.codes.length
    for (let i = 0; i < FORECAST_NAMES.length; i++) point.codes.push(NO_CODE)
    for (let i = 0; i < codes.length; i++) point.codes[first + places[i]] = codes[i]
  }
}

/** The lines in order of time; of two with one time the later one counts. */
function forecastOf({ lat, lng, runAt, times: given, codes }: PointLines): ForecastRecord {
  const lineOf = new Map(given.map((time, i) => [time, i]))
  const times = [...lineOf.keys()].sort((a, b) => a - b)
  const valuesOf = (name: ForecastName, place: number): (number | null)[] => {
    const { scale } = MEASURES[FORECAST_MEASURES[name]]
    return times.map((time) => {
      const code = codes[lineOf.get(time)! * FORECAST_NAMES.length + place]
      return code === NO_CODE ? null : code / scale
    })
  }
  const values = Object.fromEntries(FORECAST_NAMES.map((name, place) => [name, valuesOf(name, place)]))
  return { lat, lng, runAt, times, values }
}

/** Epoch seconds in digits, or ISO 8601; −1 for anything else. */
function timeOf(bytes: Uint8Array, from: number, to: number): number {
  if (to - from > 10) return isoSeconds(bytes, from, to, 'offset')
  const seconds = digitsAt(bytes, from, to)
  return seconds <= 0xffff_ffff ? seconds : -1
}

/** Whether the two fields hold the bytes that `keepNames` put away, with one byte of length between them. */
function sameNames(
  bytes: Uint8Array,
  { starts, ends }: Fields,
  first: number,
  second: number,
  known: Uint8Array,
  knownLength: number,
): boolean {
  const firstLength = ends[first] - starts[first]
  if (firstLength + 1 + ends[second] - starts[second] !== knownLength || known[0] !== firstLength)
    return false
  for (let i = 0; i < firstLength; i++) if (known[1 + i] !== bytes[starts[first] + i]) return false
  const rest = starts[second] - 1 - firstLength
  for (let i = 1 + firstLength; i < knownLength; i++) if (known[i] !== bytes[rest + i]) return false
  return true
}

/**
 * Puts the bytes of two fields away; returns how many they take, or −1 where they are too long to be kept.
 */
function keepNames(
  bytes: Uint8Array,
  { starts, ends }: Fields,
  first: number,
  second: number,
  known: Uint8Array,
): number {
  const firstLength = ends[first] - starts[first]
  const length = firstLength + 1 + ends[second] - starts[second]
  if (length > known.length) return -1
  known[0] = firstLength
  known.set(bytes.subarray(starts[first], ends[first]), 1)
  known.set(bytes.subarray(starts[second], ends[second]), 1 + firstLength)
  return length
}

/** Rows of many buoys in turns, gathered into batches of one buoy each. */
export class WaitingRows {
  readonly #sink: Sink
  readonly #feed: number
  readonly #batches = new Map<number, RowBatch>()
  #length = 0

  constructor(sink: Sink, feed = 0) {
    this.#sink = sink
    this.#feed = feed
  }

  add(buoy: number, time: number, names: readonly MeasureName[], codes: Int32Array): void {
    let batch = this.#batches.get(buoy)
    if (batch === undefined) {
      batch = new RowBatch(64)
      this.#batches.set(buoy, batch)
    }
    const row = batch.add(time)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) batch.columns[names[i]][row] = codes[i]
    this.#length++
    if (batch.length === BATCH_ROWS) {
      this.#sink.rows(buoy, batch, this.#feed)
      this.#length -= batch.length
      batch.clear()
    } else if (this.#length >= MAX_WAITING_ROWS) this.flush()
  }

  /** Hands everything over and lets go of the memory. */
  flush(): void {
    for (const [buoy, batch] of this.#batches) if (batch.length > 0) this.#sink.rows(buoy, batch, this.#feed)
    this.#batches.clear()
    this.#length = 0
  }
}

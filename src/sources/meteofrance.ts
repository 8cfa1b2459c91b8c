/**
 * Météo-France, the French national network, as it publishes marine observations: a file a day,
 * `marine.20241209.csv` (or `bouees.20241209.csv`), of anchored and drifting buoys and ships.
 *
 * `period` is PwaPwa, the period of the measured waves; there is neither a peak period nor a maximum height.
 * Temperatures are in kelvin, speeds in m/s; `mq` marks what is missing.
 */
import { join } from 'node:path'
import type { MeasureName } from '../sea/columns.ts'
import { WaitingRows } from './csv.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { Stations, UNCOUNTED } from './reading/stations.ts'
import {
  digitsAt,
  dropUnusable,
  epochSeconds,
  Fields,
  lineFault,
  lineText,
  listFolder,
  NO_CODE,
  readText,
  splitSeparated,
  textOf,
  textsOf,
} from './reading/text.ts'
import { codeOf, numberOf, valueColumn, type ValueColumn } from './reading/units.ts'

const SOURCE = 'Météo-France'

const DATA_FILE = /^(?:marine|bouees)\.\d{8}\.csv(?:\.gz)?$/i

const SEMICOLON = 59

/** A header names a measure's column; the unit is that of the network's description. */
const COLUMNS: readonly (readonly [MeasureName, string, string])[] = [
  ['significantHeight', 'HwaHwa', 'm'],
  ['period', 'PwaPwa', 's'],
  ['direction', 'dwadwa', 'degree'],
  ['waterTemperature', 'tmer', 'K'],
  ['windSpeed', 'ff', 'm/s'],
  ['windDirection', 'dd', 'degree'],
  ['gustSpeed', 'rafper', 'm/s'],
]

/** The files have numbers and no names. */
const NAMES: { readonly [identifier: string]: Partial<BuoyRecord> } = {
  '61001': { name: "Côte d'Azur" },
  '61002': { name: 'Golfe du Lion' },
  '62001': { name: 'Gascogne' },
  '62163': { name: 'Bretagne' },
}

/** Opens `folder` as a set of daily files. */
export const openMeteofrance: OpenSource = (folder) => ({
  read: (sink, context) => readMeteofrance(folder, sink, context),
})

async function readMeteofrance(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`meteofrance: there is no folder ${folder}`)
  const files = listing.files.filter((name) => DATA_FILE.test(name))
  const ignored = listing.files.length + listing.folders.length - files.length
  if (ignored > 0) report.warn(`meteofrance: ${ignored} ignored: not named marine.YYYYMMDD.csv`)
  if (files.length === 0) throw new BuildError(`meteofrance: ${folder} holds no marine.YYYYMMDD.csv`)

  const stations = new Stations()
  for (const name of files) {
    const path = join(folder, name)
    report.reads?.(path)
    readRows(await readText(path, UNCOUNTED), UNCOUNTED, ({ identifier, time, lat, lng }) =>
      stations.see(identifier, time, lat, lng, ''),
    )
  }
  sink.source({ name: SOURCE, network: 'national', credit: 'Météo-France', licence: 'Licence Ouverte 2.0' })
  const { handles } = stations.announce(sink, SOURCE, new Map(Object.entries(NAMES)))
  for (const name of files) {
    const path = join(folder, name)
    const file = report.file(path)
    const waiting = new WaitingRows(sink)
    readRows(await readText(path, file), file, ({ identifier, time }, names, codes) => {
      const handle = handles.get(identifier)
      if (handle !== undefined) waiting.add(handle, time, names, codes)
    })
    waiting.flush()
    file.end()
  }
}

interface RowHead {
  identifier: string
  /** Epoch seconds. */
  time: number
  lat: number
  lng: number
}

type TakeRow = (head: RowHead, names: readonly MeasureName[], codes: Int32Array) => void

/** Hands over the rows of anchored buoys that hold something. */
function readRows(bytes: Buffer, file: FileReport, take: TakeRow): void {
  const fields = new Fields()
  splitSeparated(bytes, 0, SEMICOLON, fields)
  const labels = textsOf(bytes, fields)
  const heads = ['numer_sta', 'date', 'lat', 'lon'].map((label) => labels.indexOf(label))
  if (fields.fault !== null || heads.includes(-1) || !labels.includes('HwaHwa')) {
    file.bad(1, 'the header lacks numer_sta, date, lat, lon or HwaHwa')
    return
  }
  const [stationField, timeField, latField, lngField] = heads
  const columns: ValueColumn[] = []
  const places: number[] = []
  for (const [name, label, unit] of COLUMNS) {
    const field = labels.indexOf(label)
    const column = valueColumn(name, label, unit)
    if (field < 0 || column === null) continue
    columns.push(column)
    places.push(field)
  }
  const names = columns.map(({ name }) => name)
  const codes = new Int32Array(columns.length)
  let understood = 0
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, SEMICOLON, fields)
    if (fields.count === 1 && fields.starts[0] === fields.ends[0]) continue
    const broken = lineFault(fields, labels.length)
    if (broken !== null) {
      file.bad(line, broken, lineText(bytes, at, fields))
      continue
    }
    const station = textOf(bytes, fields, stationField)
    const time = stampOf(bytes, fields.starts[timeField], fields.ends[timeField])
    const lat = measured(textOf(bytes, fields, latField))
    const lng = measured(textOf(bytes, fields, lngField))
    if (!/^[0-9A-Za-z]{1,12}$/.test(station) || time < 0 || !isPosition(lat, lng)) {
      file.bad(line, 'no valid station, date or position', lineText(bytes, at, fields))
      continue
    }
    const fault = readValues(bytes, fields, columns, places, codes, file)
    if (fault !== null) {
      file.bad(line, fault, lineText(bytes, at, fields))
      continue
    }
    understood++
    const identifier = anchoredBuoy(station)
    if (identifier === null) file.skipped('a ship or a drifting buoy')
    else if (dropUnusable(names, codes, file)) take({ identifier, time, lat: lat!, lng: lng! }, names, codes)
  }
  file.rows(understood)
}

/** A number, NaN where it is missing, null for anything else. */
const measured = (text: string): number | null => (text === 'mq' ? NaN : numberOf(text))

function isPosition(lat: number | null, lng: number | null): boolean {
  return lat !== null && lng !== null && !(Math.abs(lat) > 90) && !(Math.abs(lng) > 180)
}

function readValues(
  bytes: Buffer,
  fields: Fields,
  columns: readonly ValueColumn[],
  places: readonly number[],
  codes: Int32Array,
  file: FileReport,
): string | null {
  for (let i = 0; i < columns.length; i++) {
    codes[i] = NO_CODE
    const value = measured(textOf(bytes, fields, places[i]))
    if (value === null) return `${COLUMNS.find(([name]) => name === columns[i].name)![1]} is not a number`
    codes[i] = codeOf(columns[i], value, file)
  }
  return null
}

/**
 * The five digits by which an anchored buoy is known everywhere, or null for what is none. WMO numbers of
 * seven digits are older ones of five with two zeros put in behind the area: 4100300 is 41300, east of
 * Martinique. Ships have letters, and drifting buoys add 500 to the number behind the area.
 */
function anchoredBuoy(station: string): string | null {
  if (!/^(?:\d{5}|\d{7})$/.test(station) || Number(station.slice(-3)) >= 500) return null
  return station.length === 7 && station.slice(2, 4) === '00'
    ? station.slice(0, 2) + station.slice(4)
    : station
}

/** Reads `YYYYMMDDhhmmss` (UTC) as epoch seconds, or −1. */
function stampOf(bytes: Buffer, from: number, to: number): number {
  if (to - from !== 14) return -1
  const [year, month, day, hour, minute, second] = [0, 4, 6, 8, 10, 12].map((at, i) =>
    digitsAt(bytes, from + at, from + at + (i === 0 ? 4 : 2)),
  )
  return epochSeconds(year, month, day, hour, minute, second)
}

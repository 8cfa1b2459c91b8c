/** Lists of stations: `activestations*.xml` and `station_table*.txt`, joined into one. */
import { join } from 'node:path'
import { SaxesParser } from 'saxes'
import type { FileReport, Report } from '../source.ts'
import { cleanName, decode, degreesOf } from '../reading/fields.ts'
import { readText } from '../reading/source-files.ts'
import { compareText } from '../../system/text.ts'

/** Bytes; a list has 0.3 MB. The parser keeps open elements, at some 200 bytes for one of three. */
const MAX_LIST_BYTES = 8 * 2 ** 20

const ACTIVE_STATIONS = /^activestations.*\.xml(?:\.gz)?$/i
const STATION_TABLE = /^station_table.*\.txt(?:\.gz)?$/i
export const isStationList = (name: string): boolean => ACTIVE_STATIONS.test(name) || STATION_TABLE.test(name)
export const IDENTIFIER = /^[0-9A-Z]{3,8}$/

interface Station {
  /** Empty if no list has one. */
  name: string
  lat?: number
  lng?: number
  /** The word in the list of active stations: "buoy", "fixed", "oilrig", "dart", "tao", "usv", "other". */
  type?: string
}

interface StationList {
  /** Lists written later come first. */
  created: string
  stations: Map<string, Station>
}

/**
 * Joins the active stations, newest list first, and the station table, which also has former stations; a list
 * fills what the ones before leave open.
 */
export async function readStations(
  folder: string,
  names: readonly string[],
  report: Report,
): Promise<Map<string, Station>> {
  const active: StationList[] = []
  const tables: StationList[] = []
  for (const name of names) {
    const isActive = ACTIVE_STATIONS.test(name)
    const path = join(folder, name)
    const file = report.file(path)
    const text = decode(await readText(path, file, MAX_LIST_BYTES))
    const list = isActive
      ? parseActiveStations(text, file)
      : { created: name, stations: parseStationTable(text, file) }
    if (file.end()) (isActive ? active : tables).push(list)
  }
  const stations = new Map<string, Station>()
  const newestFirst = (a: StationList, b: StationList): number => compareText(b.created, a.created)
  for (const list of [...active.sort(newestFirst), ...tables.sort(newestFirst)]) {
    for (const [identifier, found] of list.stations) {
      const known = stations.get(identifier)
      if (known === undefined) stations.set(identifier, found)
      else {
        if (known.name === '') known.name = found.name
        if (known.lat === undefined) place(known, found.lat, found.lng)
        if (known.type === undefined && found.type !== undefined) known.type = found.type
      }
    }
  }
  return stations
}

function place(station: Station, lat: number | undefined, lng: number | undefined): void {
  if (lat === undefined || lng === undefined) return
  // The list's owner writes 30 N 90 W, New Orleans, for a glider without a position.
  if (lat === 30 && lng === -90) return
  station.lat = lat
  station.lng = lng
}

function parseActiveStations(text: string, file: FileReport): StationList {
  const list: StationList = { created: '', stations: new Map() }
  const parser = new SaxesParser()
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'stations') list.created = attributes['created'] ?? ''
    if (name !== 'station') return
    const identifier = (attributes['id'] ?? '').toUpperCase()
    const lat = degreesOf(attributes['lat'] ?? '', 90)
    const lng = degreesOf(attributes['lon'] ?? '', 180)
    if (!IDENTIFIER.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(parser.line, 'a station without a valid id, lat or lon')
      return
    }
    const station: Station = { name: cleanName(attributes['name'] ?? '') }
    const type = cleanName(attributes['type'] ?? '')
    if (type !== '') station.type = type
    place(station, lat, lng)
    list.stations.set(identifier, station)
    file.rows(1)
  })
  try {
    parser.write(text).close()
  } catch {
    file.bad(parser.line, 'not well-formed XML; the rest of the file is not read')
  }
  return list
}

/** The longest line has 700 characters, most of them a remark that is not read. */
const MAX_TABLE_LINE = 10_000

/** `57.567 N 76.257 W` at the start of the seventh of ten fields. */
const TABLE_LOCATION = /^(\d{1,3}(?:\.\d+)?) ([NS]) (\d{1,3}(?:\.\d+)?) ([EW])/

function parseStationTable(text: string, file: FileReport): Map<string, Station> {
  const stations = new Map<string, Station>()
  let number = 0
  for (let at = 0, next = 0; at < text.length; at = next) {
    const end = text.indexOf('\n', at)
    next = end < 0 ? text.length : end + 1
    number++
    const line = text.slice(at, Math.min(next, at + MAX_TABLE_LINE)).trimEnd()
    if (line.startsWith('#') || line.trim() === '') continue
    const cells = line.split('|')
    const identifier = cells[0].trim().toUpperCase()
    if (cells.length < 7 || !IDENTIFIER.test(identifier)) {
      file.bad(number, 'not a line of the station table')
      continue
    }
    const station: Station = { name: cleanName(cells[4]) }
    const location = TABLE_LOCATION.exec(cells[6].trim())
    if (location !== null) {
      const lat = degreesOf(location[1], 90) * (location[2] === 'S' ? -1 : 1)
      const lng = degreesOf(location[3], 180) * (location[4] === 'W' ? -1 : 1)
      if (!Number.isNaN(lat) && !Number.isNaN(lng)) place(station, lat, lng)
    }
    stations.set(identifier, station)
    file.rows(1)
  }
  return stations
}

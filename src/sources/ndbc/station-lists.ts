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

/** The facts of a station in a list; a list fills the gaps of better ones. */
interface Station {
  name?: string
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

/** Joins the active stations, newest list first, and the station table, which also has former stations. */
export async function readStations(
  folder: string,
  names: readonly string[],
  report: Report,
): Promise<Map<string, Station>> {
  const lists: (StationList & { isActive: boolean })[] = []
  for (const name of names) {
    const isActive = ACTIVE_STATIONS.test(name)
    const path = join(folder, name)
    const file = report.file(path)
    const text = decode(await readText(path, file, MAX_LIST_BYTES))
    const list = isActive ? readActiveStations(text, file) : readStationTable(text, file, name)
    if (file.end()) lists.push({ ...list, isActive })
  }
  lists.sort((a, b) => Number(b.isActive) - Number(a.isActive) || compareText(b.created, a.created))
  const stations = new Map<string, Station>()
  for (const [identifier, found] of lists.flatMap((list) => [...list.stations]))
    stations.set(identifier, { ...found, ...stations.get(identifier) })
  return stations
}

function stationOf(text: string, lat: number, lng: number): Station {
  const name = cleanName(text)
  const known = name === '' ? {} : { name }
  // The list's owner writes 30 N 90 W, New Orleans, for a glider without a position.
  const isPlaced = !Number.isNaN(lat + lng) && !(lat === 30 && lng === -90)
  return isPlaced ? { ...known, lat, lng } : known
}

function readActiveStations(text: string, file: FileReport): StationList {
  const list: StationList = { created: '', stations: new Map() }
  const parser = new SaxesParser()
  parser.on(
    'opentag',
    ({ name: tag, attributes: { created = '', id = '', lat = '', lon = '', name = '', type = '' } }) => {
      if (tag === 'stations') list.created = created
      if (tag !== 'station') return
      const identifier = id.toUpperCase()
      const [north, east] = [degreesOf(lat, 90), degreesOf(lon, 180)]
      if (!IDENTIFIER.test(identifier) || Number.isNaN(north + east)) {
        file.bad(parser.line, 'a station without a valid id, lat or lon')
        return
      }
      const word = cleanName(type)
      list.stations.set(identifier, { ...stationOf(name, north, east), ...(word !== '' && { type: word }) })
      file.rows(1)
    },
  )
  try {
    parser.write(text).close()
  } catch {
    file.bad(parser.line, 'not well-formed XML; the rest of the file is not read')
  }
  return list
}

/** `57.567 N 76.257 W` at the start of the seventh of ten fields. */
const TABLE_LOCATION = /^(\d{1,3}(?:\.\d+)?) ([NS]) (\d{1,3}(?:\.\d+)?) ([EW])/

function readStationTable(text: string, file: FileReport, created: string): StationList {
  const stations = new Map<string, Station>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.startsWith('#') || line.trim() === '') continue
    // A remark that is not read comes last, and is long.
    const cells = line.split('|', 7)
    const identifier = cells[0].trim().toUpperCase()
    if (cells.length < 7 || !IDENTIFIER.test(identifier)) {
      file.bad(i + 1, 'not a line of the station table')
      continue
    }
    const [, lat = '', south, lng = '', west] = TABLE_LOCATION.exec(cells[6].trim()) ?? []
    const north = degreesOf(lat, 90) * (south === 'S' ? -1 : 1)
    const east = degreesOf(lng, 180) * (west === 'W' ? -1 : 1)
    stations.set(identifier, stationOf(cells[4], north, east))
    file.rows(1)
  }
  return { created, stations }
}

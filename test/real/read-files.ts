/**
 * A second, naive reading of public data files: whole texts, split lines, plain objects. It shares no code
 * with the product and follows the networks' own descriptions of their formats, so that the two readings are
 * unlikely to be wrong alike.
 *
 * It trusts its input: the files are known to be well formed, and a line that is not makes it throw.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { NO_SWELL, NO_WEATHER } from '../oracle/plans.ts'
import type { WorldBuoy, WorldRow } from '../oracle/world.ts'

/** Where the real files of the networks lie, which `node test/run.mjs --real=FOLDER` is given. */
export const DATA = process.env['GROUNDSWELL_REAL'] ?? ''

interface RealFolders {
  /** A mirror of NDBC's folders: station lists, `realtime2`, `stdmet`. */
  ndbc: string
  /** Yearly files of Candhis beside a list of its stations. */
  candhis: string
}

type BuoyWithoutPlace = Omit<WorldBuoy, 'country' | 'timezone'>

/** All buoys that have both a data file and a position. @throws Error on a line that is not of its format. */
export function readBuoys({ ndbc, candhis }: RealFolders): BuoyWithoutPlace[] {
  return [...readNdbc(ndbc), ...readCandhis(candhis)]
}

function linesOf(path: string): string[] {
  const stored = readFileSync(path)
  const bytes = path.endsWith('.gz') ? gunzipSync(stored) : stored
  return bytes
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

const filesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : [])

/**
 * Joins the rows of two feeds: at one time the archive's values count, and the other feed fills what it has
 * not.
 */
function mergeFeeds(archive: WorldRow[], realtime: WorldRow[]): WorldRow[] {
  const byTime = new Map(realtime.map((row) => [row.time, row]))
  for (const row of archive) {
    const other = byTime.get(row.time)
    byTime.set(row.time, other === undefined ? row : filled(row, other))
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

function filled(row: WorldRow, other: WorldRow): WorldRow {
  const names = Object.keys(row) as (keyof WorldRow)[]
  return Object.fromEntries(names.map((name) => [name, row[name] ?? other[name]])) as unknown as WorldRow
}

// --- NDBC

interface Station {
  name: string
  lat: number
  lng: number
}

const ENTITIES: { [entity: string]: string } = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
}
const plainText = (text: string) =>
  text
    .replaceAll(/&[a-z]+;/g, (entity) => ENTITIES[entity])
    .replaceAll(/\s+/g, ' ')
    .trim()

/** The active stations, and behind them the longer table that also knows stations which are gone. */
function readStations(folder: string): Map<string, Station> {
  const stations = new Map<string, Station>()
  const note = (identifier: string, station: Station) => {
    // New Orleans is where the list puts gliders whose position it does not know.
    const isPlaced = station.lat !== 30 || station.lng !== -90
    if (isPlaced && !stations.has(identifier)) stations.set(identifier, station)
  }
  for (const file of filesIn(folder).filter((name) => name.startsWith('activestations'))) {
    for (const [tag] of readFileSync(join(folder, file), 'utf8').matchAll(/<station\s[^>]*>/g)) {
      const attribute = (name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? ''
      note(attribute('id').toUpperCase(), {
        name: plainText(attribute('name')),
        lat: Number(attribute('lat')),
        lng: Number(attribute('lon')),
      })
    }
  }
  for (const file of filesIn(folder).filter((name) => name.startsWith('station_table'))) {
    for (const line of linesOf(join(folder, file)).filter((one) => !one.startsWith('#'))) {
      const cells = line.split('|')
      const [lat, northOrSouth, lng, eastOrWest] = cells[6].trim().split(/\s+/)
      if (lat === undefined || lng === undefined) continue
      note(cells[0].trim().toUpperCase(), {
        name: plainText(cells[4]),
        lat: Number(lat) * (northOrSouth === 'S' ? -1 : 1),
        lng: Number(lng) * (eastOrWest === 'W' ? -1 : 1),
      })
    }
  }
  return stations
}

/** A line of a station's file: each measured column by its present name, null where nothing was measured. */
interface StationLine {
  time: number
  values: { [column: string]: number | null }
}

function readNdbc(folder: string): BuoyWithoutPlace[] {
  const stations = readStations(folder)
  const archive = readStationFiles(join(folder, 'stdmet'), isArchiveMissing)
  const realtime = readStationFiles(join(folder, 'realtime2'), (_, text) => text === 'MM')
  const identifiers = new Set([...archive.keys(), ...realtime.keys()])
  return [...identifiers].sort().flatMap((identifier): BuoyWithoutPlace[] => {
    const station = stations.get(identifier)
    if (station === undefined) return []
    return [
      {
        source: 'NDBC',
        identifier,
        name: station.name === '' ? `Station ${identifier}` : station.name,
        lat: station.lat,
        lng: station.lng,
        virtual: false,
        rows: mergeFeeds(
          withoutRepeats(archive.get(identifier) ?? []),
          withoutRepeats(realtime.get(identifier) ?? []),
        ),
      },
    ]
  })
}

/** The archive marks a missing value by nines, as many as its column is wide. */
function isArchiveMissing(column: string, text: string): boolean {
  const value = Number(text)
  if (column === 'PRES') return value === 9999
  if (['WDIR', 'MWD', 'WTMP', 'ATMP', 'DEWP'].includes(column)) return value === 999
  return value === 99
}

const WEATHER = ['ATMP', 'DEWP', 'PRES', 'VIS']
const COLUMNS = ['WVHT', 'DPD', 'APD', 'MWD', 'WTMP', 'WDIR', 'WSPD', 'GST', ...WEATHER]
const RENAMED: { [old: string]: string } = { '#YY': 'YY', YYYY: 'YY', WD: 'WDIR', BAR: 'PRES' }

/** The lines of all stations of a folder, each time of a station once. */
function readStationFiles(
  folder: string,
  isMissing: (column: string, text: string) => boolean,
): Map<string, StationLine[]> {
  const stations = new Map<string, Map<number, StationLine>>()
  for (const file of filesIn(folder)) {
    if (!/\.txt(\.gz)?$/.test(file)) continue
    const identifier = basename(file)
      .replace(/\.txt(\.gz)?$/, '')
      .replace(/h\d{4}(\d\d)?(qc)?$/, '')
      .toUpperCase()
    const known = stations.get(identifier) ?? new Map<number, StationLine>()
    stations.set(identifier, known)
    const [header, ...body] = linesOf(join(folder, file))
    const labels = header.split(/\s+/).map((label) => RENAMED[label] ?? label)
    const isNautical = body[0].startsWith('#') && body[0].split(/\s+/)[labels.indexOf('VIS')] === 'nmi'
    for (const line of body) {
      if (line.startsWith('#')) continue
      const cells = line.split(/\s+/)
      if (cells.length !== labels.length) throw new Error(`${file}: ${line}`)
      const cell = (label: string) => cells[labels.indexOf(label)]
      const year = Number(cell('YY'))
      const time = Date.UTC(
        year < 100 ? 1900 + year : year,
        Number(cell('MM')) - 1,
        Number(cell('DD')),
        Number(cell('hh')),
        labels.includes('mm') ? Number(cell('mm')) : 0,
      )
      const values: StationLine['values'] = {}
      for (const column of COLUMNS) {
        const text = cell(column)
        const isUnknown = column === 'VIS' && !isNautical
        values[column] = isUnknown || isMissing(column, text) ? null : numberOf(text, file)
      }
      if (values['DPD'] === 0) values['DPD'] = null
      known.set(time / 1000, { time: time / 1000, values })
    }
  }
  return new Map([...stations].map(([identifier, lines]) => [identifier, [...lines.values()]]))
}

function numberOf(text: string, file: string): number {
  const value = Number(text)
  if (text === '' || !Number.isFinite(value)) throw new Error(`${file}: ${text} is not a number`)
  return value
}

/**
 * Many stations send a wave sample twice, at first without its dominant period. In time order, a run of lines
 * with waves, each at most ten minutes after the one before and all within twenty of the first, with the same
 * WVHT, APD and MWD and one DPD at most, is one sample. Its first line stands for it, with what that lacks
 * from the first of the others that has it, weather excepted. Without APD there are no repeats. The other
 * lines keep their wind and water temperature.
 */
function withoutRepeats(lines: StationLine[]): WorldRow[] {
  const ordered = lines.toSorted((a, b) => a.time - b.time)
  const runs: StationLine[][] = []
  for (const line of ordered.filter(({ values }) => values['WVHT'] !== null)) {
    const run = runs.at(-1) ?? []
    const isRepeat =
      run.length > 0 &&
      line.values['APD'] !== null &&
      line.time - run.at(-1)!.time <= 600 &&
      line.time - run[0].time <= 1200 &&
      ['WVHT', 'APD', 'MWD'].every((column) => line.values[column] === run[0].values[column]) &&
      [line, ...run].filter(({ values }) => values['DPD'] !== null).length <= 1
    if (isRepeat) run.push(line)
    else runs.push([line])
  }
  const garbled = new Set(runs.filter((run) => isGarbled(run, runs)).flat())
  const samples = new Map(
    runs.map((run) => {
      const values: StationLine['values'] = {}
      for (const column of COLUMNS) {
        const lines = WEATHER.includes(column) ? run.slice(0, 1) : run
        values[column] = lines.map((line) => line.values[column]).find((value) => value !== null) ?? null
      }
      return [run[0], { time: run[0].time, values }]
    }),
  )
  return ordered.map((line) => rowOf(samples.get(line) ?? line, samples.has(line) && !garbled.has(line)))
}

/** One number as height and as average period, without a dominant one. */
function isSuspect(run: readonly StationLine[]): boolean {
  const { WVHT: height, APD: average } = run[0].values
  return height! > 0 && height === average && run.every(({ values }) => values['DPD'] === null)
}

/**
 * Whether neither the last sound sample before nor the first after, within three hours, is as high to a
 * third.
 */
function isGarbled(run: readonly StationLine[], runs: readonly StationLine[][]): boolean {
  if (!isSuspect(run)) return false
  const [{ time, values }] = run
  const sound = runs.filter((other) => !isSuspect(other)).map(([first]) => first)
  return ![sound.findLast((first) => first.time < time), sound.find((first) => first.time > time)].some(
    (first) =>
      first !== undefined &&
      Math.abs(first.time - time) <= 3 * 3600 &&
      Math.abs(first.values['WVHT']! - values['WVHT']!) <= values['WVHT']! / 3,
  )
}

function rowOf(line: StationLine, isSample: boolean): WorldRow {
  const value = (column: string) => line.values[column]
  const wave = (column: string) => (isSample ? value(column) : null)
  return {
    time: line.time,
    significantHeight: wave('WVHT'),
    maximumHeight: null,
    period: wave('DPD'),
    peakPeriod: wave('DPD'),
    direction: wave('MWD'),
    waterTemperature: value('WTMP'),
    windSpeed: kilometresAnHour(value('WSPD')),
    windDirection: value('WDIR'),
    gustSpeed: kilometresAnHour(value('GST')),
    ...NO_SWELL,
    airTemperature: value('ATMP'),
    dewPoint: value('DEWP'),
    pressure: value('PRES'),
    humidity: null,
    visibility: value('VIS') === null ? null : Math.round(value('VIS')! * 185.2) / 100,
  }
}

/** Metres a second have one decimal, so that two decimals hold the product exactly; binary numbers do not. */
function kilometresAnHour(metresPerSecond: number | null): number | null {
  return metresPerSecond === null ? null : Math.round(metresPerSecond * 10 * 36) / 100
}

// --- Candhis

const ARCHIVE_LABELS = {
  time: 'DateHeure',
  significantHeight: 'H13D',
  maximumHeight: 'HMAXD',
  period: 'TH13D',
  peakPeriod: 'TP',
  direction: 'THETAP',
  waterTemperature: '',
}
const REALTIME_LABELS = {
  time: 'Date',
  significantHeight: 'H1/3',
  maximumHeight: 'Hmax',
  period: 'Th1/3',
  peakPeriod: '',
  direction: 'DirPic',
  waterTemperature: 'TempMer',
}

function readCandhis(folder: string): BuoyWithoutPlace[] {
  const names = filesIn(folder)
  const list = names.find((name) => name.startsWith('candhis_stations'))
  if (list === undefined) throw new Error(`${folder} has no list of stations`)
  const [header, ...stations] = linesOf(join(folder, list)).map((line) => line.split(','))
  return stations.flatMap((cells): BuoyWithoutPlace[] => {
    const cell = (label: string) => cells[header.indexOf(label)]
    const identifier = cell('ID').toUpperCase()
    const rows = (kind: string, labels: typeof ARCHIVE_LABELS) =>
      names
        .filter((name) => name.startsWith(`Candhis_${identifier}_`) && name.includes(`_${kind}.csv`))
        .flatMap((name) => readCampaign(join(folder, name), labels))
    const merged = mergeFeeds(rows('arch', ARCHIVE_LABELS), rows('reel', REALTIME_LABELS))
    if (merged.length === 0) return []
    return [
      {
        source: 'Candhis',
        identifier,
        name: cell('name'),
        lat: Number(cell('lat')),
        lng: Number(cell('lon')),
        virtual: false,
        rows: merged,
      },
    ]
  })
}

function readCampaign(path: string, labels: typeof ARCHIVE_LABELS): WorldRow[] {
  const [header, ...lines] = linesOf(path).map((line) => line.split(';'))
  return lines.map((cells): WorldRow => {
    const value = (label: string) => {
      if (label === '') return null
      const measured = numberOf(cells[header.indexOf(label)], path)
      return measured >= 999.99 ? null : measured
    }
    const height = value(labels.significantHeight)
    return {
      time: Date.parse(`${cells[header.indexOf(labels.time)].replace(' ', 'T')}Z`) / 1000,
      significantHeight: height,
      maximumHeight: value(labels.maximumHeight),
      period: value(labels.period),
      peakPeriod: value(labels.peakPeriod),
      direction: value(labels.direction),
      waterTemperature: value(labels.waterTemperature),
      windSpeed: null,
      windDirection: null,
      gustSpeed: null,
      ...NO_SWELL,
      ...NO_WEATHER,
    }
  })
}

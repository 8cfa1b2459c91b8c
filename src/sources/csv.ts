/**
 * Our own plain format, for anybody with a database of buoys: a folder of CSV tables in the contract's units.
 * `docs/sources-csv.md` documents it for operators. Of each table the first columns are required.
 */
import { basename, join } from 'node:path'
import { FORECAST_MEASURES, FORECAST_NAMES, MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import { pointKey } from '../sea/geo.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfSlug } from '../sea/missions.ts'
import type { ForecastRecord, HarbourRecord, PassRecord } from '../sea/records.ts'
import { NO_CODE } from '../sea/row-batch.ts'
import { constituentOf, MAX_AMPLITUDE } from '../sea/tidal-constituents.ts'
import { LAST_SECOND } from '../sea/time.ts'
import { isZone } from '../sea/zones.ts'
import { cleanName, degreesOf, MOST_OF_CREDIT } from './reading/fields.ts'
import { labelOf } from './reading/known-names.ts'
import { eachRow, knownColumn } from './reading/measured-values.ts'
import { doubtIgnored, listFolder, listSource, readText, takeDoubts } from './reading/source-files.ts'
import { WaitingRows } from './reading/waiting-rows.ts'
import {
  type Columns,
  degrees,
  labelsFault,
  matching,
  oneOf,
  openText,
  PLACE_COLUMNS,
  type ReadRecord,
  readTable,
  STATION_COLUMNS,
  Unfit,
  whole,
} from './reading/text-table.ts'
import { isoTime, timeReader } from './reading/times.ts'
import { codeOf, numberAt } from './reading/units.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from './source.ts'

const TIME_FAULT = 'must be ISO 8601 with a zone (2026-03-27T09:00:00Z) or 9 to 10 digits of epoch seconds'

const stampedHour = timeReader('YYYYMMDDHH')!

/**
 * Epoch seconds of a cell with 9 or 10 digits (fewer are days, dates or minutes) or ISO 8601 with a zone; −1
 * for anything else. 2024031014 is more likely ten o'clock of a day in 2024 than a second of 2034.
 */
function secondsOf(text: string): number {
  if (!/^\d{9,10}$/.test(text)) return isoTime(text, null)
  return Number(text) > LAST_SECOND || stampedHour(text) >= 0 ? -1 : Number(text)
}

/** A cell with a time. @throws Unfit */
function moment(text: string): number {
  const seconds = secondsOf(text)
  if (seconds < 0) throw new Unfit(TIME_FAULT)
  return seconds
}

const credit = (text: string): string => cleanName(text, MOST_OF_CREDIT)
const MISSION = {
  mission: matching((text) => missionOfSlug(text) !== undefined, 'is not the slug of a satellite mission'),
  cycle: whole(0, MAX_CYCLE),
  number: whole(1, MAX_PASS_NUMBER),
}
const NETWORKS = {
  name: (text: string) => matching((name) => /^[^"]+$/.test(name), 'is empty or has quotes')(cleanName(text)),
  network: oneOf('national', 'coastal', 'satellite'),
  credit,
  licence: credit,
}
const BUOYS = {
  source: cleanName,
  ...STATION_COLUMNS,
  country: matching((text) => /^([A-Z]{2})?$/.test(text), 'is not two capital letters'),
  timezone: matching((text) => text === '' || isZone(text), 'is not an IANA time zone'),
  virtual: oneOf('true', 'false', '1', '0', ''),
}
const SPOTS = { id: whole(1, 0xffff_ffff), ...PLACE_COLUMNS }
const PASSES = {
  ...MISSION,
  started_at: moment,
  ended_at: moment,
  south: degrees(90),
  west: degrees(180),
  north: degrees(90),
  east: degrees(180),
}
const OBSERVATIONS = { ...MISSION, source: cleanName, identifier: String, time: moment }
const FORECAST = { lat: degrees(90), lng: degrees(180), run: moment, time: moment, model: String }
/** m; chart datum lies within some metres of the sea. */
const MAX_DATUM_OFFSET = 20
const HARBOURS = {
  ...STATION_COLUMNS,
  datum_offset: degrees(MAX_DATUM_OFFSET),
  credit: (text: string) => matching((line) => line !== '', 'is empty')(credit(text)),
}
const CONSTITUENTS = {
  harbour: String,
  constituent: matching((text) => constituentOf(text) !== null, 'is not the name of a tidal constituent'),
  amplitude: (text: string) => {
    const amplitude = degreesOf(text, MAX_AMPLITUDE)
    if (!(amplitude >= 0)) throw new Unfit(`is not a number from 0 to ${MAX_AMPLITUDE}`)
    return amplitude
  },
  phase: degrees(360),
}

export const openCsv: OpenSource = (folder) => ({
  isControlled: true,
  read: (sink, context) => readCsv(folder, sink, context),
})

async function readCsv(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files } = await listSource('csv', folder)
  const needed = new Set(['sources.csv', 'buoys.csv'])
  if (files.includes('harbours.csv')) needed.add('constituents.csv')
  /**
   * Reads a table. @throws BuildError when it is missing and must not be, or its header lacks a required
   * column
   */
  const read = async <C extends Columns>(
    name: string,
    columns: C,
    required: number,
    take: ReadRecord<C>,
  ): Promise<void> => {
    const path = join(folder, name)
    if (files.includes(name) || needed.has(name))
      await readTable(path, report.file(path), columns, required, take)
  }

  const handles: Handles = new Map()
  await read('sources.csv', NETWORKS, 2, ({ name, network, credit, licence }, cell) => {
    if (handles.has(name)) return 'a source with this name is listed above'
    const isCut = [cell('credit'), cell('licence')].some((text) => text.length > MOST_OF_CREDIT)
    const what = `a credit or licence is longer than ${MOST_OF_CREDIT} characters and is cut at a word`
    if (isCut) report.doubt({ what, examples: [name], isGrave: true })
    handles.set(name, new Map())
    sink.source({ name, network, ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) })
    return null
  })
  await read('buoys.csv', BUOYS, 5, ({ country, timezone, virtual, ...buoy }) => {
    const ofSource = handles.get(buoy.source)
    if (ofSource === undefined) return 'this source is not in sources.csv'
    if (ofSource.has(buoy.identifier)) return 'a buoy with this source and identifier is listed above'
    const record = {
      ...buoy,
      ...(country !== '' && { country }),
      ...(timezone !== '' && { timezone }),
      ...((virtual === 'true' || virtual === '1') && { virtual: true }),
    }
    ofSource.set(buoy.identifier, sink.buoy(record))
    return null
  })
  const readings = await tablesIn(join(folder, 'readings'), report)
  if (readings.length === 0) report.doubt({ what: 'there are no readings', examples: [folder] })
  for (const path of readings) {
    const file = report.file(path)
    const waiting = new WaitingRows(sink, takeDoubts(report, path))
    readReadings(await readText(path, file), file, handles, waiting)
    waiting.end(file.end())
  }
  const points: ForecastPoints = new Map()
  for (const path of await tablesIn(join(folder, 'forecast'), report))
    await readForecasts(path, report.file(path), points)
  for (const point of points.values()) sink.forecast(forecastOf(point))

  const passes = new Map<string, PassRecord>()
  const keyOf = (pass: Pick<PassRecord, 'mission' | 'cycle' | 'number'>): string =>
    `${pass.mission} ${pass.cycle} ${pass.number}`
  await read('passes.csv', PASSES, 9, ({ mission, cycle, number, started_at, ended_at, ...bounds }) => {
    if (ended_at < started_at || bounds.south > bounds.north)
      return 'started_at and ended_at, or south and north, are not in this order'
    const key = keyOf({ mission, cycle, number })
    if (passes.has(key)) return 'a pass with this mission, cycle and number is listed above'
    passes.set(key, {
      mission,
      cycle,
      number,
      startedAt: started_at,
      endedAt: ended_at,
      bounds,
      observations: [],
    })
    return null
  })
  await read('pass_observations.csv', OBSERVATIONS, 6, ({ source, identifier, time, ...key }) => {
    const pass = passes.get(keyOf(key))
    if (pass === undefined) return 'this mission, cycle and number are not in passes.csv'
    const buoy = handles.get(source)?.get(identifier)
    if (buoy === undefined) return 'this source and identifier are not in buoys.csv'
    if (time < pass.startedAt || time > pass.endedAt) return 'time is not within the pass'
    pass.observations.push({ buoy, time })
    return null
  })
  for (const pass of passes.values()) sink.pass(pass)

  const ids = new Set<number>()
  await read('spots.csv', SPOTS, 4, (spot) => {
    if (ids.has(spot.id)) return 'a spot with this id is listed above'
    ids.add(spot.id)
    sink.spot(spot)
    return null
  })

  const harbours = new Map<string, HarbourRecord>()
  await read('harbours.csv', HARBOURS, 6, ({ datum_offset, ...harbour }) => {
    if (harbours.has(harbour.identifier)) return 'a harbour with this identifier is listed above'
    harbours.set(harbour.identifier, { ...harbour, datumOffset: datum_offset, constituents: [] })
    return null
  })
  await read('constituents.csv', CONSTITUENTS, 4, ({ harbour, constituent, amplitude, phase }) => {
    const constituents = harbours.get(harbour)?.constituents
    if (constituents === undefined) return 'this harbour is not in harbours.csv'
    const { name } = constituentOf(constituent)!
    if (constituents.some((known) => known.name === name)) return 'this constituent is listed above'
    constituents.push({ name, amplitude, phase })
    return null
  })
  for (const harbour of harbours.values()) {
    if (harbour.constituents.some(({ amplitude }) => amplitude > 0)) sink.harbour(harbour)
    else report.doubt({ what: 'a harbour without a tide is left out', examples: [harbour.identifier] })
  }
}

/** Paths of the tables in a folder, which may be missing. */
async function tablesIn(folder: string, report: Report): Promise<string[]> {
  const { files, folders } = (await listFolder(folder)) ?? { files: [], folders: [] }
  const isTable = (name: string): boolean => /\.csv(\.gz)?$/i.test(name)
  const others = [...files.filter((name) => !isTable(name)), ...folders]
  doubtIgnored(
    report,
    others.map((name) => join(basename(folder), name)),
  )
  return files.filter(isTable).map((name) => join(folder, name))
}

/** Handles of buoys by source and identifier. */
type Handles = Map<string, Map<string, number>>

const READING_KEYS = ['source', 'identifier', 'time']
const READING_LABELS = [...READING_KEYS, ...MEASURE_NAMES.map(labelOf)]

/** Reads a table of readings, by the hundred million. A faulty header is one bad line. */
function readReadings(bytes: Buffer, file: FileReport, handles: Handles, waiting: WaitingRows): void {
  const table = openText(bytes, file)
  if (table === null) return
  const { labels } = table
  const fault = labelsFault(labels, READING_LABELS, READING_KEYS)
  if (fault !== null) {
    file.bad(1, fault)
    return
  }
  const measured = MEASURE_NAMES.filter((name) => labels.includes(labelOf(name))).map((name) =>
    knownColumn(name, labels.indexOf(labelOf(name)), labelOf(name)),
  )
  const [source, identifier, timeColumn] = READING_KEYS.map((key) => labels.indexOf(key))
  let last = ''
  let handle: number | undefined
  const headOf = (): number | null => {
    const [network, station] = [table.text(source), table.text(identifier)]
    const cells = `${network},${station}`
    // The buoy of two cells is looked up once for each run of lines.
    if (cells !== last) handle = handles.get(cleanName(network))?.get(station.trim())
    last = cells
    if (handle === undefined) {
      file.bad(table.line, 'this source and identifier are not in buoys.csv', cells)
      return null
    }
    const time = secondsOf(table.text(timeColumn))
    if (time >= 0) return time
    file.bad(table.line, `time ${TIME_FAULT}`, table.text(timeColumn))
    return null
  }
  eachRow(table, measured, file, headOf, (time, names, codes) => waiting.add(handle!, time, names, codes))
}

/** The newest run of one point: its values by label, by time in the order of the files. */
interface Point extends Pick<ForecastRecord, 'lat' | 'lng' | 'runAt' | 'model'> {
  lines: Map<number, { readonly [label: string]: unknown }>
}

type ForecastPoints = Map<string, Point>

/** Adds the lines of a file to its points. If a point has several runs, only the newest is kept. */
function readForecasts(path: string, file: FileReport, points: ForecastPoints): Promise<void> {
  const values = FORECAST_NAMES.map((name): [string, (text: string) => number | null] => {
    const measure = FORECAST_MEASURES[name]
    const { column } = knownColumn(measure, 0, labelOf(name))
    const valueOf = (text: string): number | null => {
      const bytes = Buffer.from(text)
      const value = numberAt(bytes, 0, bytes.length, true)
      if (value === null) throw new Unfit('is not a decimal number')
      const code = codeOf(column, value, file)
      return code === NO_CODE ? null : code / MEASURES[measure].scale
    }
    return [labelOf(name), valueOf]
  })
  const columns = { ...FORECAST, ...Object.fromEntries(values) }
  return readTable(path, file, columns, 4, ({ lat, lng, run: runAt, time, model, ...line }) => {
    const key = pointKey(lat, lng)
    const known = points.get(key)
    if (known === undefined || runAt > known.runAt)
      points.set(key, { lat, lng, runAt, ...(model !== '' && { model }), lines: new Map([[time, line]]) })
    else if (runAt === known.runAt) known.lines.set(time, line)
    else file.skipped('an older run of the same forecast point')
    return null
  })
}

/** The lines in order of time; if two have one time, the later one counts. */
function forecastOf({ lines, ...point }: Point): ForecastRecord {
  const times = [...lines.keys()].sort((a, b) => a - b)
  const values = FORECAST_NAMES.map((name) => [name, times.map((time) => lines.get(time)![labelOf(name)])])
  return { ...point, times, values: Object.fromEntries(values) }
}

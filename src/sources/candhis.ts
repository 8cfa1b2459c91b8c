/**
 * Candhis, the French coastal wave network of Cerema: per campaign (a buoy at a place) yearly CSV files of the archive,
 * `Candhis_06403_2022_arch.csv`, and of the real-time feed, `Candhis_06403_2026_reel.csv`, beside a list of the stations.
 *
 * `period` is the significant period TH13D (Th1/3), `peak_period` is TP, which the real-time feed does not have; the significant height
 * is H13D (H1/3), and Hm0 only where a sensor gives nothing else.
 */
import { join } from 'node:path'
import { type MeasureName, RowBatch } from '../columns.ts'
import {
  BuildError,
  type BuoyRecord,
  type FileReport,
  type OpenSource,
  type Sink,
  type SourceContext,
} from './source.ts'
import {
  cleanName,
  degreesOf,
  dropUnusable,
  Fields,
  isoSeconds,
  listFolder,
  measureColumn,
  type MeasureColumn,
  NO_CODE,
  readMeasures,
  readText,
  splitSeparated,
  textOf,
  textsOf,
} from './text.ts'

const SOURCE = 'Candhis'

/** Campaign codes have five characters, some of them letters ("02B04"). */
const DATA_FILE = /^candhis_([0-9a-z]{5})_(?:\d{4}_)?(arch|reel)\.csv(?:\.gz)?$/i
const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

const MAX_LIST_BYTES = 16 * 2 ** 20
const BATCH_ROWS = 8192

const COMMA = 44
const SEMICOLON = 59

/** Names of a measure's column, the first that the header has counts: archive, real time, then what some sensors give instead. */
const LABELS: readonly (readonly [MeasureName, readonly string[]])[] = [
  ['significantHeight', ['H13D', 'H1/3', 'HM0', 'Hm0']],
  ['maximumHeight', ['HMAXD', 'Hmax']],
  ['period', ['TH13D', 'Th1/3']],
  ['peakPeriod', ['TP']],
  ['direction', ['THETAP', 'DirPic']],
  ['waterTemperature', ['TempMer']],
]

/** 999.999 and 999.9999 mark "missing"; nothing that is measured comes near. */
const MISSING = [999.99, Infinity] as const

/** Opens `folder` as a set of Candhis files. */
export const openCandhis: OpenSource = (folder) => ({
  read: (sink, context) => readCandhis(folder, sink, context),
})

async function readCandhis(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`candhis: there is no folder ${folder}`)
  const campaigns = new Map<string, { name: string; feed: number }[]>()
  const stations = new Map<string, BuoyRecord>()
  const ignored: string[] = [...listing.folders]
  for (const name of listing.files) {
    const [, campaign, kind] = DATA_FILE.exec(name) ?? []
    if (campaign !== undefined) {
      const file = { name, feed: kind.toLowerCase() === 'arch' ? ARCHIVE_FEED : REALTIME_FEED }
      const files = campaigns.get(campaign.toUpperCase())
      if (files === undefined) campaigns.set(campaign.toUpperCase(), [file])
      else files.push(file)
    } else if (STATION_LIST.test(name)) {
      const file = report.file(join(folder, name))
      readStations(await readText(join(folder, name), file, MAX_LIST_BYTES), file, stations)
      file.end()
    } else ignored.push(name)
  }
  if (ignored.length > 0) {
    const some = JSON.stringify(ignored.slice(0, 12)).slice(1, -1)
    report.warn(`candhis: ${ignored.length} ignored: ${some}${ignored.length > 12 ? ', …' : ''}`)
  }
  if (campaigns.size === 0) throw new BuildError(`candhis: ${folder} holds no data files`)

  // No licence is named: public statements about re-use differ, so the credit is what an operator must show.
  sink.source({ name: SOURCE, network: 'coastal', credit: 'Candhis, Cerema and its partners' })
  const batch = new RowBatch(BATCH_ROWS)
  for (const [campaign, files] of [...campaigns].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const station = stations.get(campaign)
    if (station === undefined) {
      report.warn(`candhis: campaign ${campaign} has no position and is left out`)
      continue
    }
    const buoy = sink.buoy(station)
    for (const { name, feed } of files) {
      const path = join(folder, name)
      const file = report.file(path)
      sendRows(await readText(path, file), file, batch, (rows) => sink.rows(buoy, rows, feed))
      file.end()
    }
  }
}

/** Reads `ID,name,lat,lon,…`; of several lists the first that has a station counts. */
function readStations(bytes: Uint8Array, file: FileReport, stations: Map<string, BuoyRecord>): void {
  const fields = new Fields()
  splitSeparated(bytes, 0, COMMA, fields)
  let separator = COMMA
  if (fields.count === 1) {
    separator = SEMICOLON
    splitSeparated(bytes, 0, separator, fields)
  }
  const labels = textsOf(bytes, fields)
  const places = ['ID', 'name', 'lat', 'lon'].map((label) => labels.indexOf(label))
  if (places.includes(-1)) {
    file.bad(1, 'the header lacks ID, name, lat or lon')
    return
  }
  const [idField, nameField, latField, lonField] = places
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, separator, fields)
    if (fields.count === 1 && fields.starts[0] === fields.ends[0]) continue
    const identifier = textOf(bytes, fields, idField).toUpperCase()
    const lat = degreesOf(textOf(bytes, fields, latField), 90)
    const lng = degreesOf(textOf(bytes, fields, lonField), 180)
    if (fields.fault !== null || fields.count !== labels.length) {
      file.bad(line, fields.fault ?? 'wrong number of fields')
    } else if (!/^[0-9A-Z]{5}$/.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(line, 'a station without a valid ID, lat or lon')
    } else {
      file.rows(1)
      if (stations.has(identifier)) continue
      const name = cleanName(textOf(bytes, fields, nameField)) || `Campagne ${identifier}`
      stations.set(identifier, { source: SOURCE, identifier, name, lat, lng })
    }
  }
}

function sendRows(
  bytes: Uint8Array,
  file: FileReport,
  batch: RowBatch,
  send: (batch: RowBatch) => void,
): void {
  const fields = new Fields()
  splitSeparated(bytes, 0, SEMICOLON, fields)
  const labels = textsOf(bytes, fields)
  const timeField = labels.findIndex((label) => label === 'DateHeure' || label === 'Date')
  const columns: MeasureColumn[] = []
  for (const [name, candidates] of LABELS) {
    const label = candidates.find((candidate) => labels.includes(candidate))
    if (label !== undefined)
      columns.push(measureColumn(name, labels.indexOf(label), label, { missing: MISSING }))
  }
  const names = columns.map(({ name }) => name)
  if (timeField < 0 || !names.includes('significantHeight')) {
    file.bad(1, 'the header lacks DateHeure (Date) or H13D (H1/3, Hm0)')
    return
  }
  const codes = new Int32Array(columns.length)
  let understood = 0
  let line = 1 + fields.lines
  for (let at = fields.next; at < bytes.length; at = fields.next, line += fields.lines) {
    splitSeparated(bytes, at, SEMICOLON, fields)
    if (fields.count === 1 && fields.starts[0] === fields.ends[0]) continue
    if (fields.fault !== null || fields.count !== labels.length) {
      file.bad(line, fields.fault ?? 'wrong number of fields')
      continue
    }
    const time = isoSeconds(bytes, fields.starts[timeField], fields.ends[timeField], 'none')
    const fault = time < 0 ? 'no valid date and time' : readMeasures(bytes, fields, columns, codes, file)
    if (fault !== null) {
      file.bad(line, fault)
      continue
    }
    understood++
    if (!dropUnusable(names, codes, file)) continue
    if (batch.length === BATCH_ROWS) {
      send(batch)
      batch.clear()
    }
    const row = batch.add(time)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) batch.columns[names[i]][row] = codes[i]
  }
  if (batch.length > 0) send(batch)
  batch.clear()
  file.rows(understood)
}

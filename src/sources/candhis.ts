/**
 * Candhis, the French coastal wave network of Cerema: per campaign (a buoy at a place) yearly CSV files of
 * the archive, `Candhis_06403_2022_arch.csv`, and of the real-time feed, `Candhis_06403_2026_reel.csv`,
 * beside a list of the stations; and answers of its API (version 1), any `.json`. What an answer holds is
 * told by its header; whose it is by a code of five characters in the file's name, `getCampTR_06403.json`,
 * unless a column of it says so.
 *
 * `period` is the significant period TH13D (Th1/3), `peak_period` is TP (T. au pic), which few real-time
 * sensors give; the significant height is H13D (H1/3), and Hm0 only where a sensor gives nothing else. Such a
 * sensor gives T02 as its only period, which is neither of the two, so its rows have no period. Times are
 * UTC.
 */
import { join } from 'node:path'
import { type MeasureName, RowBatch } from '../sea/columns.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { parseDocument } from './json.ts'
import { UNCOUNTED } from './reading/stations.ts'
import {
  cleanName,
  degreesOf,
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
  splitSeparated,
  textOf,
  textsOf,
} from './reading/text.ts'

const SOURCE = 'Candhis'

/** Campaign codes have five characters, some of them letters ("02B04"). */
const DATA_FILE = /^candhis_([0-9a-z]{5})_(?:\d{4}_)?(arch|reel)\.csv(?:\.gz)?$/i
const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i
const ANSWER_FILE = /\.json(?:\.gz)?$/i
const CAMPAIGN = /^[0-9A-Z]{5}$/

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

const MAX_LIST_BYTES = 16 * 2 ** 20
/**
 * A year of one campaign, the most that the API gives, has 2 MB; what `JSON.parse` makes of a text takes up
 * to fifteen times its size.
 */
const MAX_ANSWER_BYTES = 32 * 2 ** 20
/** An answer of the archive has 73 columns. */
const MAX_LABELS = 200
/** Campaigns of one answer: the network has had some 300. */
const MAX_CAMPAIGNS = 1000
const BATCH_ROWS = 8192

const COMMA = 44
const SEMICOLON = 59

/**
 * Names of a measure's column, the first that the header has counts: archive, real time, API, then what some
 * sensors give instead.
 */
const LABELS: readonly (readonly [MeasureName, readonly string[]])[] = [
  ['significantHeight', ['H13D', 'H1/3', 'HM0', 'Hm0']],
  ['maximumHeight', ['HMAXD', 'Hmax']],
  ['period', ['TH13D', 'Th1/3', 'TH1/3']],
  ['peakPeriod', ['TP', 'T. au pic']],
  ['direction', ['THETAP', 'DirPic', 'Dir. au pic']],
  ['waterTemperature', ['TempMer', 'Temp. mer']],
]

/** 999.999 and 999.9999 mark "missing"; nothing that is measured comes near. */
const MISSING = [999.99, Infinity] as const

/** Opens `folder` as a set of Candhis files. */
export const openCandhis: OpenSource = (folder) => ({
  read: (sink, context) => readCandhis(folder, sink, context),
})

/** A file with rows of one campaign, or an answer with rows of several. */
interface DataFile {
  name: string
  feed: number
}

interface AnswerFile extends DataFile {
  campaigns: ReadonlySet<string>
}

async function readCandhis(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`candhis: there is no folder ${folder}`)
  const campaigns = new Map<string, DataFile[]>()
  const stations = new Map<string, BuoyRecord>()
  const ignored: string[] = [...listing.folders]
  const filesOf = (campaign: string): DataFile[] => {
    const files = campaigns.get(campaign) ?? []
    campaigns.set(campaign, files)
    return files
  }
  // What the network itself says of its stations counts before the lists that others made of them.
  const answers = listing.files.filter((file) => ANSWER_FILE.test(file))
  const tables: AnswerFile[] = []
  for (const name of answers) {
    const table = await readAnswer(folder, name, report, stations)
    if (table === null) continue
    tables.push(table)
    for (const campaign of table.campaigns) filesOf(campaign)
  }
  for (const name of listing.files) {
    const [, campaign, kind] = DATA_FILE.exec(name) ?? []
    if (campaign !== undefined) {
      const feed = kind.toLowerCase() === 'arch' ? ARCHIVE_FEED : REALTIME_FEED
      filesOf(campaign.toUpperCase()).push({ name, feed })
    } else if (STATION_LIST.test(name)) {
      const file = report.file(join(folder, name))
      readStations(await readText(join(folder, name), file, MAX_LIST_BYTES), file, stations)
      file.end()
    } else if (!ANSWER_FILE.test(name)) ignored.push(name)
  }
  if (ignored.length > 0) {
    const some = JSON.stringify(ignored.slice(0, 12)).slice(1, -1)
    report.warn(`candhis: ${ignored.length} ignored: ${some}${ignored.length > 12 ? ', …' : ''}`)
  }
  // Of a silent campaign the API says that it has no data, which is an answer.
  if (campaigns.size + answers.length === 0) throw new BuildError(`candhis: ${folder} holds no data files`)

  // No licence is named: public statements about re-use differ, so the credit is what an operator must show.
  sink.source({ name: SOURCE, network: 'coastal', credit: 'Candhis, Cerema and its partners' })
  const batch = new RowBatch(BATCH_ROWS)
  report.withoutPosition(
    'candhis',
    [...campaigns.keys()].filter((campaign) => !stations.has(campaign)).sort(),
  )
  const buoys = new Map<string, number>()
  for (const [campaign, files] of [...campaigns].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const station = stations.get(campaign)
    if (station === undefined) continue
    const buoy = sink.buoy(station)
    buoys.set(campaign, buoy)
    for (const { name, feed } of files) {
      const file = report.file(join(folder, name))
      const bytes = await readText(join(folder, name), file)
      sendRows(bytes, file, batch, (rows) => sink.rows(buoy, rows, feed))
      file.end()
    }
  }
  // Of two rows of a feed with one time the later one counts: that of the API.
  for (const { name, feed, campaigns: found } of tables) {
    const known = [...found].filter((campaign) => buoys.has(campaign))
    if (known.length === 0) continue
    const file = report.file(join(folder, name))
    const answer = parseAnswer(await readText(join(folder, name), file, MAX_ANSWER_BYTES), file)
    for (const campaign of answer === null ? [] : known) {
      const buoy = buoys.get(campaign)!
      sendRows(linesOf(answer!, campaign), file, batch, (rows) => sink.rows(buoy, rows, feed))
    }
    file.end()
  }
}

/** An answer of the API: a header and rows of texts. */
interface Answer {
  labels: readonly string[]
  rows: readonly unknown[]
  /** Column with the campaign's code, or −1. */
  campaignField: number
}

/** Takes up what an answer says of stations, or tells the campaigns that it has rows of. */
async function readAnswer(
  folder: string,
  name: string,
  report: Report,
  stations: Map<string, BuoyRecord>,
): Promise<AnswerFile | null> {
  const path = join(folder, name)
  report.reads?.(path)
  const first = parseAnswer(await readText(path, UNCOUNTED, MAX_ANSWER_BYTES), UNCOUNTED)
  const { labels = [], rows = [], campaignField = -1 } = first ?? {}
  const own = campaignOf(name)
  const isTable = labels.includes('Date') || labels.includes('DateHeure')
  if (isTable && (own !== null || campaignField >= 0)) {
    const feed = labels.includes('DateHeure') ? ARCHIVE_FEED : REALTIME_FEED
    const found = new Set(campaignField < 0 ? [own] : rows.map((row) => codeOf(row, campaignField)))
    const campaigns = new Set([...found].filter((campaign) => campaign !== null))
    if (campaigns.size <= MAX_CAMPAIGNS) return { name, feed, campaigns }
    report.warn(`candhis: ${path} has rows of more than ${MAX_CAMPAIGNS} campaigns and is left out`)
    return null
  }
  const file = report.file(path)
  const answer = parseAnswer(await readText(path, file, MAX_ANSWER_BYTES), file)
  if (answer !== null && isTable)
    file.bad(1, "neither the file's name nor a column says of which campaign it is")
  else if (answer !== null) readInfos(answer, own, file, stations)
  file.end()
  return null
}

/** The code in a file's name, `candhis_getCampTR_02B04.json`; it begins with a digit, as all codes do. */
function campaignOf(name: string): string | null {
  const word = name.split(/[^0-9A-Za-z]/).find((part) => /^[0-9][0-9A-Za-z]{4}$/.test(part))
  return word?.toUpperCase() ?? null
}

function codeOf(row: unknown, field: number): string | null {
  const code = cellOf(row, field).toUpperCase()
  return CAMPAIGN.test(code) ? code : null
}

/** A cell as text; empty where there is none. */
function cellOf(row: unknown, field: number): string {
  const cell: unknown = Array.isArray(row) ? row[field] : undefined
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''
}

/**
 * Takes an answer out of its envelope; null for one without a table, which is reported unless it says that
 * there are no data.
 */
function parseAnswer(bytes: Uint8Array, file: FileReport): Answer | null {
  const value = parseDocument(bytes, file)
  if (value === undefined) return null
  const { success, message, entete, results } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as { [key: string]: unknown }
  if (success === false && typeof message === 'string' && /^pas de donn/i.test(message)) {
    file.skipped('an answer without rows')
    return null
  }
  const isTable = Array.isArray(entete) && entete.length <= MAX_LABELS && Array.isArray(results)
  if (success === false || !isTable || !entete.every((label) => typeof label === 'string')) {
    file.bad(1, 'not an answer of the API with a table')
    return null
  }
  // "H1/3 (m)"; a column in another unit keeps its whole name and is of no use.
  const labels = entete.map((label: string) => label.replace(/ \((?:m|s|°|°C)\)$/, ''))
  return { labels, rows: results, campaignField: labels.findIndex((label) => /campagne/i.test(label)) }
}

/**
 * Reads where campaigns are (`getCampInfos`, of one campaign without its code); answers without positions
 * have nothing for us.
 */
function readInfos(
  { labels, rows, campaignField }: Answer,
  own: string | null,
  file: FileReport,
  stations: Map<string, BuoyRecord>,
): void {
  const [nameField, latField, lngField] = ['Nom', 'Latitude', 'Longitude'].map((label) =>
    labels.indexOf(label),
  )
  if (latField < 0 || lngField < 0) {
    file.skipped('an answer without positions and measurements')
    return
  }
  rows.forEach((row, index) => {
    const identifier = campaignField < 0 ? own : codeOf(row, campaignField)
    const lat = degreesOf(cellOf(row, latField), 90)
    const lng = degreesOf(cellOf(row, lngField), 180)
    if (identifier === null || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(index + 1, 'a campaign without a valid code, Latitude or Longitude')
      return
    }
    file.rows(1)
    const name = cleanName(cellOf(row, nameField)) || `Campagne ${identifier}`
    if (!stations.has(identifier)) stations.set(identifier, { source: SOURCE, identifier, name, lat, lng })
  })
}

/**
 * The rows of one campaign in the form of its CSV files, each on the line of its number behind the header.
 */
function linesOf({ labels, rows, campaignField }: Answer, campaign: string): Uint8Array {
  // What would not stay one field is no number either.
  const field = (text: string): string => (/^[^;"\r\n]{0,100}$/.test(text) ? text : '?')
  const lines = rows.map((row) => {
    if (campaignField >= 0 && codeOf(row, campaignField) !== campaign) return ''
    if (!Array.isArray(row) || row.length !== labels.length) return '?'
    return labels.map((_, index) => field(cellOf(row, index))).join(';')
  })
  return Buffer.from(`${labels.map(field).join(';')}\n${lines.join('\n')}\n`)
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
    const fault = lineFault(fields, labels.length)
    if (fault !== null) {
      file.bad(line, fault, lineText(bytes, at, fields))
    } else if (!CAMPAIGN.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) {
      file.bad(line, 'a station without a valid ID, lat or lon', lineText(bytes, at, fields))
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
    const broken = lineFault(fields, labels.length)
    if (broken !== null) {
      file.bad(line, broken, lineText(bytes, at, fields))
      continue
    }
    const time = isoSeconds(bytes, fields.starts[timeField], fields.ends[timeField], 'none')
    const fault = time < 0 ? 'no valid date and time' : readMeasures(bytes, fields, columns, codes, file)
    if (fault !== null) {
      file.bad(line, fault, textOf(bytes, fields, time < 0 ? timeField : fields.wrong))
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

/**
 * Candhis, the French coastal wave network of Cerema: campaigns' yearly CSV files and answers of its API,
 * version 1 (`docs/sources-networks.md`). A sensor without H13D (H1/3) gives Hm0, and as its only period T02:
 * such rows have no period, as T02 is neither TH13D nor TP. Times are UTC.
 */
import { SeparatedTable } from './reading/text-table.ts'
import { UNCOUNTED, WaitingRows } from './reading/stations.ts'
import { join } from 'node:path'
import type { MeasureName } from '../sea/columns.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import {
  type FolderListing,
  listSource,
  parseDocument,
  readText,
  doubtIgnored,
} from './reading/source-files.ts'
import { cleanName, degreesOf } from './reading/fields.ts'
import { dropUnusable, measureColumn, readMeasures } from './reading/measured-values.ts'
import { isoSeconds } from './reading/times.ts'
import { entryOf } from '../system/entry-of.ts'

const SOURCE = 'Candhis'

/** Campaign codes have five characters, some of them letters ("02B04"). */
const DATA_FILE = /^candhis_([0-9a-z]{5})_(?:\d{4}_)?(arch|reel)\.csv(?:\.gz)?$/i
const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i
const ANSWER_FILE = /\.json(?:\.gz)?$/i
const CAMPAIGN = /^[0-9A-Z]{5}$/

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

const MAX_LIST_BYTES = 16 * 2 ** 20
/** A year of one campaign has 2 MB; `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20
/** An answer of the archive has 73 columns. */
const MAX_LABELS = 200
/** Campaigns of one answer: the network has had some 300. */
const MAX_CAMPAIGNS = 1000

/** Names of a measure's column by preference: archive, real time, API, then substitutes of some sensors. */
const LABELS: readonly (readonly [MeasureName, readonly string[]])[] = [
  ['significantHeight', ['H13D', 'H1/3', 'HM0', 'Hm0']],
  ['maximumHeight', ['HMAXD', 'Hmax']],
  ['period', ['TH13D', 'Th1/3', 'TH1/3']],
  ['peakPeriod', ['TP', 'T. au pic']],
  ['direction', ['THETAP', 'DirPic', 'Dir. au pic']],
  ['waterTemperature', ['TempMer', 'Temp. mer']],
]

/** Marks "missing" are 999.999 and 999.9999; no measured value comes near. */
const MISSING = [999.99, Infinity] as const

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
  const listing = await listSource('candhis', folder)
  // 1. Find the stations, and the station of the rows of each file and answer.
  const found = await gather(folder, listing, report)
  doubtIgnored(report, found.ignored)
  // The API answers that there are no data for a campaign that does not report.
  if (found.campaigns.size + found.answers === 0)
    throw new BuildError(`candhis: ${folder} holds no data files`)

  // No licence is named, as public statements about re-use differ: the credit is what an operator must show.
  sink.source({ name: SOURCE, network: 'coastal', credit: 'Candhis, Cerema and its partners' })
  const placeless = [...found.campaigns.keys()].filter((campaign) => !found.stations.has(campaign))
  report.withoutPosition(placeless.sort())
  // Rows of answers come last: of two rows of a feed with one time the later one counts.
  const buoys = await sendFiles(folder, found, sink, report)
  await sendAnswers(folder, found.tables, buoys, sink, report)
}

interface Found {
  campaigns: Map<string, DataFile[]>
  stations: Map<string, BuoyRecord>
  tables: AnswerFile[]
  answers: number
  ignored: string[]
}

async function gather(folder: string, { files, folders }: FolderListing, report: Report): Promise<Found> {
  const campaigns = new Map<string, DataFile[]>()
  const stations = new Map<string, BuoyRecord>()
  const ignored = [...folders]
  const filesOf = (campaign: string): DataFile[] => entryOf(campaigns, campaign, () => [])
  // The network's own words about its stations count before the lists that others made of them.
  const answers = files.filter((file) => ANSWER_FILE.test(file))
  const tables: AnswerFile[] = []
  for (const name of answers) {
    const table = await readAnswer(folder, name, report, stations)
    if (table === null) continue
    tables.push(table)
    for (const campaign of table.campaigns) filesOf(campaign)
  }
  for (const name of files) {
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
  return { campaigns, stations, tables, answers: answers.length, ignored }
}

/** Announces the campaigns with a position and sends the rows of their files; returns their handles. */
async function sendFiles(
  folder: string,
  { campaigns, stations }: Found,
  sink: Sink,
  report: Report,
): Promise<Map<string, number>> {
  const buoys = new Map<string, number>()
  for (const [campaign, files] of [...campaigns].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const station = stations.get(campaign)
    if (station === undefined) continue
    const buoy = sink.buoy(station)
    buoys.set(campaign, buoy)
    for (const { name, feed } of files) {
      const file = report.file(join(folder, name))
      const bytes = await readText(join(folder, name), file)
      sendRows(bytes, file, buoy, new WaitingRows(sink, feed))
      file.end()
    }
  }
  return buoys
}

async function sendAnswers(
  folder: string,
  tables: readonly AnswerFile[],
  buoys: ReadonlyMap<string, number>,
  sink: Sink,
  report: Report,
): Promise<void> {
  for (const { name, feed, campaigns } of tables) {
    const known = [...campaigns].filter((campaign) => buoys.has(campaign))
    if (known.length === 0) continue
    const file = report.file(join(folder, name))
    const answer = parseAnswer(await readText(join(folder, name), file, MAX_ANSWER_BYTES), file)
    for (const campaign of answer === null ? [] : known) {
      const buoy = buoys.get(campaign)!
      sendRows(linesOf(answer!, campaign), file, buoy, new WaitingRows(sink, feed))
    }
    file.end()
  }
}

interface Answer {
  labels: readonly string[]
  rows: readonly unknown[]
  /** Column with the campaign's code, or −1. */
  campaignField: number
}

/** Takes the stations of an answer, or returns the campaigns that it has rows of. */
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
  const inOther = labels.filter((label) => /\(.+\)$/.test(label))
  if (inOther.length > 0) report.doubt({ what: 'a column in an unknown unit is not read', examples: inOther })
  const isTable = labels.includes('Date') || labels.includes('DateHeure')
  if (isTable && (own !== null || campaignField >= 0)) {
    const feed = labels.includes('DateHeure') ? ARCHIVE_FEED : REALTIME_FEED
    const found = new Set(campaignField < 0 ? [own] : rows.map((row) => codeOf(row, campaignField)))
    const campaigns = new Set([...found].filter((campaign) => campaign !== null))
    if (campaigns.size <= MAX_CAMPAIGNS) return { name, feed, campaigns }
    report.doubt({
      what: `an answer with rows of more than ${MAX_CAMPAIGNS} campaigns is left out`,
      examples: [path],
      isGrave: true,
    })
    return null
  }
  const file = report.file(path)
  const answer = parseAnswer(await readText(path, file, MAX_ANSWER_BYTES), file)
  if (answer !== null && isTable) file.bad(1, "neither the file's name nor a column names the campaign")
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

function cellOf(row: unknown, field: number): string {
  const cell: unknown = Array.isArray(row) ? row[field] : undefined
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''
}

/** An answer's table, or null, which is reported unless the answer states that there are no data. */
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
  // "H1/3 (m)"; a column in another unit keeps its whole name, so that nothing finds it.
  const labels = entete.map((label: string) => label.replace(/ \((?:m|s|°|°C)\)$/, ''))
  return { labels, rows: results, campaignField: labels.findIndex((label) => /campagne/i.test(label)) }
}

/** Reads positions of `getCampInfos` (for one campaign without its code); other answers are skipped. */
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
    if (noteStation(stations, identifier ?? '', cellOf(row, nameField), lat, lng)) file.rows(1)
    else file.bad(index + 1, 'a campaign without a valid code, Latitude or Longitude')
  })
}

/** Notes a campaign, of which the first list counts; false where its code or position is none. */
function noteStation(
  stations: Map<string, BuoyRecord>,
  identifier: string,
  given: string,
  lat: number,
  lng: number,
): boolean {
  if (!CAMPAIGN.test(identifier) || Number.isNaN(lat) || Number.isNaN(lng)) return false
  const name = cleanName(given) || `Campagne ${identifier}`
  if (!stations.has(identifier)) stations.set(identifier, { source: SOURCE, identifier, name, lat, lng })
  return true
}

/** The rows of one campaign as its CSV files have them: row N is on line N + 1, behind the header. */
function linesOf({ labels, rows, campaignField }: Answer, campaign: string): Buffer {
  // A cell that would not stay one field is not a number either.
  const field = (text: string): string => (/^[^;"\r\n]{0,100}$/.test(text) ? text : '?')
  const lines = rows.map((row) => {
    if (campaignField >= 0 && codeOf(row, campaignField) !== campaign) return ''
    if (!Array.isArray(row) || row.length !== labels.length) return '?'
    return labels.map((_, index) => field(cellOf(row, index))).join(';')
  })
  return Buffer.from(`${labels.map(field).join(';')}\n${lines.join('\n')}\n`)
}

const LIST_COLUMNS = ['ID', 'name', 'lat', 'lon']

/** Reads `ID,name,lat,lon,…`; of several lists the first that has a station counts. */
function readStations(bytes: Buffer, file: FileReport, stations: Map<string, BuoyRecord>): void {
  const table = new SeparatedTable(bytes)
  const [id, nameColumn, latColumn, lonColumn] = table.columns(LIST_COLUMNS)
  if (LIST_COLUMNS.some((label) => !table.labels.includes(label))) {
    file.bad(1, 'the header lacks ID, name, lat or lon')
    return
  }
  while (table.next(file)) {
    // A spreadsheet takes the first zero off a code of digits alone.
    const identifier = table
      .text(id)
      .toUpperCase()
      .replace(/^\d{4}$/, '0$&')
    const lat = degreesOf(table.text(latColumn), 90)
    const lng = degreesOf(table.text(lonColumn), 180)
    if (noteStation(stations, identifier, table.text(nameColumn), lat, lng)) file.rows(1)
    else file.bad(table.line, 'a station without a valid ID, lat or lon', table.lineText())
  }
}

function sendRows(bytes: Buffer, file: FileReport, buoy: number, waiting: WaitingRows): void {
  const table = new SeparatedTable(bytes)
  const { labels, fields } = table
  const timeColumn = labels.findIndex((label) => label === 'DateHeure' || label === 'Date')
  const columns = LABELS.flatMap(([name, candidates]) => {
    const label = candidates.find((candidate) => labels.includes(candidate))
    return label === undefined
      ? []
      : [measureColumn(name, labels.indexOf(label), label, { missing: MISSING })]
  })
  const names = columns.map(({ name }) => name)
  if (timeColumn < 0 || !names.includes('significantHeight')) {
    file.bad(1, 'the header lacks DateHeure (Date) or H13D (H1/3, Hm0)')
    return
  }
  const codes = new Int32Array(columns.length)
  let understood = 0
  while (table.next(file)) {
    const time = isoSeconds(bytes, fields.starts[timeColumn], fields.ends[timeColumn], 'any')
    const fault = time < 0 ? 'no valid date and time' : readMeasures(table, columns, codes, file)
    if (fault !== null) {
      file.bad(table.line, fault, table.text(time < 0 ? timeColumn : fields.wrong))
      continue
    }
    understood++
    if (dropUnusable(names, codes, file)) waiting.add(buoy, time, names, codes)
  }
  waiting.flush()
  file.rows(understood)
}

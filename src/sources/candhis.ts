/**
 * Candhis, the French coastal wave network of Cerema: campaigns' yearly CSV files and answers of its API,
 * version 1 (`docs/sources-networks.md`). A sensor without H13D (H1/3) gives Hm0, and as its only period T02:
 * such rows have no period, as T02 is neither TH13D nor TP. Times are UTC.
 */
import { SeparatedTable } from './reading/text-table.ts'
import { type RowHead, Stations, UNCOUNTED, WaitingRows } from './reading/stations.ts'
import { basename, join } from 'node:path'
import type { MeasureName } from '../sea/columns.ts'
import { type FileReport, type OpenSource, type Report, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import {
  listSource,
  parseDocument,
  readText,
  doubtIgnored,
  type TakeDoubt,
  takeDoubts,
} from './reading/source-files.ts'
import { cleanName, degreesOf } from './reading/fields.ts'
import { eachRow, knownColumn, type TakeRow } from './reading/measured-values.ts'
import { isoSeconds } from './reading/times.ts'
import { NO_COMMENTS, openText } from './tables/text-form.ts'

const SOURCE = 'Candhis'

/** Campaign codes have five characters, some of them letters ("02B04"). */
const DATA_FILE = /^candhis_([0-9a-z]{5})_(?:\d{4}_)?(arch|reel)\.csv(?:\.gz)?$/i
const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i
const ANSWER_FILE = /\.json(?:\.gz)?$/i
const CAMPAIGN = /^[0-9A-Z]{5}$/
const CAMPAIGN_LABEL = /campagne/i
const TIME_LABELS = ['DateHeure', 'Date']

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

const MAX_LIST_BYTES = 16 * 2 ** 20
/** A year of one campaign has 2 MB; `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20
/** An answer of the archive has 73 columns. */
const MAX_LABELS = 200

/** Names of a measure's column by preference: archive, real time, API, then substitutes of some sensors. */
const LABELS: readonly (readonly [MeasureName, readonly string[]])[] = [
  ['significantHeight', ['H13D', 'H1/3', 'HM0', 'Hm0']],
  ['maximumHeight', ['HMAXD', 'Hmax']],
  ['period', ['TH13D', 'Th1/3', 'TH1/3']],
  ['peakPeriod', ['TP', 'T. au pic']],
  ['direction', ['THETAP', 'DirPic', 'Dir. au pic']],
  ['waterTemperature', ['TempMer', 'Temp. mer']],
]

/** Of the archive and of the API. */
const MISSING = [999.999, 999.9999]

export const openCandhis: OpenSource = (folder) => ({
  read: (sink, context) => readCandhis(folder, sink, context),
})

/** A file with rows; those of an answer may be of several campaigns. */
interface DataFile {
  readonly path: string
  /** The campaign in the file's name. */
  readonly own: string | null
  readonly feed: number
  /** Of an answer, which has been looked at. */
  readonly answer: FileReport | null
}

type Known = Map<string, Partial<BuoyRecord>>

async function readCandhis(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files, folders } = await listSource('candhis', folder)
  const campaigns = new Stations()
  const known: Known = new Map()
  const ignored = [...folders]
  const tables: DataFile[] = []
  const answered: DataFile[] = []
  const answers = files.filter((name) => ANSWER_FILE.test(name))
  // The network's own words about its stations count before the lists that others made of them.
  for (const name of answers) {
    const answer = await readAnswer(join(folder, name), report, known, campaigns)
    if (answer !== null) answered.push(answer)
  }
  for (const name of files) {
    const path = join(folder, name)
    const [, code, kind] = DATA_FILE.exec(name) ?? []
    if (code !== undefined) {
      const own = code.toUpperCase()
      campaigns.see(own, 0, NaN, NaN, '')
      tables.push({ path, own, feed: /arch/i.test(kind) ? ARCHIVE_FEED : REALTIME_FEED, answer: null })
    } else if (STATION_LIST.test(name)) {
      const file = report.file(path)
      noteAll(known, readStations(await readText(path, file, MAX_LIST_BYTES), file), file)
    } else if (!ANSWER_FILE.test(name)) ignored.push(name)
  }
  doubtIgnored(report, ignored)
  // The API answers that there are no data for a campaign that does not report.
  if (tables.length + answers.length === 0) throw new BuildError(`candhis: ${folder} holds no data files`)

  // No licence is named, as public statements about re-use differ: the credit is what an operator must show.
  sink.source({ name: SOURCE, network: 'coastal', credit: 'Candhis, Cerema and its partners' })
  const handles = campaigns.announce(sink, SOURCE, report, known)
  // Rows of answers come last: of two rows of a feed with one time the later one counts.
  for (const { path, own, feed, answer } of [...tables, ...answered]) {
    const file = answer ?? report.file(path)
    const doubt = takeDoubts(report, path)
    const waiting = new WaitingRows(sink, doubt, feed)
    const bytes = await (answer === null ? readText(path, file) : linesOf(path))
    readRows(bytes, own, file, doubt, ({ identifier, time }, names, codes) => {
      const buoy = handles.get(identifier)
      if (buoy !== undefined) waiting.add(buoy, time, names, codes)
    })
    waiting.end(file.end())
  }
}

/** Takes the stations of an answer, or returns it where it has rows, and notes their campaigns. */
async function readAnswer(
  path: string,
  report: Report,
  known: Known,
  campaigns: Stations,
): Promise<DataFile | null> {
  const file = report.file(path)
  const { labels, rows } = parseAnswer(await readText(path, file, MAX_ANSWER_BYTES), file)
  const own = campaignOf(basename(path))
  const field = labels.findIndex((label) => CAMPAIGN_LABEL.test(label))
  const isTable = TIME_LABELS.some((label) => labels.includes(label))
  if (isTable && (own !== null || field >= 0)) {
    const codes = field < 0 ? [own] : rows.map((row) => codeOf(cellOf(row, field)))
    for (const code of new Set(codes)) if (code !== null) campaigns.see(code, 0, NaN, NaN, '')
    return { path, own, feed: labels.includes('DateHeure') ? ARCHIVE_FEED : REALTIME_FEED, answer: file }
  }
  if (isTable) file.bad(1, "neither the file's name nor a column names the campaign")
  noteAll(known, labels.length === 0 || isTable ? new Map() : readInfos(labels, rows, own, file), file)
  return null
}

/** Ends a list of stations; the first list that has a station counts. */
function noteAll(known: Known, found: Known, file: FileReport): void {
  if (file.end()) for (const [code, station] of found) if (!known.has(code)) known.set(code, station)
}

/** The code in a file's name, `candhis_getCampTR_02B04.json`; it begins with a digit, as all codes do. */
function campaignOf(name: string): string | null {
  const word = name.split(/[^0-9A-Za-z]/).find((part) => /^[0-9][0-9A-Za-z]{4}$/.test(part))
  return word?.toUpperCase() ?? null
}

function codeOf(text: string): string | null {
  const code = text.toUpperCase()
  return CAMPAIGN.test(code) ? code : null
}

function cellOf(row: unknown, field: number): string {
  const cell: unknown = Array.isArray(row) ? row[field] : undefined
  return typeof cell === 'string' || typeof cell === 'number' ? String(cell) : ''
}

interface Answer {
  labels: readonly string[]
  rows: readonly unknown[]
}

const NO_TABLE: Answer = { labels: [], rows: [] }

/** An answer's table; one without labels is reported unless the answer states that there are no data. */
function parseAnswer(bytes: Uint8Array, file: FileReport): Answer {
  const value = parseDocument(bytes, file)
  if (value === undefined) return NO_TABLE
  const { success, message, entete, results } = (
    typeof value === 'object' && value !== null ? value : {}
  ) as { [key: string]: unknown }
  if (success === false && typeof message === 'string' && /^pas de donn/i.test(message)) {
    file.skipped('an answer without rows')
    return NO_TABLE
  }
  const isTable = Array.isArray(entete) && entete.length <= MAX_LABELS && Array.isArray(results)
  if (success === false || !isTable || !entete.every((label) => typeof label === 'string')) {
    file.bad(1, 'not an answer of the API with a table')
    return NO_TABLE
  }
  return { labels: entete.map(withoutUnit), rows: results }
}

/** "H1/3 (m)"; a column in another unit keeps its whole name, so that nothing finds it. */
function withoutUnit(label: string): string {
  return label.replace(/ \((?:m|s|°|°C)\)$/, '')
}

/** Positions of `getCampInfos` (for one campaign without its code); other answers are skipped. */
function readInfos(
  labels: readonly string[],
  rows: readonly unknown[],
  own: string | null,
  file: FileReport,
): Known {
  const found: Known = new Map()
  const [nameField, latField, lngField] = ['Nom', 'Latitude', 'Longitude'].map((label) =>
    labels.indexOf(label),
  )
  if (latField < 0 || lngField < 0) {
    file.skipped('an answer without positions and measurements')
    return found
  }
  const field = labels.findIndex((label) => CAMPAIGN_LABEL.test(label))
  rows.forEach((row, index) => {
    const code = field < 0 ? own : codeOf(cellOf(row, field))
    const place = [cellOf(row, nameField), cellOf(row, latField), cellOf(row, lngField)] as const
    if (note(found, code, ...place)) file.rows(1)
    else file.bad(index + 1, 'a campaign without a valid code, Latitude or Longitude')
  })
  return found
}

/** Notes a campaign; false where its code or position is none. */
function note(found: Known, code: string | null, given: string, north: string, east: string): boolean {
  const [lat, lng] = [degreesOf(north, 90), degreesOf(east, 180)]
  if (code === null || Number.isNaN(lat + lng)) return false
  if (!found.has(code)) found.set(code, { name: cleanName(given) || `Campagne ${code}`, lat, lng })
  return true
}

/** The rows of an answer as CSV files have them: row N is on line N + 1, behind the header. */
async function linesOf(path: string): Promise<Buffer> {
  const { labels, rows } = parseAnswer(await readText(path, UNCOUNTED, MAX_ANSWER_BYTES), UNCOUNTED)
  // A cell that would not stay one field is not a number either.
  const field = (text: string): string => (/^[^;"\r\n]{0,100}$/.test(text) ? text : '?')
  const lines = rows.map((row) =>
    Array.isArray(row) && row.length === labels.length
      ? labels.map((_, index) => field(cellOf(row, index))).join(';')
      : '?',
  )
  return Buffer.from(`${labels.map(field).join(';')}\n${lines.join('\n')}\n`)
}

const LIST_COLUMNS = ['ID', 'name', 'lat', 'lon']

/** Reads `ID,name,lat,lon,…`. */
function readStations(bytes: Buffer, file: FileReport): Known {
  const found: Known = new Map()
  const table = new SeparatedTable(bytes)
  const [id, name, lat, lng] = table.columns(LIST_COLUMNS)
  if (LIST_COLUMNS.some((label) => !table.labels.includes(label))) {
    file.bad(1, 'the header lacks ID, name, lat or lon')
    return found
  }
  while (table.next(file)) {
    // A spreadsheet takes the first zero off a code of digits alone.
    const code = codeOf(table.text(id).replace(/^\d{4}$/, '0$&'))
    if (note(found, code, table.text(name), table.text(lat), table.text(lng))) file.rows(1)
    else file.bad(table.line, 'a station without a valid ID, lat or lon', table.lineText())
  }
  return found
}

function readRows(
  bytes: Buffer,
  own: string | null,
  file: FileReport,
  doubt: TakeDoubt,
  take: TakeRow<Pick<RowHead, 'identifier' | 'time'>>,
): void {
  const form = { separator: null, header: { at: 0, line: 1 } }
  const table = openText(bytes, form, { units: false, comment: NO_COMMENTS }, file)
  if (table === null) return
  const { source } = table
  const { fields } = source
  const labels = source.labels.map(withoutUnit)
  const inOther = labels.filter((label) => /\(.+\)$/.test(label))
  doubt('otherUnits', inOther.join(', '), inOther.length)
  const timeColumn = labels.findIndex((label) => TIME_LABELS.includes(label))
  const campaignColumn = labels.findIndex((label) => CAMPAIGN_LABEL.test(label))
  const measured = LABELS.flatMap(([name, candidates]) => {
    const label = candidates.find((candidate) => labels.includes(candidate))
    if (label === undefined) return []
    return [knownColumn(name, labels.indexOf(label), label, { missing: MISSING })]
  })
  if (timeColumn < 0 || measured[0]?.column.name !== 'significantHeight') {
    file.bad(1, 'the header lacks DateHeure (Date) or H13D (H1/3, Hm0)')
    return
  }
  const headOf = (): { identifier: string; time: number } | null => {
    const identifier = campaignColumn < 0 ? own : codeOf(table.text(campaignColumn))
    const time = isoSeconds(bytes, fields.starts[timeColumn], fields.ends[timeColumn], 'any')
    if (identifier !== null && time >= 0) return { identifier, time }
    const fault = identifier === null ? 'no valid code of a campaign' : 'the time is not YYYY-MM-DD hh:mm:ss'
    file.bad(table.row(), fault, source.lineText())
    return null
  }
  eachRow(table, measured, file, headOf, take)
}

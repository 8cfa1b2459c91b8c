/**
 * Candhis, the French coastal wave network of Cerema: campaigns' yearly CSV files and answers of its API,
 * version 1 (`docs/sources-networks.md`). A sensor without H13D (H1/3) gives Hm0, and as its only period T02:
 * such rows have no period, as T02 is neither TH13D nor TP. Times are UTC.
 */
import { basename, join } from 'node:path'
import type { MeasureName } from '../sea/columns.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { BuildError } from '../system/build-error.ts'
import { cleanName, degreesOf } from './reading/fields.ts'
import { eachRow, knownColumn, type TakeRow } from './reading/measured-values.ts'
import {
  doubtIgnored,
  isObject,
  listSource,
  parseDocument,
  readText,
  type TakeDoubt,
  takeDoubts,
} from './reading/source-files.ts'
import { type RowHead, Stations, UNCOUNTED, WaitingRows } from './reading/stations.ts'
import { openText, type OpenTable } from './reading/text-table.ts'
import { isoTime } from './reading/times.ts'
import type { FileReport, OpenSource, Sink, SourceContext } from './source.ts'
import { openJson } from './tables/json.ts'

const SOURCE = 'Candhis'

/** Campaign codes have five characters, some of them letters ("02B04"). */
const DATA_FILE = /^candhis_([0-9a-z]{5})_(?:\d{4}_)?(arch|reel)\.csv(?:\.gz)?$/i
const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i
const ANSWER_FILE = /\.json(?:\.gz)?$/i
const CAMPAIGN = /^[0-9A-Z]{5}$/
const CAMPAIGN_LABEL = /campagne/i
const TIME_LABEL = /^Date(?:Heure)?$/

const LIST_COLUMNS = ['ID', 'name', 'lat', 'lon']
const INFO_COLUMNS = ['', 'Nom', 'Latitude', 'Longitude']

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

/** Of lists and answers: a year of one campaign has 2 MB, and `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_BYTES = 32 * 2 ** 20

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
}

type Known = Map<string, Partial<BuoyRecord>>

async function readCandhis(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files, folders } = await listSource('candhis', folder)
  const campaigns = new Stations()
  const known: Known = new Map()
  const tables: DataFile[] = []
  const answered: DataFile[] = []
  const answers = files.filter((name) => ANSWER_FILE.test(name))
  const lists = files.filter((name) => STATION_LIST.test(name))
  for (const name of files) {
    const [, code, kind] = DATA_FILE.exec(name) ?? []
    if (code === undefined) continue
    campaigns.see(code.toUpperCase(), 0, NaN, NaN, '')
    const feed = /arch/i.test(kind) ? ARCHIVE_FEED : REALTIME_FEED
    tables.push({ path: join(folder, name), own: code.toUpperCase(), feed })
  }
  // The network's own words about its stations count before the lists that others made of them.
  for (const name of [...answers, ...lists]) {
    const path = join(folder, name)
    report.reads?.(path)
    const own = campaignOf(name)
    const table = await openFile(path, UNCOUNTED)
    const codes = table === null ? new Set<string>() : campaignsOf(table, own)
    for (const code of codes) campaigns.see(code, 0, NaN, NaN, '')
    const feed = table?.labels.includes('DateHeure') === true ? ARCHIVE_FEED : REALTIME_FEED
    if (codes.size > 0) answered.push({ path, own, feed })
    else {
      const file = report.file(path)
      const list = await openFile(path, file)
      const found = list === null ? [] : placesOf(list, own, lists.includes(name), file)
      if (file.end()) for (const [code, place] of found) if (!known.has(code)) known.set(code, place)
    }
  }
  doubtIgnored(report, [
    ...folders,
    ...files.filter((name) => ![DATA_FILE, STATION_LIST, ANSWER_FILE].some((kind) => kind.test(name))),
  ])
  // The API answers that there are no data for a campaign that does not report.
  if (tables.length + answers.length === 0) throw new BuildError(`candhis: ${folder} holds no data files`)

  // No licence is named, as public statements about re-use differ: the credit is what an operator must show.
  sink.source({ name: SOURCE, network: 'coastal', credit: 'Candhis, Cerema and its partners' })
  const handles = campaigns.announce(sink, SOURCE, report, known)
  // Rows of answers come last: of two rows of a feed with one time the later one counts.
  for (const { path, own, feed } of [...tables, ...answered]) {
    const file = report.file(path)
    const doubt = takeDoubts(report, path)
    const waiting = new WaitingRows(sink, doubt, feed)
    const table = await openFile(path, file)
    if (table !== null)
      readRows(table, own, file, doubt, ({ identifier, time }, names, codes) => {
        const buoy = handles.get(identifier)
        if (buoy !== undefined) waiting.add(buoy, time, names, codes)
      })
    waiting.end(file.end())
  }
}

/** The table of a file; null for one without a table, which is reported unless it states that there are no data. */
async function openFile(path: string, file: FileReport): Promise<OpenTable | null> {
  const isAnswer = ANSWER_FILE.test(path)
  const isList = STATION_LIST.test(basename(path))
  const bytes = await readText(path, file, isAnswer || isList ? MAX_BYTES : undefined)
  if (!isAnswer) return openText(bytes, file)
  const value = parseDocument(bytes, file)
  if (value === undefined) return null
  const { success, message, entete, results } = isObject(value) ? value : {}
  if (success === false && typeof message === 'string' && /^pas de donn/i.test(message)) {
    file.skipped('an answer without rows')
    return null
  }
  if (success !== false && Array.isArray(entete) && Array.isArray(results))
    return openJson(value, { rows: '/results', header: '/entete' }, file)[0]
  file.bad(1, 'not an answer of the API with a table')
  return null
}

const timeField = ({ labels }: OpenTable): number => labels.findIndex((label) => TIME_LABEL.test(label))
const codeField = ({ labels }: OpenTable): number => labels.findIndex((label) => CAMPAIGN_LABEL.test(label))

/** The code in a file's name, `candhis_getCampTR_02B04.json`; it begins with a digit, as all codes do. */
function campaignOf(name: string): string | null {
  const word = name.split(/[^0-9A-Za-z]/).find((part) => /^[0-9][0-9A-Za-z]{4}$/.test(part))
  return word?.toUpperCase() ?? null
}

/** The campaigns that a table has rows of. */
function campaignsOf(table: OpenTable, own: string | null): Set<string> {
  const field = codeField(table)
  const codes = new Set<string | null>()
  if (timeField(table) < 0) return new Set()
  if (field < 0) codes.add(own)
  else while (table.next()) codes.add(codeOf(table.text(field)))
  return new Set([...codes].filter((code) => code !== null))
}

function codeOf(text: string): string | null {
  const code = text.toUpperCase()
  return CAMPAIGN.test(code) ? code : null
}

/** "H1/3 (m)"; a column in another unit keeps its whole name, so that nothing finds it. */
function withoutUnit(label: string): string {
  return label.replace(/ \((?:m|s|°|°C)\)$/, '')
}

/** The positions of a list of stations or of `getCampInfos` (for one campaign without its code). */
function placesOf(table: OpenTable, own: string | null, isList: boolean, file: FileReport): Known {
  const found: Known = new Map()
  const [id, name, lat, lng] = (isList ? LIST_COLUMNS : INFO_COLUMNS).map((label) =>
    table.labels.indexOf(label),
  )
  const field = isList ? id : codeField(table)
  if (timeField(table) >= 0) file.bad(1, "neither the file's name nor a column names the campaign")
  else if (isList && Math.min(id, name, lat, lng) < 0) file.bad(1, 'the header lacks ID, name, lat or lon')
  else if (Math.min(lat, lng) < 0) file.skipped('an answer without positions and measurements')
  else
    while (table.next()) {
      // A spreadsheet takes the first zero off a code of digits alone.
      const code = field < 0 ? own : codeOf(table.text(field).replace(/^\d{4}$/, '0$&'))
      const place = { lat: degreesOf(table.text(lat), 90), lng: degreesOf(table.text(lng), 180) }
      if (code === null || Number.isNaN(place.lat + place.lng)) {
        file.bad(table.row(), 'a station without a valid code, latitude or longitude')
        continue
      }
      file.rows(1)
      const title = cleanName(table.text(name)) || `Campagne ${code}`
      if (!found.has(code)) found.set(code, { name: title, ...place })
    }
  return found
}

function readRows(
  table: OpenTable,
  own: string | null,
  file: FileReport,
  doubt: TakeDoubt,
  take: TakeRow<Pick<RowHead, 'identifier' | 'time'>>,
): void {
  const labels = table.labels.map((label, i) =>
    withoutUnit(table.units[i] === '' ? label : `${label} (${table.units[i]})`),
  )
  const inOther = labels.filter((label) => /\(.+\)$/.test(label))
  doubt('otherUnits', inOther.join(', '), inOther.length)
  const [timeColumn, campaignColumn] = [timeField(table), codeField(table)]
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
    const time = isoTime(table.text(timeColumn))
    if (identifier !== null && time >= 0) return { identifier, time }
    const fault = identifier === null ? 'no valid code of a campaign' : 'the time is not YYYY-MM-DD hh:mm:ss'
    file.bad(table.row(), fault, table.text(identifier === null ? campaignColumn : timeColumn))
    return null
  }
  eachRow(table, measured, file, headOf, take)
}

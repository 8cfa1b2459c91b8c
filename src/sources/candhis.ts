/**
 * Candhis, the French coastal wave network of Cerema: campaigns' yearly CSV files and answers of its API,
 * version 1 (`docs/sources-networks.md`). A sensor without H13D (H1/3) gives Hm0, and as its only period T02:
 * such rows have no period, as T02 is neither TH13D nor TP. Times are UTC.
 */
import { basename } from 'node:path'
import { MEASURES, type MeasureName } from '../sea/columns.ts'
import { cleanName, degreesOf } from './reading/fields.ts'
import { fieldOf, readHeaderCell } from './reading/header.ts'
import { isObject, parseDocument, readText } from './reading/source-files.ts'
import { openText, type OpenTable } from './reading/text-table.ts'
import { type FileReport, type OpenSource, type Report, UNCOUNTED } from './source.ts'
import { type ColumnMap, compileMap } from './tables/column-map.ts'
import { openJson } from './tables/json.ts'
import { type Form, readFolder } from './tables/rows.ts'

const STATION_LIST = /^candhis_stations.*\.csv(?:\.gz)?$/i
const ANSWER_FILE = /\.json(?:\.gz)?$/i
/** Campaign codes have five characters, some of them letters ("02B04"); the first one is a digit. */
const CAMPAIGN = /^[0-9][0-9A-Z]{4}$/
const CAMPAIGN_LABEL = /campagne/i
const TIME_LABEL = /^Date(?:Heure)?$/

const ARCHIVE_FEED = 0
const REALTIME_FEED = 1

/**
 * Bytes of a list or an answer: a year of one campaign has 2 MB, and `JSON.parse` takes up to fifteen times
 * the size of its text.
 */
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

/** Marks of the archive and of the API. */
const MISSING = [999.999, 999.9999]

export const openCandhis: OpenSource = (folder) => {
  // No licence is named, as public statements about re-use differ: the credit is what an operator must show.
  const credit = 'Candhis, Cerema and its partners'
  const map = compileMap('candhis', { source: 'Candhis', network: 'coastal', credit })
  const form: Form = { ...ROWS, aside: (path, report) => readPlaces(path, map.known, report) }
  return { read: (sink, { report }) => readFolder(form, folder, map, sink, report) }
}

const ROWS: Form = {
  kind: 'candhis',
  files: /^candhis_[0-9a-z]{5}_(?:\d{4}_)?(?:arch|reel)\.csv$|\.json$/i,
  ignored: 'not Candhis_*_arch.csv, Candhis_*_reel.csv or .json',
  isLast: (path) => ANSWER_FILE.test(path),
  open(bytes, path, [map], file) {
    const table = openFile(bytes, path, file)
    if (table === null) return []
    const { labels, units } = table
    const values = LABELS.map(([name, candidates]) => {
      const at = candidates.find((label) => labels.includes(label))
      return [name, at === undefined ? null : { at, unit: units[labels.indexOf(at)] || MEASURES[name].unit }]
    })
    const at = labels.find((label) => TIME_LABEL.test(label)) ?? 'Date'
    const spec = {
      station: labels.find((label) => CAMPAIGN_LABEL.test(label)) ?? { is: campaignOf(path) ?? '' },
      time: { at, unit: 'UTC' },
      values: Object.fromEntries(values),
      missing: MISSING,
    }
    const feed = at === 'DateHeure' ? ARCHIVE_FEED : REALTIME_FEED
    return [{ table, map: { ...map, ...spec }, path, info: new Map(), look: null, identify: codeOf, feed }]
  },
}

/**
 * The table of a file; null for one without a table, which is reported unless it states that there are no
 * data.
 */
function openFile(bytes: Buffer, path: string, file: FileReport): OpenTable | null {
  if (!ANSWER_FILE.test(path)) return openText(bytes, file)
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

/** The code in a file's name, `candhis_getCampTR_02B04.json`. */
function campaignOf(path: string): string | undefined {
  const words = basename(path)
    .toUpperCase()
    .split(/[^0-9A-Z]/)
  return words.find((word) => CAMPAIGN.test(word))
}

/** Empty for a text that is not a code. */
function codeOf(text: string): string {
  const code = text.toUpperCase()
  return CAMPAIGN.test(code) ? code : ''
}

/**
 * Takes the positions of a list of stations or an answer; the network's own words count before lists of
 * others.
 */
async function readPlaces(path: string, known: ColumnMap['known'], report: Report): Promise<boolean> {
  const isList = STATION_LIST.test(basename(path))
  if (!isList && !ANSWER_FILE.test(path)) return false
  report.reads?.(path)
  const look = openFile(await readText(path, UNCOUNTED, MAX_BYTES), path, UNCOUNTED)
  if (!isList && (look === null || look.labels.some((label) => TIME_LABEL.test(label)))) return false
  const file = report.file(path)
  const table = openFile(await readText(path, file, MAX_BYTES), path, file)
  const found = table === null ? [] : placesOf(table, path, file)
  if (file.end()) {
    for (const [code, place] of found) {
      if (!isList || !known.has(code)) known.set(code, place)
    }
  }
  return true
}

function placesOf(table: OpenTable, path: string, file: FileReport): ColumnMap['known'] {
  const { labels } = table
  const found: ColumnMap['known'] = new Map()
  const fieldLike = (pattern: RegExp): number => labels.findIndex((label) => pattern.test(label))
  const [code, name] = [fieldLike(/^id$|campagne/i), fieldLike(/^(?:name|nom)$/i)]
  const cells = labels.map(readHeaderCell)
  const [lat, lng] = [fieldOf('lat', cells), fieldOf('lng', cells)]
  if (Math.min(lat, lng) < 0) file.skipped('a table without positions and measurements')
  else
    while (table.next()) {
      // A spreadsheet removes the first zero of a code of digits.
      const own = code < 0 ? campaignOf(path) : codeOf(table.text(code).replace(/^\d{4}$/, '0$&'))
      const place = { lat: degreesOf(table.text(lat), 90), lng: degreesOf(table.text(lng), 180) }
      if (!own || Number.isNaN(place.lat + place.lng)) {
        file.bad(table.row(), 'a station without a valid code, latitude or longitude')
        continue
      }
      file.rows(1)
      const title = cleanName(table.text(name)) || `Campagne ${own}`
      if (!found.has(own)) found.set(own, { name: title, ...place })
    }
  return found
}

/**
 * Tables of ERDDAP servers (tabledap) as CSV, CSVP or JSON, with descriptions of datasets next to them
 * (`docs/sources-tables.md`). A column in an unknown unit or with unexplained flags is left out. `period` is
 * the significant period, else the peak period, else the mean period with a note in the report.
 */
import { basename, dirname, join } from 'node:path'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import {
  type ErddapOptions,
  type Info,
  type MeasuredColumn,
  NO_INFO,
  type TableFile,
  isGood,
  layoutOf,
} from './erddap-columns.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { IDENTIFIER, type RowHead, Stations, UNCOUNTED, WaitingRows } from '../reading/stations.ts'
import { INFO_LABELS, type OpenTable, openTable } from './erddap-table.ts'
import type { MeasureName } from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { cleanName } from '../reading/fields.ts'
import { codeOf } from '../reading/units.ts'
import { dropUnusable } from '../reading/measured-values.ts'
import { takeDoubts, type TakeDoubt, listSource, readText, doubtIgnored } from '../reading/source-files.ts'
import { identifiedPlaceOf, readTable } from '../reading/text-table.ts'

/** Bytes; `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_INFO_BYTES = 4 * 2 ** 20

const STATION_LIST = 'stations.csv'
const TABLE_FILE = /\.(?:csvp?|json)(?:\.gz)?$/i
const INFO_FILE = /^(.*?)[_.-]?(?:info|index)\.(?:csv|json)(?:\.gz)?$/i

/** Deeper water, m, is not what swimmers call the water temperature. */
const MAX_TEMPERATURE_DEPTH_M = 5

export const openErddap: OpenSource = (folder, options = {}) => ({
  read: (sink, context) => readErddap(folder, options, sink, context),
})

async function readErddap(
  folder: string,
  options: ErddapOptions,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const listing = await listSource('erddap', folder, 2)
  const ignored: string[] = []
  const files = await listTables(folder, listing.files, ignored, report)
  doubtIgnored(report, [...ignored, ...listing.folders], 'not .csv, .csvp or .json')
  if (files.length === 0) throw new BuildError(`erddap: ${folder} holds no .csv, .csvp or .json`)
  const known = new Map<string, BuoyRecord>()
  const source = options.source ?? 'ERDDAP'
  if (listing.files.includes(STATION_LIST)) {
    await readStations(join(folder, STATION_LIST), report.file(join(folder, STATION_LIST)), source, known)
  }

  const stations = new Stations()
  const signatures: string[] = []
  /** Columns of words in tables without a column of stations. */
  const others = new Set<string>()
  for (const file of files) {
    report.reads?.(file.path)
    const signature = await readRows(file, options, known, UNCOUNTED, null, (row) => {
      stations.see(row.identifier, row.time, row.lat, row.lng, row.name)
      for (const label of row.words) others.add(label)
    })
    signatures.push(signature)
  }
  sink.source({ name: source, network: options.network ?? 'national', ...termsOf(files) })
  const hint = others.size === 0 ? '' : `; its identifier could be in ${[...others].join(', ')}`
  const handles = stations.announce(sink, source, report, known, hint)
  // A later row of a feed replaces one of its time, rows of other feeds fill it. So tables with other
  // measures and rows without waves (a table with depths has a row for each) are other feeds.
  const feeds = [...new Set(signatures)].sort(wavesFirst)
  for (const [i, file] of files.entries()) {
    const counted = report.file(file.path)
    const feed = feeds.indexOf(signatures[i])
    const doubt = takeDoubts(report, file.path)
    const waves = new WaitingRows(sink, doubt, feed)
    const waveless = new WaitingRows(sink, doubt, feeds.length + feed)
    await readRows(file, options, known, counted, report, ({ identifier, time }, names, codes) => {
      const handle = handles.get(identifier)
      if (handle === undefined) return
      const height = names.indexOf('significantHeight')
      const rows = height >= 0 && codes[height] !== NO_CODE ? waves : waveless
      rows.add(handle, time, names, codes)
    })
    const counts = counted.end()
    waves.end(counts, hint)
    waveless.end(counts)
  }
}

function wavesFirst(a: string, b: string): number {
  const waves = (signature: string): number => (signature.includes('significantHeight') ? 0 : 1)
  return waves(a) - waves(b) || (a < b ? -1 : 1)
}

/** The tables, each with the description in its folder of the longest name that its own name begins with. */
async function listTables(
  folder: string,
  names: readonly string[],
  ignored: string[],
  report: Report,
): Promise<TableFile[]> {
  const infos: TableFile[] = []
  const tables: Omit<TableFile, 'info'>[] = []
  for (const place of names) {
    const path = join(folder, place)
    const name = basename(path)
    const [, stem] = INFO_FILE.exec(name) ?? []
    if (stem !== undefined) {
      const file = report.file(path)
      const info = readInfo(await readText(path, file, MAX_INFO_BYTES), file)
      if (file.end()) infos.push({ path, stem, info })
    } else if (TABLE_FILE.test(name)) {
      if (name !== STATION_LIST) tables.push({ path, stem: name.replace(TABLE_FILE, '') })
    } else ignored.push(place)
  }
  infos.sort((a, b) => b.stem.length - a.stem.length)
  return tables.map(({ path, stem }) => ({
    path,
    stem,
    info:
      infos.find((one) => stem.startsWith(one.stem) && dirname(one.path) === dirname(path))?.info ?? NO_INFO,
  }))
}

async function readStations(
  path: string,
  file: FileReport,
  source: string,
  known: Map<string, BuoyRecord>,
): Promise<void> {
  const columns = ['identifier', 'name', 'lat', 'lng']
  await readTable(path, file, columns, columns, (cell) => {
    const place = identifiedPlaceOf(cell, 'station')
    if (typeof place === 'string') return place
    known.set(place.identifier, { source, ...place })
    return null
  })
}

function readInfo(bytes: Buffer, file: FileReport): Info {
  const info = new Map<string, Map<string, string>>()
  const table = openTable(bytes, file)
  if (table === null) return info
  if (INFO_LABELS.some((label, i) => table.labels[i] !== label)) {
    file.bad(1, 'it is not the description of a dataset')
    return info
  }
  let understood = 0
  while (table.next()) {
    understood++
    const [kind, variable, name, , value] = INFO_LABELS.map((_, field) => table.text(field))
    if (kind !== 'attribute') continue
    const attributes = info.get(variable) ?? new Map<string, string>()
    info.set(variable, attributes.set(name, value))
  }
  file.rows(understood)
  return info
}

function termsOf(files: readonly TableFile[]): { credit?: string; licence?: string } {
  const all = (name: string): string =>
    [...new Set(files.map(({ info }) => cleanName(info.get('NC_GLOBAL')?.get(name) ?? '')))]
      .filter((text) => text !== '')
      .slice(0, 5)
      .join('; ')
  const [credit, licence] = [all('institution'), all('license')]
  return { ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
}

interface TableRow extends RowHead {
  name: string
  /** Columns of words, where the table has no column of stations. */
  words: readonly string[]
}

type TakeRow = (head: TableRow, names: readonly MeasureName[], codes: Int32Array) => void

/**
 * Hands over the rows with a value; `report` gets a remark for each column that is not used as expected.
 * Returns the table's measures as one text.
 */
async function readRows(
  source: TableFile,
  options: ErddapOptions,
  known: ReadonlyMap<string, BuoyRecord>,
  file: FileReport,
  report: Report | null,
  take: TakeRow,
): Promise<string> {
  const table = openTable(await readText(source.path, file), file)
  if (table === null) return ''
  const doubt: TakeDoubt = report === null ? () => undefined : takeDoubts(report, source.path)
  const layout = layoutOf(table, source, options, known, doubt)
  if (typeof layout === 'string') {
    file.bad(1, layout)
    return ''
  }
  const { time, station, measured, depth } = layout
  const names = measured.map(({ column }) => column.name)
  if (names.length === 0) {
    doubt('nothingRead', '')
    return ''
  }
  const codes = new Int32Array(names.length)
  const temperature = names.indexOf('waterTemperature')
  const degrees = (field: number, given: number): number => (field < 0 ? given : (table.number(field) ?? NaN))
  let understood = 0
  let words: readonly string[] = []
  while (table.next()) {
    const identifier = typeof station === 'string' ? station : table.text(station)
    const seconds = time.read(table.text(time.field))
    const fault =
      seconds < 0
        ? 'no valid time'
        : !IDENTIFIER.test(identifier)
          ? 'no valid identifier of a station'
          : readValues(table, measured, codes, file)
    if (fault !== null) {
      file.bad(table.row(), fault, seconds < 0 ? table.text(time.field) : undefined)
      continue
    }
    if (understood++ === 0 && typeof station === 'string')
      words = table.labels.filter((_, field) => field !== time.field && table.number(field) === null)
    if (temperature >= 0 && depth >= 0 && codes[temperature] !== NO_CODE) {
      // A depth that is not known is that of the surface.
      if (Math.abs(degrees(depth, 0) * layout.metres) > MAX_TEMPERATURE_DEPTH_M) {
        codes[temperature] = NO_CODE
        file.skipped(`a temperature deeper than ${MAX_TEMPERATURE_DEPTH_M} m`)
      }
    }
    if (!dropUnusable(names, codes, file)) continue
    const { place } = layout
    const head = {
      identifier,
      time: seconds,
      lat: degrees(layout.lat, place.lat),
      lng: degrees(layout.lng, place.lng),
      name: layout.name < 0 ? place.name : table.text(layout.name),
      words,
    }
    take(head, names, codes)
  }
  file.rows(understood)
  return names.join(' ')
}

function readValues(
  table: OpenTable,
  measured: readonly MeasuredColumn[],
  codes: Int32Array,
  file: FileReport,
): string | null {
  for (let i = 0; i < measured.length; i++) {
    const { field, column, flags, fault, flagged } = measured[i]
    const value = table.number(field)
    if (value === null) return fault
    codes[i] = NO_CODE
    if (Number.isNaN(value)) continue
    if (flags.every((flag) => isGood(table, flag))) codes[i] = codeOf(column, value, file)
    else file.skipped(flagged)
  }
  return null
}

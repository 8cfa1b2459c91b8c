/**
 * Rows of mapped tables as readings. Rows of one station and time become one row, in whatever table or file
 * they stand; they wait in memory, as a buoy is announced with its position before its rows are sent.
 */
import { basename, join } from 'node:path'
import { MEASURES, type MeasureName } from '../../sea/columns.ts'
import type { SourceInfo } from '../../sea/records.ts'
import { NO_CODE, orderOf, RowBatch } from '../../sea/row-batch.ts'
import { timestampText } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import { entryOf } from '../../system/entry-of.ts'
import { dropUnusable, readValues } from '../reading/measured-values.ts'
import { doubtIgnored, listSource, readText, takeDoubts, type TakeDoubt } from '../reading/source-files.ts'
import { IDENTIFIER, Stations } from '../reading/stations.ts'
import { WaitingRows } from '../reading/waiting-rows.ts'
import { type OpenTable, readTable, STATION_COLUMNS } from '../reading/text-table.ts'
import { type FileReport, type Report, type Sink, UNCOUNTED } from '../source.ts'
import { TableSpectra } from './bands.ts'
import type { ColumnMap, MappedTable } from './column-map.ts'
import { type FoundTable, type Layout, layoutOf, textOf } from './layout.ts'
import { Marks, takeOutZeros } from './markers.ts'
import { MAX_TEMPERATURE_DEPTH_M } from './measured-columns.ts'

const STATION_LIST = 'stations.csv'

/** Rows of a folder, at 30 to 60 bytes each: 2,280 years of half-hours. */
const MAX_ROWS = 40_000_000

/** A form of files, each of which may hold tables. */
export interface Form {
  readonly kind: string
  /** Names of files without `.gz`. */
  readonly files: RegExp
  /** Why the others are not read. */
  readonly ignored: string
  readonly levels?: number
  readonly maxBytes?: number
  /** Whether a file is read after the others: of two values of one feed and time the later one counts. */
  isLast?(path: string): boolean
  /** Takes a file that describes others; false for any other file. */
  aside?(path: string, report: Report): Promise<boolean>
  /** Credit and licence that such files give. */
  terms?(): Partial<SourceInfo>
  /** The tables of a file by its path without `.gz`. A fault of the whole file is reported. */
  open(bytes: Buffer, path: string, maps: readonly MappedTable[], file: FileReport): FoundTable[]
}

/** Reads the tables of a folder, with the list of stations that may be beside them. */
export async function readFolder(
  form: Form,
  folder: string,
  { info, known, tables }: ColumnMap,
  sink: Sink,
  report: Report,
): Promise<void> {
  const { kind, files, ignored: why } = form
  const listing = await listSource(kind, folder, form.levels)
  const ignored = [...listing.folders]
  const unmapped: string[] = []
  const found: { path: string; maps: MappedTable[] }[] = []
  for (const place of listing.files) {
    const [path, name] = [join(folder, place), basename(place).replace(/\.gz$/i, '')]
    const maps = tables.filter(({ file, isOfAll }) => file.test(name) && (!isOfAll || files.test(name)))
    if (place === STATION_LIST)
      await readTable(path, report.file(path), STATION_COLUMNS, 4, (station) => {
        known.set(station.identifier, { source: info.name, ...station })
        return null
      })
    else if ((await form.aside?.(path, report)) === true) continue
    else if (maps.length === 0 && kind !== 'json' && files.test(name)) unmapped.push(place)
    else if (maps.length === 0) ignored.push(place)
    else found.push({ path, maps })
  }
  doubtIgnored(report, ignored, why)
  for (const place of unmapped) takeDoubts(report)('unmapped', place)
  if (found.length === 0) throw new BuildError(`${kind}: ${folder} holds no files that are read: ${why}`)

  const rows = new Rows(report)
  let last = UNCOUNTED
  const rankOf = ({ path }: { path: string }): number => Number(form.isLast?.(path) ?? false)
  for (const { path, maps } of found.sort((a, b) => rankOf(a) - rankOf(b))) {
    const file = (last = report.file(path))
    const bytes = await readText(path, file, form.maxBytes)
    const doubt = takeDoubts(report, path)
    const opened = form.open(bytes, path.replace(/\.gz$/i, ''), maps, file)
    // Rows wait until it is known that the file counts.
    const marks: Marks[] = []
    const waiting = new WaitingRows(rows, doubt, opened[0]?.feed, (batches) => {
      for (const one of marks) one.takeOut((station) => batches.get(station), file)
      for (const batch of batches.values()) takeOutZeros(batch, file)
    })
    for (const first of opened) {
      for (let table: FoundTable | null = first; table !== null; table = table.below?.(doubt) ?? null)
        rows.read(table, known, file, doubt, waiting, marks)
    }
    const counts = file.end()
    waiting.end(counts)
    const isTold = maps.some(({ spectra }) => spectra !== undefined)
    rows.spectra.end(counts, file, opened[0]?.feed ?? 0, doubt, path, isTold)
  }
  rows.doubtAbsent(tables)
  sink.source({ ...form.terms?.(), ...info })
  sink.listed(info.name, [...known.keys(), ...tables.flatMap(({ station }) => ownStation(station))])
  rows.send(sink, info.name, known, last)
}

/** The station that a map names for all rows of its files. */
const ownStation = (station: MappedTable['station']): string[] =>
  typeof station === 'object' ? [station.is] : []

class Rows {
  readonly #report: Report
  readonly #positions = new Stations()
  /** Numbers of stations, and the rows of each by number and feed. */
  readonly #numbers = new Map<string, number>()
  readonly #stations: RowBatch[][] = []
  readonly spectra = new TableSpectra()
  #length = 0
  /** Measures of which a row had a value. */
  readonly #found = new Set<MeasureName>()

  constructor(report: Report) {
    this.#report = report
  }

  /** Reads the rows of a table into `waiting`. */
  read(
    found: FoundTable,
    known: ColumnMap['known'],
    file: FileReport,
    doubt: TakeDoubt,
    waiting: WaitingRows,
    marks: Marks[],
  ): void {
    const { table, identify = String } = found
    const layout = layoutOf(found, known, doubt)
    if (typeof layout === 'string') {
      file.bad(Math.max(table.row(), 1), layout)
      return
    }
    const { time, station, measured, place, bands } = layout
    const names = measured.map(({ column }) => column.name)
    if (names.length === 0 && bands === null) {
      doubt('nothingRead', '')
      return
    }
    const codes = new Int32Array(names.length)
    const values = new Float64Array(names.length)
    const hasValue = names.map(() => false)
    const mark = new Marks(names)
    marks.push(mark)
    const readers = new Map<string, (text: string) => number>()
    const degrees = (field: number, given: number, factor: number): number =>
      field < 0 ? given : (table.number(field) ?? Infinity) * factor
    let understood = 0
    while (table.next()) {
      const identifier = typeof station === 'string' ? station : identify(table.text(station), file)
      if (identifier === null) {
        understood++
        continue
      }
      const text = textOf(table, time.fields)
      // On a wall clock the earlier times decide which of two hours it is.
      const seconds = entryOf(readers, time.isOfStation ? identifier : '', time.reader)(text)
      if (seconds < 0 || !IDENTIFIER.test(identifier)) {
        const where = found.look === null ? '' : ` in the column ${table.labels[time.fields[0]]}`
        if (seconds < 0) file.bad(table.row(), `no valid time${where}`, text)
        else file.bad(table.row(), 'no valid identifier of a station')
        continue
      }
      if (!readValues(table, measured, codes, file, values)) continue
      for (let i = 0; i < values.length; i++) hasValue[i] ||= !Number.isNaN(values[i])
      understood++
      dropDeep(table, layout, codes, file)
      const number = entryOf(this.#numbers, identifier, () => this.#numbers.size)
      const hasSpectrum = bands !== null && this.spectra.read(table, bands, number, seconds, file)
      const hasValues = codes.some((code) => code !== NO_CODE)
      if (!hasValues && !hasSpectrum) {
        file.skipped('a row without a value')
        continue
      }
      const lat = degrees(layout.lat, place.lat, layout.factors[0])
      const lng = degrees(layout.lng, place.lng, layout.factors[1])
      const name = layout.name < 0 ? place.name : table.text(layout.name)
      this.#positions.see(identifier, seconds, lat, lng, name)
      if (!hasValues) continue
      const row = waiting.next(number)
      for (let i = 0; i < codes.length; i++) {
        if (codes[i] !== NO_CODE) mark.see(i, values[i], number, row)
      }
      waiting.add(number, seconds, names, codes)
    }
    file.rows(understood)
    for (const [i, name] of names.entries()) {
      if (hasValue[i]) this.#found.add(name)
    }
  }

  /** Takes in the rows of a file that counts. @throws BuildError for more rows than can wait */
  rows(station: number, batch: RowBatch, feed = 0): void {
    this.#length += batch.length
    if (this.#length > MAX_ROWS) throw new BuildError(`more than ${MAX_ROWS} rows; split the folder`)
    const feeds = (this.#stations[station] ??= [])
    const rows = (feeds[feed] ??= new RowBatch(64))
    rows.append(batch)
  }

  doubtAbsent(tables: readonly MappedTable[]): void {
    const given = tables.flatMap(({ values = {} }) => Object.entries(values))
    const names = given.flatMap(([name, value]) => (value === null ? [] : [name as MeasureName]))
    for (const name of new Set(names)) {
      if (!this.#found.has(name)) takeDoubts(this.#report)('absent', name)
    }
  }

  /** @param file the last file, which counts values skipped in merged rows */
  send(sink: Sink, source: string, known: ColumnMap['known'], file: FileReport): void {
    const handles = this.#positions.announce(sink, source, this.#report, known, { comparesPlaces: true })
    const doubt = takeDoubts(this.#report)
    for (const [identifier, handle] of handles) {
      this.#stations[this.#numbers.get(identifier)!]?.forEach((rows, feed) => {
        const { merged, twice, example } = mergeRows(rows, file)
        doubt('twice', `${identifier} at ${timestampText(example)}`, twice)
        if (merged.length > 0) sink.rows(handle, merged, feed)
      })
    }
    const byNumber = new Map(
      [...handles].map(([identifier, handle]) => [this.#numbers.get(identifier), handle]),
    )
    this.spectra.send(sink, (number) => byNumber.get(number))
  }
}

/**
 * The rows that have a usable value, by time, with one row for each time. If a measure comes twice, the later
 * value counts; a row with waves goes before a row without. `twice` counts rows with different values.
 */
function mergeRows(rows: RowBatch, file: FileReport): { merged: RowBatch; twice: number; example: number } {
  const { length, time, columns } = rows
  const found = { merged: new RowBatch(length), twice: 0, example: 0 }
  const names = rows.names()
  const codes = new Int32Array(names.length).fill(NO_CODE)
  const given = names.map((name) => columns[name])
  const missing = names.map((name) => MEASURES[name].missing)
  const height = names.indexOf('significantHeight')
  orderOf(rows).forEach((row, i, order) => {
    const onlyFills = codes[height] !== NO_CODE && given[height][row] === missing[height]
    let differs = false
    for (let j = 0; j < names.length; j++) {
      const code = given[j][row]
      if (code === missing[j]) continue
      differs ||= codes[j] !== NO_CODE && codes[j] !== code
      if (codes[j] === NO_CODE || !onlyFills) codes[j] = code
    }
    if (differs && found.twice++ === 0) found.example = time[row]
    if (i + 1 < length && time[order[i + 1]] === time[row]) return
    if (dropUnusable(names, codes, file)) found.merged.addCodes(time[row], names, codes)
    codes.fill(NO_CODE)
  })
  return found
}

/** Takes a temperature of the deep out of a row. An unknown depth counts as the surface. */
function dropDeep(
  table: OpenTable,
  { measured, depth, metres }: Layout,
  codes: Int32Array,
  file: FileReport,
): void {
  const temperature = measured.findIndex(({ column }) => column.name === 'waterTemperature')
  if (temperature < 0 || depth < 0 || codes[temperature] === NO_CODE) return
  if (!(Math.abs((table.number(depth) ?? NaN) * metres) > MAX_TEMPERATURE_DEPTH_M)) return
  codes[temperature] = NO_CODE
  file.skipped(`a temperature deeper than ${MAX_TEMPERATURE_DEPTH_M} m`)
}

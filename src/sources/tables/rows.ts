/**
 * Rows of mapped tables as readings. Rows of one station and time become one row, in whatever table or file they
 * stand; they wait in memory, as a buoy is announced with its position before its rows are sent.
 */
import { basename, join } from 'node:path'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../sea/columns.ts'
import type { BuoyRecord, SourceInfo } from '../../sea/records.ts'
import { NO_CODE, RowBatch } from '../../sea/row-batch.ts'
import { timestampText } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import { entryOf } from '../../system/entry-of.ts'
import { dropUnusable, readValues } from '../reading/measured-values.ts'
import { doubtIgnored, listSource, readText, takeDoubts, type TakeDoubt } from '../reading/source-files.ts'
import { IDENTIFIER, Stations, UNCOUNTED, WaitingRows } from '../reading/stations.ts'
import { type OpenTable, readTable, STATION_COLUMNS } from '../reading/text-table.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import type { ColumnMap, MappedTable } from './column-map.ts'
import { type FoundTable, type Layout, layoutOf, textOf } from './layout.ts'

const STATION_LIST = 'stations.csv'

/** Deeper water, m, is not what swimmers call the water temperature. */
const MAX_TEMPERATURE_DEPTH_M = 5

/** Rows of a folder, at some 120 bytes each: 570 years of half-hours. */
const MAX_ROWS = 10_000_000

/** A form of files of which each may hold tables. */
export interface Form {
  readonly kind: string
  /** Names of files without `.gz`. */
  readonly files: RegExp
  /** Why the others are not read. */
  readonly ignored: string
  readonly levels?: number
  readonly maxBytes?: number
  /** Takes a file that is about the others; true where it is one. */
  aside?(path: string, report: Report): Promise<boolean>
  /** Credit and licence that such files give. */
  terms?(): Partial<SourceInfo>
  /** The tables of a file by its path without `.gz`. What is wrong with it as a whole is reported. */
  open(bytes: Buffer, path: string, maps: readonly MappedTable[], file: FileReport): FoundTable[]
}

/** Reads the tables of a folder, with the list of stations that may lie beside them. */
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
    else if (maps.length === 0) ignored.push(place)
    else found.push({ path, maps })
  }
  doubtIgnored(report, ignored, why)
  if (found.length === 0) throw new BuildError(`${kind}: ${folder} holds no files that are read: ${why}`)

  const rows = new Rows(report)
  let last = UNCOUNTED
  for (const { path, maps } of found) {
    const file = (last = report.file(path))
    const bytes = await readText(path, file, form.maxBytes)
    const doubt = takeDoubts(report, path)
    // Rows wait until it is known that the file counts.
    const waiting = new WaitingRows(rows, doubt)
    for (const table of form.open(bytes, path.replace(/\.gz$/i, ''), maps, file))
      rows.read(table, known, file, doubt, waiting)
    waiting.end(file.end())
  }
  rows.doubtAbsent(tables)
  sink.source({ ...form.terms?.(), ...info })
  rows.send(sink, info.name, known, last)
}

class Rows {
  readonly #report: Report
  readonly #positions = new Stations()
  /** Numbers of stations, and the rows of each by number and time. */
  readonly #numbers = new Map<string, number>()
  readonly #stations: { batch: RowBatch; rowAt: Map<number, number> }[] = []
  #length = 0
  /** Measures of which a row had a value. */
  readonly #found = new Set<MeasureName>()

  constructor(report: Report) {
    this.#report = report
  }

  /** Reads the rows of a table into `waiting`. */
  read(
    found: FoundTable,
    known: ReadonlyMap<string, BuoyRecord>,
    file: FileReport,
    doubt: TakeDoubt,
    waiting: WaitingRows,
  ): void {
    const { table } = found
    const layout = layoutOf(found, known, doubt)
    if (typeof layout === 'string') {
      file.bad(Math.max(table.row(), 1), layout)
      return
    }
    const { time, station, measured, place } = layout
    const names = measured.map(({ column }) => column.name)
    if (names.length === 0) {
      doubt('nothingRead', '')
      return
    }
    const codes = new Int32Array(names.length)
    const readers = new Map<string, (text: string) => number>()
    const degrees = (field: number, given: number, factor: number): number =>
      field < 0 ? given : (table.number(field) ?? NaN) * factor
    let understood = 0
    while (table.next()) {
      const identifier = typeof station === 'string' ? station : table.text(station)
      const text = textOf(table, time.fields)
      // On a wall clock the times before tell which of two hours it is.
      const seconds = entryOf(readers, time.isOfStation ? identifier : '', time.reader)(text)
      if (seconds < 0 || !IDENTIFIER.test(identifier)) {
        const where = found.look === null ? '' : ` in the column ${table.labels[time.fields[0]]}`
        if (seconds < 0) file.bad(table.row(), `no valid time${where}`, text)
        else file.bad(table.row(), 'no valid identifier of a station')
        continue
      }
      if (!readValues(table, measured, codes, file)) continue
      understood++
      dropDeep(table, layout, codes, file)
      if (codes.every((code) => code === NO_CODE)) {
        file.skipped('a row without a value')
        continue
      }
      const lat = degrees(layout.lat, place.lat, layout.factors[0])
      const lng = degrees(layout.lng, place.lng, layout.factors[1])
      const name = layout.name < 0 ? place.name : table.text(layout.name)
      this.#positions.see(identifier, seconds, lat, lng, name)
      waiting.add(
        entryOf(this.#numbers, identifier, () => this.#numbers.size),
        seconds,
        names,
        codes,
      )
    }
    file.rows(understood)
    for (const { column, isFound } of measured) if (isFound) this.#found.add(column.name)
  }

  /**
   * Takes in the rows of a file that counts. If a measure comes twice, the later value counts; one of a row with waves
   * goes before that of one without. @throws BuildError for more rows than can wait
   */
  rows(station: number, { length, time, columns: given }: RowBatch): void {
    const { batch, rowAt } = (this.#stations[station] ??= { batch: new RowBatch(64), rowAt: new Map() })
    const has = (columns: RowBatch['columns'], name: MeasureName, row: number): boolean =>
      columns[name][row] !== MEASURES[name].missing
    let twice = 0
    let example = 0
    for (let from = 0; from < length; from++) {
      const row = entryOf(rowAt, time[from], () => {
        if (++this.#length > MAX_ROWS) throw new BuildError(`more than ${MAX_ROWS} rows; split the folder`)
        return batch.add(time[from])
      })
      const { columns } = batch
      const onlyFills = has(columns, 'significantHeight', row) && !has(given, 'significantHeight', from)
      let differs = false
      for (const name of MEASURE_NAMES) {
        if (!has(given, name, from)) continue
        const isKnown = has(columns, name, row)
        differs ||= isKnown && columns[name][row] !== given[name][from]
        if (!isKnown || !onlyFills) columns[name][row] = given[name][from]
      }
      if (differs && twice++ === 0) example = time[from]
    }
    const identifier = [...this.#numbers.keys()][station]
    takeDoubts(this.#report)('twice', `${identifier} at ${timestampText(example)}`, twice)
  }

  doubtAbsent(tables: readonly MappedTable[]): void {
    const given = tables.flatMap(({ values = {} }) => Object.entries(values))
    const names = given.flatMap(([name, value]) => (value === null ? [] : [name as MeasureName]))
    for (const name of new Set(names)) if (!this.#found.has(name)) takeDoubts(this.#report)('absent', name)
  }

  /** @param file the last one, in which is counted what is skipped of rows that are put together */
  send(sink: Sink, source: string, known: ReadonlyMap<string, BuoyRecord>, file: FileReport): void {
    const waiting = new WaitingRows(sink, () => undefined)
    const codes = new Int32Array(MEASURE_NAMES.length)
    const handles = this.#positions.announce(sink, source, this.#report, known)
    for (const [identifier, handle] of handles) {
      const { batch } = this.#stations[this.#numbers.get(identifier)!] ?? { batch: new RowBatch(0) }
      const { length, time, columns } = batch
      for (let row = 0; row < length; row++) {
        MEASURE_NAMES.forEach((name, i) => {
          codes[i] = columns[name][row] === MEASURES[name].missing ? NO_CODE : columns[name][row]
        })
        if (dropUnusable(MEASURE_NAMES, codes, file)) waiting.add(handle, time[row], MEASURE_NAMES, codes)
      }
    }
    waiting.end(true)
  }
}

/** Takes a temperature of the deep out of a row. A depth that is not known is that of the surface. */
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

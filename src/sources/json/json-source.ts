/**
 * Rows in any JSON by a map of stations, times, measures and units (`json-map.ts`): the `options` of the
 * configuration, or `columns.json` in the folder. Parts of one station's time are put together.
 */
import { join } from 'node:path'
import { BuildError } from '../../system/build-error.ts'
import {
  type ColumnMap,
  type Path,
  type Table,
  compileColumns,
  follow,
  plain,
  waysOf,
  wordOf,
} from './json-map.ts'
import type { TimeReader } from '../reading/times.ts'
import { timestampText } from '../../sea/time.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { IDENTIFIER, Stations, WaitingRows } from '../reading/stations.ts'
import { MEASURE_NAMES } from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { codeOf, numberOf } from '../reading/units.ts'
import { dropUnusable } from '../reading/measured-values.ts'
import {
  isObject,
  listSource,
  parseDocument,
  readText,
  doubtIgnored,
  takeDoubts,
} from '../reading/source-files.ts'
import { entryOf } from '../../system/entry-of.ts'

const COLUMNS_FILE = 'columns.json'
const MAX_COLUMNS_BYTES = 2 ** 20

/** `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_DOCUMENT_BYTES = 64 * 2 ** 20

/** Rows over all files, at some 200 bytes each: they wait for their other parts. */
const MAX_ROWS = 1_000_000

/**
 * Opens `folder` as documents of one network by `options`, or by the folder's `columns.json`.
 * @throws BuildError for a map that does not fit its schema or names an unknown unit
 */
export const openJson: OpenSource = (folder, options) => {
  const given = options === undefined ? null : compileColumns(options, 'json: options')
  return { read: (sink, context) => readJson(folder, given, sink, context) }
}

async function readJson(
  folder: string,
  given: ColumnMap | null,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const listing = await listSource('json', folder)
  const map = given ?? (await readColumns(folder, listing.files))
  const { source, network, credit, licence } = map.columns
  const parts = new Parts(report)
  const stations = new Stations()
  const files: FileReport[] = []
  const found = new Set<Path>()
  const ignored = [...listing.folders]
  for (const name of listing.files) {
    if (name === COLUMNS_FILE) continue
    const plainName = name.replace(/\.gz$/i, '')
    const tables = map.tables.filter(({ file }) => file.test(plainName))
    if (!/\.json$/i.test(plainName) || tables.length === 0) {
      ignored.push(name)
      continue
    }
    const path = join(folder, name)
    const file = report.file(path)
    const document = parseDocument(await readText(path, file, MAX_DOCUMENT_BYTES), file)
    if (document !== undefined) readDocument(document, plainName, tables, { file, parts, stations, found })
    files.push(file)
  }
  doubtIgnored(report, ignored, 'no table of the map matches')
  const doubt = takeDoubts(report)
  for (const { at, column } of map.tables.flatMap(({ values }) => values))
    if (!found.has(at)) doubt('absent', column.name)
  if (files.length === 0) throw new BuildError(`json: ${folder} holds no files that the map matches`)

  sink.source({
    name: source,
    network,
    ...(credit !== undefined && { credit }),
    ...(licence !== undefined && { licence }),
  })
  const handles = stations.announce(sink, source, report, map.known)
  parts.send(handles, sink, new Set(files.filter((file) => file.end())))
}

async function readColumns(folder: string, names: readonly string[]): Promise<ColumnMap> {
  const path = join(folder, COLUMNS_FILE)
  if (!names.includes(COLUMNS_FILE)) throw new BuildError(`json: ${path} is missing, the map of the columns`)
  const fail = (_: number, reason: string): never => {
    throw new BuildError(`${path}: ${reason}`)
  }
  const strict = { rows: () => undefined, skipped: () => undefined, bad: fail, end: () => true }
  return compileColumns(parseDocument(await readText(path, strict, MAX_COLUMNS_BYTES), strict), path)
}

const NO_HEADER: ReadonlyMap<string, number> = new Map()

interface Takers {
  readonly file: FileReport
  readonly parts: Parts
  readonly stations: Stations
  /** Places of values that rows have. */
  readonly found: Set<Path>
}

interface Surroundings {
  readonly document: unknown
  readonly header: ReadonlyMap<string, number>
  readonly named: string
  readonly stars: readonly number[]
  /** By station. */
  readonly clocks: Map<string, TimeReader>
}

/** Rows have numbers, not lines: a fault is reported with the number of its row, from 1. */
function readDocument(document: unknown, fileName: string, tables: readonly Table[], takers: Takers): void {
  const { file } = takers
  let found = false
  for (const table of tables) {
    const { when } = table
    const named = table.file.exec(fileName)?.[1] ?? ''
    const clocks = new Map<string, TimeReader>()
    for (const stars of waysOf(table.rows, document)) {
      if (when !== null && plain(follow(when.at, document, document, NO_HEADER, stars)) !== when.is) continue
      const rows = follow(table.rows, document, document, NO_HEADER, stars)
      if (!Array.isArray(rows) && !isObject(rows)) continue
      found = true
      const surroundings = { document, header: headerOf(table, document), named, stars, clocks }
      const list: unknown[] = Array.isArray(rows) ? rows : [rows]
      list.forEach((row, i) => {
        const fault = readRow(table, row, surroundings, takers)
        if (fault !== null) file.bad(i + 1, fault)
      })
    }
  }
  if (!found) file.bad(1, 'it holds no table of the map')
}

function headerOf({ header }: Table, document: unknown): ReadonlyMap<string, number> {
  const names: unknown = header === null ? null : follow(header, document, document, NO_HEADER)
  if (!Array.isArray(names)) return NO_HEADER
  // The first of two columns with one name counts.
  const entries = (names as unknown[]).map((name, i): [string, number] => [wordOf(name), i])
  return new Map(entries.reverse())
}

function readRow(
  table: Table,
  row: unknown,
  { document, header, named, stars, clocks }: Surroundings,
  { file, parts, stations, found }: Takers,
): string | null {
  const at = (path: Path): unknown => follow(path, row, document, header, stars)
  const identifier = table.station === null ? named : wordOf(at(table.station))
  if (!IDENTIFIER.test(identifier)) return 'no valid identifier of a station'
  const time = entryOf(clocks, identifier, table.readTime)(wordOf(at(table.time)))
  if (time < 0) return 'no valid time'
  const codes = new Int32Array(MEASURE_NAMES.length).fill(NO_CODE)
  for (const { column, measure, at: place, missing, quality, fault } of table.values) {
    const value = at(place)
    if (value !== undefined) found.add(place)
    if (value === undefined || value === null || missing.has(plain(value))) continue
    const number =
      typeof value === 'number' ? value : typeof value === 'string' ? numberOf(value.trim()) : null
    if (number === null) return fault
    if (Number.isNaN(number)) continue
    if (quality !== null && !quality.good.has(plain(at(quality.at))))
      file.skipped(`${column.name} flagged bad`)
    else codes[measure] = codeOf(column, number, file)
  }
  const degrees = (path: Path | null): number => (path === null ? NaN : (numberOf(wordOf(at(path))) ?? NaN))
  file.rows(1)
  stations.see(
    identifier,
    time,
    degrees(table.lat),
    degrees(table.lng),
    table.name === null ? '' : wordOf(at(table.name)),
  )
  parts.add(identifier, time, codes, file)
  return null
}

/** Rows of stations, put together by time. If a measure comes twice, the later value counts. */
class Parts {
  readonly #stations = new Map<string, Map<number, { codes: Int32Array; file: FileReport }>>()
  readonly #report: Report
  #length = 0

  constructor(report: Report) {
    this.#report = report
  }

  /** @throws BuildError for more rows than can wait. */
  add(identifier: string, time: number, codes: Int32Array, file: FileReport): void {
    const rows = entryOf(this.#stations, identifier, () => new Map())
    const known = rows.get(time)
    if (known === undefined) {
      if (++this.#length > MAX_ROWS)
        throw new BuildError(`json: more than ${MAX_ROWS} rows; split the folder`)
      rows.set(time, { codes, file })
      return
    }
    const differs = (code: number, i: number): boolean =>
      code !== NO_CODE && known.codes[i] !== NO_CODE && known.codes[i] !== code
    if (codes.some(differs)) takeDoubts(this.#report)('twice', `${identifier} at ${timestampText(time)}`)
    for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) known.codes[i] = codes[i]
  }

  /** @param counting the files of which rows are sent */
  send(handles: ReadonlyMap<string, number>, sink: Sink, counting: ReadonlySet<FileReport>): void {
    const waiting = new WaitingRows(sink, takeDoubts(this.#report))
    for (const [identifier, handle] of handles) {
      const rows = this.#stations.get(identifier) ?? new Map()
      for (const [time, { codes, file }] of [...rows].sort(([a], [b]) => a - b))
        if (counting.has(file) && dropUnusable(MEASURE_NAMES, codes, file))
          waiting.add(handle, time, MEASURE_NAMES, codes)
    }
    waiting.end(true)
  }
}

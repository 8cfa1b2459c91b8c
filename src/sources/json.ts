/**
 * Rows of JSON of any network, by a map of their columns: where in a document the rows stand, whose they are,
 * when, and which of their values is which measure in which unit. The map is the `options` of the
 * configuration, or `columns.json` in the folder.
 *
 * Places are JSON pointers (RFC 6901) from a row, `/wave_height`; with `^` before them from the document,
 * `^/data/spotterId`. In a list, `/results/identifier=Hm0/value` goes to the element whose `identifier` is
 * `Hm0`, and `/@Hm0 (m)/0` to the one at the place that `Hm0 (m)` has in the header. Rows that each hold a
 * part of what was measured at one time, as with a file for each quantity, are put together by station and
 * time.
 */
import { join } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import { MEASURE_NAMES, type MeasureName, RowBatch } from '../sea/columns.ts'
import { parseBounded } from './reading/documents.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, Network } from '../sea/records.ts'
import { IDENTIFIER, Stations } from './reading/stations.ts'
import { dropUnusable, listFolder, NO_CODE, readText } from './reading/text.ts'
import {
  codeOf,
  numberOf,
  timeReader,
  type TimeReader,
  valueColumn,
  type ValueColumn,
} from './reading/units.ts'

const COLUMNS_FILE = 'columns.json'
const MAX_COLUMNS_BYTES = 2 ** 20

/** What `JSON.parse` makes of a text takes up to fifteen times its size. */
const MAX_DOCUMENT_BYTES = 64 * 2 ** 20
/** Rows over all files of a folder, at some 200 bytes each: they wait for their other parts. */
const MAX_ROWS = 1_000_000

/** A place in a row or, behind `^`, in the document. */
type Place = string

/** How the rows of a network's JSON are read. */
export interface JsonColumns {
  /** Name of the network, as on the wire. */
  source: string
  network: Network
  credit?: string
  licence?: string
  /** What the rows do not say of stations. */
  stations?: Pick<BuoyRecord, 'identifier' | 'name' | 'lat' | 'lng' | 'country' | 'timezone'>[]
  /** The lists of rows that a document may have. */
  tables: JsonTable[]
}

export interface JsonTable {
  /**
   * Names of the files that have it; `*` stands for anything, `{station}` for the identifier. All files where
   * it is absent.
   */
  files?: string
  /** Only documents that hold this here have the table. */
  when?: { at: Place; is: string | number | boolean }
  /** Where the list of rows is; empty for the document itself. One object is one row. */
  rows: string
  /** Where the list of the columns' names is, for rows that are lists. */
  header?: string
  /** The identifier; else it stands in the file's name. */
  station?: Place
  name?: Place
  lat?: Place
  lng?: Place
  time: {
    at: Place
    /** "UTC" is ISO 8601, "seconds since 1970-01-01" and its like are counts. */
    unit: string
    /** What a time without a mark of its zone is ahead of UTC, `+10:00`. */
    offset?: string
  }
  values: { [name in MeasureName]?: JsonValue }
}

export interface JsonValue {
  at: Place
  /** As a UDUNITS string: "m", "knots", "degree_Celsius". */
  unit: string
  /** Values that mark "missing", beside null, "" and "NaN". */
  missing?: (number | string)[]
  /** Directions are where waves and wind come from, unless this says `to`. */
  direction?: 'from' | 'to'
  /** Only values whose flag is one of `good` are taken. */
  quality?: { at: Place; good: (number | string)[] }
}

const POINTER = { type: 'string', maxLength: 300, pattern: '^(/.*)?$' }
const PLACE = { type: 'string', maxLength: 300, pattern: '^\\^?(/.*)?$' }
const WORDS = { type: 'string', minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f"]+$' }
const SCALARS = { type: 'array', maxItems: 50, items: { type: ['number', 'string'], maxLength: 100 } }

const object = (properties: { [name: string]: unknown }, required: readonly string[]) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})

/** JSON schema (draft 7) of `JsonColumns`. */
export const JSON_OPTIONS: { readonly [keyword: string]: unknown } = object(
  {
    source: WORDS,
    network: { enum: ['national', 'coastal'] },
    credit: { type: 'string', maxLength: 1000 },
    licence: { type: 'string', maxLength: 1000 },
    stations: {
      type: 'array',
      maxItems: 10_000,
      items: object(
        {
          identifier: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[^\\x00-\\x1f"]+$' },
          name: WORDS,
          lat: { type: 'number', minimum: -90, maximum: 90 },
          lng: { type: 'number', minimum: -180, maximum: 180 },
          country: { type: 'string', pattern: '^[A-Z]{2}$' },
          timezone: WORDS,
        },
        ['identifier', 'name', 'lat', 'lng'],
      ),
    },
    tables: {
      type: 'array',
      minItems: 1,
      maxItems: 50,
      items: object(
        {
          files: { type: 'string', maxLength: 200, pattern: '^[^*/]*\\*?[^*/]*$' },
          when: object({ at: PLACE, is: { type: ['string', 'number', 'boolean'] } }, ['at', 'is']),
          rows: POINTER,
          header: POINTER,
          station: PLACE,
          name: PLACE,
          lat: PLACE,
          lng: PLACE,
          time: object(
            {
              at: PLACE,
              unit: { type: 'string', maxLength: 80 },
              offset: { type: 'string', pattern: '^[+-](0\\d|1\\d|2[0-3]):[0-5]\\d$' },
            },
            ['at', 'unit'],
          ),
          values: {
            ...object(
              Object.fromEntries(
                MEASURE_NAMES.map((name) => [
                  name,
                  object(
                    {
                      at: PLACE,
                      unit: { type: 'string', minLength: 1, maxLength: 60 },
                      missing: SCALARS,
                      direction: { enum: ['from', 'to'] },
                      quality: object({ at: PLACE, good: { ...SCALARS, minItems: 1 } }, ['at', 'good']),
                    },
                    ['at', 'unit'],
                  ),
                ]),
              ),
              [],
            ),
            minProperties: 1,
          },
        },
        ['rows', 'time', 'values'],
      ),
    },
  },
  ['source', 'network', 'tables'],
)

/**
 * Opens `folder` as documents of one network. `options` are `JsonColumns`; without them the folder's
 * `columns.json` is read.
 * @throws BuildError for a map that does not fit its schema or names an unknown unit.
 */
export const openJson: OpenSource = (folder, options) => {
  const given = options === undefined ? null : compileColumns(options, 'json: options')
  return { read: (sink, context) => readJson(folder, given, sink, context) }
}

/** A map, checked and made ready. */
interface ColumnMap {
  columns: JsonColumns
  known: Map<string, BuoyRecord>
  tables: Table[]
}

interface Table {
  file: RegExp
  when: { at: Path; is: string } | null
  rows: Path
  header: Path | null
  station: Path | null
  name: Path | null
  lat: Path | null
  lng: Path | null
  time: Path
  readTime: TimeReader
  values: TableValue[]
}

interface TableValue {
  column: ValueColumn
  /** Place of the measure in MEASURE_NAMES. */
  measure: number
  at: Path
  missing: ReadonlySet<string>
  quality: { at: Path; good: ReadonlySet<string> } | null
  fault: string
}

interface Path {
  fromDocument: boolean
  steps: readonly Step[]
}

interface Step {
  key: string
  /** For lists: the element with this index, … */
  index: number
  /** … the one whose `key` is `value`, … */
  pick: { key: string; value: string } | null
  /** … or the one under this name of the header. */
  column: string | null
}

/** @throws BuildError that says what is wrong in the map that `place` names. */
function compileColumns(value: unknown, place: string): ColumnMap {
  const validate = new Ajv({ strict: false }).compile<JsonColumns>(JSON_OPTIONS)
  if (!validate(value)) throw new BuildError(`${place}${faultText(validate.errors?.[0])}`)
  const known = new Map<string, BuoyRecord>()
  for (const station of value.stations ?? []) {
    if (station.timezone !== undefined && !isZone(station.timezone)) {
      throw new BuildError(`${place}: ${station.identifier} has an unknown time zone`)
    }
    known.set(station.identifier, { ...station, source: value.source })
  }
  const tables = value.tables.map((table, i) => {
    const at = `${place}/tables/${i}`
    if (table.station === undefined && !(table.files ?? '').includes('{station}')) {
      throw new BuildError(`${at} does not say whose its rows are: give "station", or {station} in "files"`)
    }
    return compileTable(table, at)
  })
  return { columns: value, known, tables }
}

function faultText(error: ErrorObject | undefined): string {
  const { additionalProperty: name } = (error?.params ?? {}) as { additionalProperty?: string }
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is wrong'}${name === undefined ? '' : `: "${name}"`}`
}

function isZone(name: string): boolean {
  try {
    return /^[A-Za-z]/.test(name) && Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

function compileTable(table: JsonTable, place: string): Table {
  const { time, when, header } = table
  if ((table.files ?? '').split('{station}').length > 2) {
    throw new BuildError(`${place}/files has {station} more than once`)
  }
  const readTime = timeReader(time.unit, offsetOf(time.offset))
  if (readTime === null) throw new BuildError(`${place}/time/unit is not a known unit of time`)
  const values = (Object.entries(table.values) as [MeasureName, JsonValue][]).map(([name, value]) => {
    const { at, unit, missing = [], direction, quality } = value
    const column = valueColumn(name, name, unit, { goesTo: direction === 'to' })
    if (column === null)
      throw new BuildError(`${place}/values/${name}/unit is not a known unit of this measure`)
    if (direction !== undefined && !column.isDirection) {
      throw new BuildError(`${place}/values/${name} has "direction" but is not a direction`)
    }
    return {
      column,
      measure: MEASURE_NAMES.indexOf(name),
      at: pathOf(at),
      missing: new Set(missing.map(plain)),
      quality:
        quality === undefined ? null : { at: pathOf(quality.at), good: new Set(quality.good.map(plain)) },
      fault: `${name} is not a number`,
    }
  })
  const optional = (at: Place | undefined): Path | null => (at === undefined ? null : pathOf(at))
  return {
    file: fileNames(table.files ?? '*'),
    when: when === undefined ? null : { at: pathOf(when.at), is: plain(when.is) },
    rows: pathOf(table.rows),
    header: optional(header),
    station: optional(table.station),
    name: optional(table.name),
    lat: optional(table.lat),
    lng: optional(table.lng),
    time: pathOf(time.at),
    readTime,
    values,
  }
}

/** "+10:00" in seconds. */
function offsetOf(text = '+00:00'): number {
  return (text.startsWith('-') ? -1 : 1) * (Number(text.slice(1, 3)) * 3600 + Number(text.slice(4)) * 60)
}

/**
 * The schema allows one `*`; with the identifier that makes two parts of any length, which no name can make
 * slow.
 */
function fileNames(template: string): RegExp {
  const pattern = template
    .split(/(\*|\{station\})/)
    .map((part) =>
      part === '*'
        ? '.*'
        : part === '{station}'
          ? '([^"/]{1,64}?)'
          : part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'),
    )
    .join('')
  return new RegExp(`^${pattern}$`, 'u')
}

function pathOf(place: Place): Path {
  const steps = place
    .replace(/^\^/, '')
    .split('/')
    .slice(1)
    .map((written): Step => {
      const key = written.replaceAll('~1', '/').replaceAll('~0', '~')
      const equals = key.indexOf('=')
      return {
        key,
        index: /^\d{1,9}$/.test(key) ? Number(key) : -1,
        pick: equals > 0 ? { key: key.slice(0, equals), value: key.slice(equals + 1) } : null,
        column: key.startsWith('@') ? key.slice(1) : null,
      }
    })
  return { fromDocument: place.startsWith('^'), steps }
}

/** What lies at the end of a path, or undefined. */
function follow(
  { fromDocument, steps }: Path,
  row: unknown,
  document: unknown,
  header: ReadonlyMap<string, number>,
): unknown {
  let value = fromDocument ? document : row
  for (const { key, index, pick, column } of steps) {
    if (Array.isArray(value)) {
      const list: unknown[] = value
      if (column !== null) value = list[header.get(column) ?? -1]
      else if (index >= 0) value = list[index]
      else if (pick === null) return undefined
      else value = list.find((entry) => isObject(entry) && plain(ownOf(entry, pick.key)) === pick.value)
    } else if (isObject(value)) value = ownOf(value, key)
    else return undefined
  }
  return value
}

type Json = { [key: string]: unknown }

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function ownOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

/** A number, word or truth value as text that is the same for "1.0", "1" and 1; '' for anything else. */
function plain(value: unknown): string {
  if (typeof value === 'string') {
    const number = numberOf(value.trim())
    return number === null || Number.isNaN(number) ? value.trim() : String(number)
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

async function readJson(
  folder: string,
  given: ColumnMap | null,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const listing = await listFolder(folder)
  if (listing === null) throw new BuildError(`json: there is no folder ${folder}`)
  const map = given ?? (await readColumns(folder, listing.files))
  const { source, network, credit, licence } = map.columns
  const parts = new Parts()
  const stations = new Stations()
  const files: FileReport[] = []
  let ignored = listing.folders.length
  for (const name of listing.files) {
    if (name === COLUMNS_FILE) continue
    const plainName = name.replace(/\.gz$/i, '')
    const tables = map.tables.filter(({ file }) => file.test(plainName))
    if (!/\.json$/i.test(plainName) || tables.length === 0) {
      ignored++
      continue
    }
    const path = join(folder, name)
    const file = report.file(path)
    const document = parseDocument(await readText(path, file, MAX_DOCUMENT_BYTES), file)
    if (document !== undefined) readDocument(document, plainName, tables, file, parts, stations)
    files.push(file)
  }
  if (ignored > 0) report.warn(`json: ${ignored} in ${folder} ignored: no table of the map matches them`)
  if (files.length === 0) throw new BuildError(`json: ${folder} holds no files that the map matches`)

  sink.source({
    name: source,
    network,
    ...(credit !== undefined && { credit }),
    ...(licence !== undefined && { licence }),
  })
  const { handles, placeless } = stations.announce(sink, source, map.known)
  report.withoutPosition('json', placeless)
  parts.send(handles, sink)
  for (const file of files) file.end()
}

async function readColumns(folder: string, names: readonly string[]): Promise<ColumnMap> {
  const path = join(folder, COLUMNS_FILE)
  if (!names.includes(COLUMNS_FILE)) throw new BuildError(`json: ${path} is missing, the map of the columns`)
  const fail = (_: number, reason: string): never => {
    throw new BuildError(`${path}: ${reason}`)
  }
  const strict = { rows: () => undefined, skipped: () => undefined, bad: fail, end: () => undefined }
  return compileColumns(parseDocument(await readText(path, strict, MAX_COLUMNS_BYTES), strict), path)
}

/** Parses a document within its bounds; undefined where it is none, which is reported. */
export function parseDocument(bytes: Uint8Array, file: FileReport): unknown {
  const parsed = parseBounded(bytes)
  if ('value' in parsed) return parsed.value
  file.bad(1, parsed.fault)
  return undefined
}

const NO_HEADER: ReadonlyMap<string, number> = new Map()

/** Rows have numbers, not lines: a fault is told by the number of its row, from 1. */
function readDocument(
  document: unknown,
  fileName: string,
  tables: readonly Table[],
  file: FileReport,
  parts: Parts,
  stations: Stations,
): void {
  let found = false
  for (const table of tables) {
    const { when } = table
    if (when !== null && plain(follow(when.at, document, document, NO_HEADER)) !== when.is) continue
    const rows = follow(table.rows, document, document, NO_HEADER)
    if (!Array.isArray(rows) && !isObject(rows)) continue
    found = true
    const header = headerOf(table, document)
    const named = table.file.exec(fileName)?.[1] ?? ''
    const list: unknown[] = Array.isArray(rows) ? rows : [rows]
    list.forEach((row, i) => {
      const fault = readRow(table, row, document, header, named, file, parts, stations)
      if (fault !== null) file.bad(i + 1, fault)
    })
  }
  if (!found) file.bad(1, 'it holds no table of the map')
}

function headerOf({ header }: Table, document: unknown): ReadonlyMap<string, number> {
  const names: unknown = header === null ? null : follow(header, document, document, NO_HEADER)
  if (!Array.isArray(names)) return NO_HEADER
  // Of two columns with one name the first counts.
  const entries = (names as unknown[]).map((name, i): [string, number] => [wordOf(name), i])
  return new Map(entries.reverse())
}

/** Takes in a row; returns what is wrong with it, or null. */
function readRow(
  table: Table,
  row: unknown,
  document: unknown,
  header: ReadonlyMap<string, number>,
  named: string,
  file: FileReport,
  parts: Parts,
  stations: Stations,
): string | null {
  const at = (path: Path): unknown => follow(path, row, document, header)
  const identifier = table.station === null ? named : wordOf(at(table.station))
  if (!IDENTIFIER.test(identifier)) return 'no valid identifier of a station'
  const time = table.readTime(wordOf(at(table.time)))
  if (time < 0) return 'no valid time'
  const codes = new Int32Array(MEASURE_NAMES.length).fill(NO_CODE)
  for (const { column, measure, at: place, missing, quality, fault } of table.values) {
    const value = at(place)
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

function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}

/** Rows of stations, put together by time: of a measure told twice the last word counts. */
class Parts {
  readonly #stations = new Map<string, Map<number, { codes: Int32Array; file: FileReport }>>()
  #length = 0

  /** @throws BuildError for more rows than can wait. */
  add(identifier: string, time: number, codes: Int32Array, file: FileReport): void {
    let rows = this.#stations.get(identifier)
    if (rows === undefined) this.#stations.set(identifier, (rows = new Map()))
    const known = rows.get(time)
    if (known === undefined) {
      if (++this.#length > MAX_ROWS)
        throw new BuildError(`json: more than ${MAX_ROWS} rows; split the folder`)
      rows.set(time, { codes, file })
    } else for (let i = 0; i < codes.length; i++) if (codes[i] !== NO_CODE) known.codes[i] = codes[i]
  }

  /** Hands the rows over, each station's in order of time. */
  send(handles: ReadonlyMap<string, number>, sink: Sink): void {
    const batch = new RowBatch()
    for (const [identifier, handle] of handles) {
      const rows = this.#stations.get(identifier) ?? new Map()
      for (const [time, { codes, file }] of [...rows].sort(([a], [b]) => a - b)) {
        if (!dropUnusable(MEASURE_NAMES, codes, file)) continue
        const row = batch.add(time)
        MEASURE_NAMES.forEach((name, i) => {
          if (codes[i] !== NO_CODE) batch.columns[name][row] = codes[i]
        })
      }
      if (batch.length > 0) sink.rows(handle, batch)
      batch.clear()
    }
  }
}

/**
 * An answer as a table. One description for each operation says which columns there are, in which unit, and
 * how a cell is read from the snapshot's columns; CSV, NDJSON, GeoJSON, JSON by columns and files for
 * databases are written from it. A column is a member of the JSON answer's items, a nested one with a dot
 * (`last_reading.time`).
 */
import type { MonthRows } from '../index/segments.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { Language } from '../sea/languages.ts'
import type { Paging } from './operation.ts'
import type { View } from '../dataset/view.ts'
import type { Parameters, QueryOf } from './parameters.ts'

interface Named {
  readonly name: string
  /** As documented: `m`, `degree`, `UTC` for times; '' where the column has none. */
  readonly unit: string
  /**
   * Set where JSON has the value outside of its list. With `tables` all tables have it by default; with
   * `fields` only those that name it in `fields` have it.
   */
  readonly beside?: 'tables' | 'fields'
  /** Whether JSON leaves the member out of a row's object; never for the first column. */
  readonly isLeftOut?: (row: number) => boolean
}

/** A measure's code, in `scale` codes per unit: the missing code is that of `sea/columns.ts`. */
export interface CodeColumn extends Named {
  readonly kind: 'code'
  readonly scale: 1000 | 100
  readonly signed: boolean
  value(row: number): number
}

/** Whole numbers (|value| < 2^53), any finite ones, or whole epoch seconds, UTC; NaN where there is none. */
export interface NumberColumn extends Named {
  readonly kind: 'integer' | 'number' | 'time'
  value(row: number): number
}

/** Text as it came with the data: it may hold anything. */
export interface TextColumn extends Named {
  readonly kind: 'text'
  value(row: number): string | null
}

/**
 * Text of our own making: ASCII that begins with a letter or a digit and has neither commas, quotes,
 * backslashes nor control characters. `write` adds at most `width` bytes, none where there is no value.
 */
export interface WordColumn extends Named {
  readonly kind: 'word'
  readonly width: number
  write(writer: JsonWriter, row: number): void
}

export interface FlagColumn extends Named {
  readonly kind: 'flag'
  value(row: number): boolean | null
}

export type Column = CodeColumn | NumberColumn | TextColumn | WordColumn | FlagColumn

/** Rows that follow each other: `from`, `from + step`, …, `count` of them. */
export interface Run {
  readonly from: number
  readonly step: number
  readonly count: number
}

/** Points in their order, decimal degrees. */
export interface Line {
  readonly lat: readonly number[]
  readonly lng: readonly number[]
}

/** The position of a row. */
export type Place =
  | { readonly kind: 'point'; lat(row: number): number; lng(row: number): number }
  | { readonly kind: 'line'; line(row: number): Line }

export interface Table {
  /** Columns in the order of the JSON answer's members; nested members stand together. */
  readonly columns: readonly Column[]
  /** The most rows there can be; the exact number unless rows are only known once they are made. */
  readonly rows: number
  /** About how long reading and computing take, without writing. */
  readonly microseconds?: number
  /**
   * The rows in their order. Cells are read while a run is the newest: the next one may move what the columns
   * read. Undefined after a piece of work that gave no rows. May be called again once it has ended.
   */
  runs(): Generator<Run | undefined, void, undefined>
  /**
   * Writers of rows with the columns that a format has by default, each row with the end of its line. They
   * serve tables with too many rows for a call per cell.
   */
  readonly bulk?: { readonly csv: BulkWriter; readonly ndjson: BulkWriter }
  /** Readings of one buoy as they are kept, for a format that another thread writes by column. */
  readonly readings?: KeptReadings
  /** Nested members that JSON has as one `null`. */
  readonly absent?: { readonly [member: string]: (row: number) => boolean }
  /** The place of a feature; null where the operation has none. */
  readonly place: Place | null
  /** The column that identifies a feature. */
  readonly id?: string
  /** Set where the answer is one page of several. */
  readonly paging?: Paging & { readonly perPage: number }
  /** Rows of all pages; null where only those in the answer are counted. */
  readonly total: number | null
  /** What the answer is, for the name of a file: `anglet-readings`. */
  readonly name: string
  /** The list in JSON; null where the data are not a list. */
  readonly list: JsonList | null
}

/**
 * Readings in shared memory. The rows of a run are those of the cursor's month while the run is the newest.
 */
export interface KeptReadings {
  readonly cursor: { readonly month: MonthRows }
  readonly buoy: ReadingsBuoy
  /** Who measured, as files name it; null where the source does not. */
  readonly credit: string | null
  readonly licence: string | null
  readonly isDemo: boolean
}

/** What the rows of one buoy share. */
export interface ReadingsBuoy {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** Decimal degrees. */
  readonly lat: number
  readonly lng: number
  /** The network's name on the wire. */
  readonly source: string
  readonly dtz: string
}

/** Writes `count` rows from `from` on, `step` apart. */
export interface BulkWriter {
  /** Bytes that a row takes at most. */
  readonly rowBytes: number
  write(writer: JsonWriter, from: number, step: number, count: number): void
}

/** `data` is `before`, `key`, the list, and `after`. Texts of JSON members with their commas. */
export interface JsonList {
  readonly key: string
  readonly before?: string
  readonly after?: string
  /** What `meta` has in addition to paging: each member followed by a comma. */
  readonly meta?: string
  /** Whether the one row stands for the list. */
  readonly isSingle?: boolean
}

export interface TableRequest<P extends Parameters = Parameters> {
  readonly view: View
  readonly query: QueryOf<P>
  /** Decoded arguments of the path. */
  readonly path: readonly string[]
  /** Epoch seconds. */
  readonly now: number
  readonly language: Language
  /** Neither a page nor its size was asked for, and the format has room for everything. */
  readonly isWhole: boolean
}

/**
 * An answer as a table, which all formats but usual JSON are written from. A column is a member of the JSON
 * answer's items, a nested one with a dot (`last_reading.time`).
 */
import type { JsonWriter } from './json-writer.ts'
import type { Run } from '../index/segments.ts'
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'
import type { Zone } from '../sea/zones.ts'

/** A row is read with its run, which has what the columns of its table need. */
interface Named {
  readonly name: string
  /** As documented: `m`, `degree`, `UTC` for times; '' where the column has none. */
  readonly unit: string
  /** Set where JSON has the value outside its list: in `tables` by default, or where `fields` names it. */
  readonly added?: 'tables' | 'fields'
  /** Whether JSON leaves the member out of a row's object; never for the first column. */
  readonly isLeftOut?: FlagOf
}

/** A measure's code, in `scale` codes per unit: the missing code is that of `sea/columns.ts`. */
export interface CodeColumn extends Named {
  readonly kind: 'code'
  readonly scale: 1000 | 100 | 10
  readonly signed: boolean
  value(row: number, run: Run): number
}

/** Whole numbers (|value| < 2^53), any finite ones, or whole epoch seconds; NaN where there is none. */
interface NumberColumn extends Named {
  readonly kind: 'integer' | 'number' | 'time'
  /** For times: the zone whose offset their texts have; UTC without it. */
  readonly zone?: Zone
  /** Whether whole numbers need more than 32 bits. */
  readonly isLong?: boolean
  value(row: number, run: Run): number
}

/** Text as it came with the data: it may hold anything. */
export interface TextColumn extends Named {
  readonly kind: 'text'
  value(row: number, run: Run): string | null
}

/**
 * Text of our own making: ASCII that begins with a letter or a digit and has neither commas, quotes,
 * backslashes nor control characters. `write` adds at most `width` bytes, none where there is no value.
 */
export interface WordColumn extends Named {
  readonly kind: 'word'
  readonly width: number
  write(writer: JsonWriter, row: number, run: Run): void
}

interface FlagColumn extends Named {
  readonly kind: 'flag'
  value(row: number, run: Run): boolean | null
}

export type Column = CodeColumn | NumberColumn | TextColumn | WordColumn | FlagColumn

/** A function of a row and its run. As a method's type it may ask for a run with more members. */
export type NumberOf = NumberColumn['value']
export type FlagOf = { test(row: number, run: Run): boolean }['test']

export interface Line {
  readonly lat: readonly number[]
  readonly lng: readonly number[]
}

export type Place =
  | { readonly kind: 'point'; readonly lat: NumberOf; readonly lng: NumberOf }
  | { readonly kind: 'line'; line(row: number): Line }

export interface Paging {
  /** Counted from 1; it may be past the last page. */
  page: number
  pages: number
}

export interface BulkWriter {
  readonly rowBytes: number
  write(writer: JsonWriter, run: Run): void
}

export interface Table {
  /** Columns in the order of the JSON answer's members; nested members are together. */
  readonly columns: readonly Column[]
  /** The rows in runs. A call may overwrite the run of the call before. */
  readonly runs: readonly (() => Run)[]
  /** Metadata of a file of readings: networks, and who measured, if sources say so. */
  readonly about?: { readonly [key: string]: string }
  /** Nested members that JSON has as one `null`. */
  readonly absent?: { readonly [member: string]: FlagOf }
  /** Null where rows have no place. */
  readonly place: Place | null
  readonly id?: string
  /** Set where the answer is one page of several. */
  readonly paging?: Paging & { readonly perPage: number }
  /** Writes whole lines of CSV in the default columns, for tables with too many rows for a call a cell. */
  readonly bulk?: BulkWriter
  /** Rows of all pages; null where only the rows in the answer are counted. */
  readonly total: number | null
  /** The answer's name as a file, without an ending: `anglet-readings`. */
  readonly name: string
  /** Null where the data are not a list. */
  readonly list: JsonList | null
}

/** `data` is `before`, `key`, the list, and `after`. Texts of JSON members with their commas. */
export interface JsonList {
  readonly key: string
  readonly before?: string
  readonly after?: string
  /** Members of `meta` other than paging, each followed by a comma. */
  readonly meta?: string
  /** JSON has the single row itself, not an array of it. */
  readonly isSingle?: boolean
}

/** A body that is written piece by piece. */
export interface Pieces {
  /**
   * Writes the next piece, mostly of some 100 KB, into a writer that holds none before it. @returns whether
   * it is the last
   */
  next(writer: JsonWriter): boolean
}

export function allRows(count: number): Table['runs'] {
  return [() => ({ from: 0, step: 1, count })]
}

// Columns by kind. `unit` is '' where there is none.

export const integer = (name: string, value: NumberOf, unit = ''): NumberColumn => {
  return { kind: 'integer', name, unit, value }
}
export const number = (name: string, value: NumberOf, unit = ''): NumberColumn => {
  return { kind: 'number', name, unit, value }
}
export const time = (name: string, value: NumberOf): NumberColumn => {
  return { kind: 'time', name, unit: 'UTC', value }
}
export const text = (name: string, value: TextColumn['value']): TextColumn => {
  return { kind: 'text', name, unit: '', value }
}
export const flag = (name: string, value: FlagColumn['value']): FlagColumn => {
  return { kind: 'flag', name, unit: '', value }
}
export const word = (name: string, width: number, write: WordColumn['write']): WordColumn => {
  return { kind: 'word', name, unit: '', width, write }
}

/** A column of times as texts of a zone have them; others are as they were. */
export function inZone(column: Column, zone: Zone): Column {
  return column.kind === 'time' && !zone.isUtc ? { ...column, zone, unit: zone.name } : column
}

/** Cells of another row, empty where there is none. One closure for all kinds takes 1.3 times as long. */
export function elsewhere(column: Column, name: string, runOf: RunOf): Column {
  switch (column.kind) {
    case 'code': {
      const missing = column.signed ? MISSING_I16 : MISSING_U16
      const code: NumberOf = (row, run) => {
        const at = runOf(row, run)
        return at === null ? missing : column.value(at.from, at)
      }
      return { ...column, name, value: code }
    }
    case 'integer':
    case 'number':
    case 'time': {
      const value: NumberOf = (row, run) => {
        const at = runOf(row, run)
        return at === null ? NaN : column.value(at.from, at)
      }
      return { ...column, name, value }
    }
    case 'text':
      return text(name, (row, run) => {
        const at = runOf(row, run)
        return at === null ? null : column.value(at.from, at)
      })
    case 'flag':
      return flag(name, (row, run) => {
        const at = runOf(row, run)
        return at === null ? null : column.value(at.from, at)
      })
    case 'word':
      return word(name, column.width, (writer, row, run) => {
        const at = runOf(row, run)
        if (at !== null) column.write(writer, at.from, at)
      })
  }
}

/** Finds another row as the first of a run. */
export type RunOf = { find(row: number, run: Run): Run | null }['find']

/** How the rows of a table become bytes, row by row: as CSV, NDJSON, JSON objects, and columns of JSON. */
import type { JsonWriter } from './json-writer.ts'
import { Literal } from './literals.ts'
import type { BulkWriter, Column, FlagOf, JsonList, Pieces, Table } from './table.ts'
import type { Run } from '../index/segments.ts'
import { type Cell, cellBytes, cellOf, csvText } from './cells.ts'

/** One form of a table; its three functions make room for themselves. */
export interface RowForm {
  /** Bytes that a row takes at most, but for long texts. */
  readonly rowBytes: number
  begin(writer: JsonWriter): void
  /** Writes a row, with room for `rowBytes`. */
  row(writer: JsonWriter, row: number, run: Run): void
  /** Writes runs in place of `row`. */
  readonly bulk?: BulkWriter | null
  /** `count`: rows that were written. */
  end(writer: JsonWriter, count: number): void
}

/** The rows of a table, some at a time. */
export class TableRows {
  readonly #runs: Table['runs']
  #next = 0
  #rest: Run = { from: 0, step: 1, count: 0 }

  constructor({ runs }: Pick<Table, 'runs'>) {
    this.#runs = runs
  }

  /** Up to `most` rows, all of one run; null after the last. They can be read until the next call. */
  take(most: number): Run | null {
    while (this.#rest.count === 0) {
      if (this.#next === this.#runs.length) return null
      this.#rest = this.#runs[this.#next++]()
    }
    const run = this.#rest
    const count = Math.min(most, run.count)
    this.#rest = { ...run, from: run.from + count * run.step, count: run.count - count }
    return { ...run, count }
  }
}

const PIECE_BYTES = 128 * 1024

export function rowPieces(table: Pick<Table, 'runs'>, form: RowForm): Pieces {
  const rows = new TableRows(table)
  const { rowBytes, bulk = null } = form
  let hasBegun = false
  let written = 0
  return {
    next(writer) {
      if (!hasBegun) form.begin(writer)
      hasBegun = true
      while (writer.length < PIECE_BYTES) {
        const run = rows.take(Math.ceil((PIECE_BYTES - writer.length) / rowBytes))
        if (run === null) {
          form.end(writer, written)
          return true
        }
        const { from, step, count } = run
        writer.ensure(count * rowBytes)
        if (bulk !== null) bulk.write(writer, run)
        else {
          for (let i = 0, row = from; i < count; i++, row += step) form.row(writer, row, run)
        }
        written += count
      }
      return false
    },
  }
}

/** Little-endian. */
const CRLF = 0x0a0d
const END_BYTES = 8

/**
 * The place of the units: none, a second line, or after the names; and whether a byte order mark comes first.
 */
interface CsvOptions {
  readonly units: '0' | '1' | 'name'
  readonly hasMark: boolean
}

/** CSV by RFC 4180: CRLF, a line of names, if wanted a line of units, empty fields for missing values. */
export function csvForm(columns: readonly Column[], { units, hasMark }: CsvOptions): RowForm {
  const cells = columns.map((column) => cellOf(column, true))
  const line = (texts: readonly string[]): string => `${texts.map(csvText).join(',')}\r\n`
  return {
    rowBytes: columns.reduce((sum, column) => sum + cellBytes(column) + 1, END_BYTES),
    begin(writer) {
      const isNamed = ({ unit }: Column): boolean => units === 'name' && unit !== ''
      if (hasMark) writer.text('\ufeff')
      writer.text(line(columns.map((column) => column.name + (isNamed(column) ? ` (${column.unit})` : ''))))
      if (units === '1') writer.text(line(columns.map(({ unit }) => unit)))
    },
    row(writer, row, run) {
      const { at } = writer
      for (let i = 0; i < cells.length; i++) {
        cells[i](writer, row, run)
        writer.comma()
      }
      // Programs skip empty lines, so a row of one empty field has quotes.
      if (writer.at === at + 1) {
        writer.at = at
        writer.text('"",')
      }
      // The end of the line takes the place of the last comma.
      writer.view.setUint16(writer.at - 1, CRLF, true)
      writer.at++
    },
    end() {},
  }
}

const LINE_FEED = 0x0a
const BRACE = 0x7b
const OBJECT_END = new Literal('}')
const LIST_END = new Literal(']')
/** Quotes, colon and comma of a member, and the braces of what nests it. */
const MEMBER_BYTES = 16

/** Bytes of a row as an object at most, but for long texts. */
export function objectBytes(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + cellBytes(column) + column.name.length + MEMBER_BYTES, 16)
}

/** Writes a row of `columns` as an object, without what JSON leaves out. */
export function objectCell(columns: readonly Column[], absent: Table['absent'] = {}): Cell {
  return nested(
    columns.map((column) => ({ column, path: column.name })),
    absent,
  )
}

interface Part {
  /** `,"name":` */
  readonly start: Literal
  readonly cell: Cell
  readonly isLeftOut: FlagOf | null
}

interface Member {
  readonly column: Column
  /** The column's name below this object. */
  readonly path: string
}

function nested(members: readonly Member[], absent: NonNullable<Table['absent']>): Cell {
  const names = [...new Set(members.map(({ path }) => path.split('.')[0]))]
  const parts = names.map((name): Part => {
    const start = new Literal(`,${JSON.stringify(name)}:`)
    const own = members.filter(({ path }) => path === name || path.startsWith(`${name}.`))
    const [{ column, path }] = own
    if (path === name) return { start, cell: cellOf(column, false), isLeftOut: column.isLeftOut ?? null }
    const inner = nested(
      own.map((member) => ({ column: member.column, path: member.path.slice(name.length + 1) })),
      {},
    )
    const isAbsent = absent[name]
    const cell: Cell =
      isAbsent === undefined
        ? inner
        : (writer, row, run) => {
            if (isAbsent(row, run)) writer.null()
            else inner(writer, row, run)
          }
    // An object is left out with all its members.
    const outs = own.map((member) => member.column.isLeftOut)
    const areOut: FlagOf = (row, run) => outs.every((out) => out!(row, run))
    return { start, cell, isLeftOut: outs.includes(undefined) ? null : areOut }
  })
  return objectOf(parts)
}

/** Writes a row of `columns` as an object of scalars: nested members keep the names with dots. */
export function flatObjectCell(columns: readonly Column[]): Cell {
  return objectOf(
    columns.map((column) => ({
      start: new Literal(`,${JSON.stringify(column.name)}:`),
      cell: cellOf(column, false),
      isLeftOut: column.isLeftOut ?? null,
    })),
  )
}

function objectOf(parts: readonly Part[]): Cell {
  return (writer, row, run) => {
    const first = writer.at
    for (let i = 0; i < parts.length; i++) {
      const { start, cell, isLeftOut } = parts[i]
      if (isLeftOut !== null && isLeftOut(row, run)) continue
      writer.literal(start)
      cell(writer, row, run)
    }
    // The brace replaces the first member's comma.
    if (writer.at === first) writer.at++
    writer.bytes[first] = BRACE
    writer.literal(OBJECT_END)
  }
}

export function ndjsonForm(table: Table, columns: readonly Column[]): RowForm {
  const object = objectCell(columns, table.absent)
  return {
    rowBytes: objectBytes(columns),
    begin() {},
    row(writer, row, run) {
      object(writer, row, run)
      writer.bytes[writer.at++] = LINE_FEED
    },
    end() {},
  }
}

/** The list of an answer in JSON: an array of objects with only the members of `columns`. */
export function jsonListForm(table: Table, list: JsonList, columns: readonly Column[]): RowForm {
  const object = objectCell(columns, table.absent)
  let isFirst = true
  return {
    rowBytes: objectBytes(columns) + 1,
    begin(writer) {
      isFirst = true
      writer.text(`{${list.before ?? ''}${JSON.stringify(list.key)}:${list.isSingle === true ? '' : '['}`)
    },
    row(writer, row, run) {
      if (!isFirst) writer.comma()
      isFirst = false
      object(writer, row, run)
    },
    end(writer) {
      writer.text(`${list.isSingle === true ? '' : ']'}${list.after ?? ''}}`)
    },
  }
}

/** The list of an answer in JSON: an object of arrays, one for each column under its name with dots. */
export function jsonColumns(table: Table, list: JsonList, columns: readonly Column[]): Pieces {
  return {
    next(writer) {
      writer.text(`{${list.before ?? ''}${JSON.stringify(list.key)}:{`)
      for (const [i, column] of columns.entries()) {
        writer.text(`${i === 0 ? '' : ','}${JSON.stringify(column.name)}:[`)
        writeCells(writer, table, column)
        writer.ensure(MEMBER_BYTES)
        writer.literal(LIST_END)
      }
      writer.text(`}${list.after ?? ''}}`)
      return true
    },
  }
}

function writeCells(writer: JsonWriter, { runs }: Table, column: Column): void {
  const cell = cellOf(column, false)
  const bytes = cellBytes(column) + 1
  let isFirst = true
  for (const workOut of runs) {
    const run = workOut()
    const { from, step, count } = run
    writer.ensure(count * bytes)
    for (let i = 0, row = from; i < count; i++, row += step) {
      if (!isFirst) writer.comma()
      isFirst = false
      cell(writer, row, run)
    }
  }
}

/** Cells of tables as JSON and as CSV: one closure for each column, which writes the cell of a row. */
import type { Run } from '../index/segments.ts'
import type { JsonWriter } from './json-writer.ts'
import { Literal, type ShortTexts } from './literals.ts'
import { codeTexts } from './number-text.ts'
import type { CodeColumn, Column, WordColumn } from './table.ts'
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'

/** Writes the cell of a row, with room as `cellBytes` gives it. Texts make room for themselves. */
export type Cell = (writer: JsonWriter, row: number, run: Run) => void

const QUOTE = 0x22
const TRUE = new Literal('true')
const FALSE = new Literal('false')

const QUOTED_TIME_BYTES = 32
const INTEGER_BYTES = 20
/** `-1.7976931348623157e+308`. */
const NUMBER_BYTES = 26
const CODE_BYTES = 8
/** Enough for most texts: names, slugs, zones. */
const TEXT_BYTES = 48

/** Bytes: more than all cells between two texts of a row take. */
export const ROW_REST_BYTES = 8192

/** Bytes that a cell takes at most, but for texts. */
export function cellBytes(column: Column): number {
  switch (column.kind) {
    case 'code':
    case 'flag':
      return CODE_BYTES
    case 'integer':
      return INTEGER_BYTES
    case 'number':
      return NUMBER_BYTES
    case 'time':
      return QUOTED_TIME_BYTES
    case 'text':
      return TEXT_BYTES
    case 'word':
      return column.width + 2
  }
}

/** The texts of a measure's codes, and their lengths; CSV has no text for the missing code. */
function textsOf(column: CodeColumn, isCsv: boolean): { words: Float64Array; lengths: Uint8Array } {
  const { scale, signed } = column
  if (signed && scale !== 100) throw new Error(`no texts of signed codes in ${scale} per unit`)
  const table = codeTexts(column)
  if (!isCsv) return table
  let lengths = csvLengths.get(table)
  if (lengths === undefined) {
    lengths = table.lengths.slice()
    lengths[(signed ? MISSING_I16 : MISSING_U16) & 0xffff] = 0
    csvLengths.set(table, lengths)
  }
  return { words: table.words, lengths }
}

/** Tables of 64 KB, made where they are first needed. */
const csvLengths = new Map<ShortTexts, Uint8Array>()

/** The cell as a JSON value, or in CSV, where a missing value is empty. */
export function cellOf(column: Column, isCsv: boolean): Cell {
  const none = isCsv ? (): void => {} : (writer: JsonWriter): void => writer.null()
  switch (column.kind) {
    case 'code': {
      const { words, lengths } = textsOf(column, isCsv)
      return (writer, row, run) => {
        const code = column.value(row, run) & 0xffff
        writer.view.setFloat64(writer.at, words[code], true)
        writer.at += lengths[code]
      }
    }
    case 'integer':
    case 'number': {
      const isWhole = column.kind === 'integer'
      return (writer, row, run) => {
        const value = column.value(row, run)
        if (Number.isNaN(value)) none(writer)
        else if (isWhole) writer.integer(value)
        else writer.number(value)
      }
    }
    case 'time': {
      const { zone } = column
      return (writer, row, run) => {
        const epoch = column.value(row, run)
        if (Number.isNaN(epoch)) none(writer)
        else {
          if (!isCsv) writer.quote()
          if (zone === undefined) writer.plainTime(epoch)
          else writer.plainLocalTime(epoch, zone.offsetAt(epoch))
          if (!isCsv) writer.quote()
        }
      }
    }
    case 'text':
      return (writer, row, run) => {
        const text = column.value(row, run)
        if (text === null) none(writer)
        else {
          writer.text(isCsv ? csvText(text) : JSON.stringify(text))
          writer.ensure(ROW_REST_BYTES)
        }
      }
    case 'word':
      return isCsv ? (writer, row, run) => column.write(writer, row, run) : quoted(column)
    case 'flag':
      return (writer, row, run) => {
        const flag = column.value(row, run)
        if (flag === null) none(writer)
        else writer.literal(flag ? TRUE : FALSE)
      }
  }
}

function quoted(column: WordColumn): Cell {
  return (writer, row, run) => {
    const start = ++writer.at
    column.write(writer, row, run)
    if (writer.at === start) {
      writer.at--
      writer.null()
      return
    }
    writer.bytes[start - 1] = QUOTE
    writer.quote()
  }
}

/** Beginnings of formulas (OWASP, "CSV Injection"). Some spreadsheets take full-width forms for ASCII. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const TO_QUOTE = /[",\r\n]/

/** A text as one field. An apostrophe keeps a spreadsheet from running it as a formula. */
export function csvText(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return TO_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

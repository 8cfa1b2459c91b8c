/** Cells of tables as JSON and as CSV: one closure for each column, which writes the cell of a row. */
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal, type TextTable } from '../dataset/literals.ts'
import { HUNDREDTHS, SIGNED_HUNDREDTHS, THOUSANDTHS } from '../dataset/number-text.ts'
import type { CodeColumn, Column } from '../operation/answer-table.ts'
import { csvText } from '../dataset/csv-text.ts'
import { MISSING_I16, MISSING_U16 } from '../sea/columns.ts'

/** Writes the cell of a row, for which there is room: see `cellBytes`. Texts make room for themselves. */
export type Cell = (writer: JsonWriter, row: number) => void

const COMMA = 0x2c
const QUOTE = 0x22
const TRUE = new Literal('true')
const FALSE = new Literal('false')

const QUOTED_TIME_BYTES = 32
const INTEGER_BYTES = 20
/** `-1.7976931348623157e+308`. */
const NUMBER_BYTES = 26
const CODE_BYTES = 8
/** What texts mostly take: names, slugs, zones. */
const TEXT_BYTES = 48

/** Bytes: more than what follows a text in any row, up to the next text, takes. */
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

interface CodeTexts {
  readonly table: TextTable
  readonly missing: number
  /** Lengths without the text of the missing code. */
  readonly lengths: Uint8Array
}

function codeTexts(table: TextTable, missing: number): CodeTexts {
  const lengths = table.lengths.slice()
  lengths[missing & 0xffff] = 0
  return { table, missing, lengths }
}

/** 64 KB each, made where they are first needed. */
let knownTexts: { [key: string]: CodeTexts } | null = null

function textsOf({ scale, signed }: CodeColumn): CodeTexts {
  knownTexts ??= {
    'unsigned 1000': codeTexts(THOUSANDTHS, MISSING_U16),
    'unsigned 100': codeTexts(HUNDREDTHS, MISSING_U16),
    'signed 100': codeTexts(SIGNED_HUNDREDTHS, MISSING_I16),
  }
  const texts = knownTexts[`${signed ? 'signed' : 'unsigned'} ${scale}`]
  if (texts === undefined) throw new Error(`no texts of codes in ${scale} per unit`)
  return texts
}

/** The cell as a JSON value. */
export function jsonCell(column: Column): Cell {
  switch (column.kind) {
    case 'code': {
      const { table } = textsOf(column)
      const { words, lengths } = table
      return (writer, row) => {
        const code = column.code(row) & 0xffff
        writer.view.setFloat64(writer.at, words[code], true)
        writer.at += lengths[code]
      }
    }
    case 'integer':
    case 'number': {
      const isWhole = column.kind === 'integer'
      return (writer, row) => {
        const value = column.value(row)
        if (Number.isNaN(value)) writer.null()
        else if (isWhole) writer.integer(value)
        else writer.number(value)
      }
    }
    case 'time':
      return (writer, row) => {
        const epoch = column.epoch(row)
        if (Number.isNaN(epoch)) writer.null()
        else writer.timestamp(epoch)
      }
    case 'text':
      return (writer, row) => {
        const text = column.text(row)
        if (text === null) writer.null()
        else {
          writer.string(text)
          writer.ensure(ROW_REST_BYTES)
        }
      }
    case 'word':
      return (writer, row) => {
        const start = ++writer.at
        column.write(writer, row)
        if (writer.at === start) {
          writer.at--
          writer.null()
          return
        }
        writer.bytes[start - 1] = QUOTE
        writer.quote()
      }
    case 'flag':
      return (writer, row) => {
        const flag = column.is(row)
        if (flag === null) writer.null()
        else writer.literal(flag ? TRUE : FALSE)
      }
  }
}

/** The cell in CSV with a comma behind: nothing where there is no value. */
export function csvCell(column: Column): Cell {
  switch (column.kind) {
    case 'code': {
      const { table, lengths } = textsOf(column)
      const { words } = table
      return (writer, row) => {
        const code = column.code(row) & 0xffff
        const { at } = writer
        const end = at + lengths[code]
        writer.view.setFloat64(at, words[code], true)
        writer.bytes[end] = COMMA
        writer.at = end + 1
      }
    }
    case 'integer':
    case 'number': {
      const isWhole = column.kind === 'integer'
      return (writer, row) => {
        const value = column.value(row)
        if (!Number.isNaN(value)) {
          if (isWhole) writer.integer(value)
          else writer.number(value)
        }
        writer.comma()
      }
    }
    case 'time':
      return (writer, row) => {
        const epoch = column.epoch(row)
        if (!Number.isNaN(epoch)) writer.plainTime(epoch)
        writer.comma()
      }
    case 'text':
      return (writer, row) => {
        const text = column.text(row)
        if (text !== null) {
          writer.text(csvText(text))
          writer.ensure(ROW_REST_BYTES)
        }
        writer.comma()
      }
    case 'word':
      return (writer, row) => {
        column.write(writer, row)
        writer.comma()
      }
    case 'flag':
      return (writer, row) => {
        const flag = column.is(row)
        if (flag !== null) writer.literal(flag ? TRUE : FALSE)
        writer.comma()
      }
  }
}

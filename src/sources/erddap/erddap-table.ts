/** An answer of an ERDDAP server as a table, in any of its forms: CSV, CSVP or JSON. */
import { SeparatedTable } from '../reading/text-table.ts'
import type { FileReport } from '../source.ts'
import { numberAt, numberOf } from '../reading/units.ts'
import { parseDocument } from '../reading/source-files.ts'

const COMMA = 44
const QUOTE = 34
const BEYOND_ASCII = /[\u0080-\u00ff]/
const MAX_JSON_BYTES = 64 * 2 ** 20

/** Columns that a line of text may have, too; real tables have 70. */
const MAX_COLUMNS = 256

export const INFO_LABELS = ['Row Type', 'Variable Name', 'Attribute Name', 'Data Type', 'Value']

/** A table in any of the forms; `text` and `number` read the present row. */
export interface OpenTable {
  readonly labels: readonly string[]
  /** Units by column; all empty where the form does not give them. */
  readonly units: readonly string[]
  text(field: number): string
  /** The value, NaN where the cell is missing, null where it is not a number. */
  number(field: number): number | null
  /** Goes on to the next row; rows of another length are reported. False at the end. */
  next(): boolean
  /** Line of the present row, in JSON its number, from 1. */
  row(): number
}

/** ERDDAP answers "no matching results" as an error, in plain text or as a page. */
const NO_ROWS = /no matching results|nRows ?= ?0\b|no data matches/i

export function openTable(bytes: Buffer, file: FileReport): OpenTable | null {
  const head = bytes.subarray(0, 4000).toString('latin1').trimStart()
  if (head.startsWith('<') || /^Error\b/.test(head)) {
    if (NO_ROWS.test(head)) file.skipped('an answer without rows')
    else file.bad(1, 'an error message of the server instead of a table')
    return null
  }
  return head.startsWith('{') ? openJsonTable(bytes, file) : openCsvTable(bytes, file)
}

function openJsonTable(bytes: Buffer, file: FileReport): OpenTable | null {
  if (bytes.length > MAX_JSON_BYTES) {
    file.bad(1, `more than ${MAX_JSON_BYTES} bytes of JSON; ask for CSV`)
    return null
  }
  const document = parseDocument(bytes, file)
  if (document === undefined) return null
  const { table } = document as { table?: { [name: string]: unknown } | null }
  const { columnNames, columnUnits, rows } = table ?? {}
  if (!Array.isArray(columnNames) || !Array.isArray(rows)) {
    file.bad(1, 'no table with columnNames and rows')
    return null
  }
  if (columnNames.length > MAX_COLUMNS) {
    file.bad(1, 'too many columns')
    return null
  }
  const labels = (columnNames as unknown[]).map((name) => (typeof name === 'string' ? name : ''))
  const units = Array.isArray(columnUnits) ? (columnUnits as unknown[]) : []
  let row: unknown[] = []
  let at = 0
  return {
    labels,
    units: labels.map((_, i) => (typeof units[i] === 'string' ? units[i] : '')),
    text(field) {
      const cell = row[field]
      return typeof cell === 'string' ? cell.trim() : typeof cell === 'number' ? String(cell) : ''
    },
    number(field) {
      const cell = row[field]
      if (typeof cell === 'number') return cell
      if (cell === null || cell === undefined) return NaN
      return typeof cell === 'string' ? numberOf(cell.trim()) : null
    },
    next() {
      for (; at < rows.length; file.bad(at, 'wrong number of fields')) {
        const entry: unknown = rows[at++]
        if (!Array.isArray(entry) || entry.length !== labels.length) continue
        row = entry as unknown[]
        return true
      }
      return false
    },
    row: () => at,
  }
}

/** `name (unit)` of a `.csvp` header. */
const NAME_WITH_UNIT = /^(.*?) \((.*)\)$/

function openCsvTable(bytes: Buffer, file: FileReport): OpenTable | null {
  const table = new SeparatedTable(bytes, COMMA)
  const { fields } = table
  if (table.headerFault !== null) {
    file.bad(1, table.headerFault)
    return null
  }
  let { labels } = table
  const isInfo = INFO_LABELS.every((label, i) => labels[i] === label)
  const withUnits = labels.map((label) => NAME_WITH_UNIT.exec(label))
  let units: readonly string[] = labels.map((_, i) => withUnits[i]?.[2] ?? '')
  if (withUnits.some((match) => match?.[1].toLowerCase() === 'time')) {
    labels = labels.map((label, i) => withUnits[i]?.[1] ?? label)
  } else if (!isInfo) {
    units = table.secondHeader()
    if (units.length !== labels.length) {
      file.bad(table.line, 'no line of units')
      return null
    }
  }
  return {
    labels,
    units,
    text(field) {
      const from = fields.starts[field]
      const plain = bytes.toString('latin1', from, fields.ends[field])
      // Most cells are short and ASCII: decoding them as UTF-8 would take five times as long.
      return bytes[from - 1] === QUOTE || BEYOND_ASCII.test(plain) ? table.text(field) : plain
    },
    number: (field) => numberAt(bytes, fields.starts[field], fields.ends[field]),
    next: () => table.next(file),
    row: () => table.line,
  }
}

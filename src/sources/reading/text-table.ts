/**
 * Tables of rows and cells, and those of separated text, line by line: header, cells by column, and faults.
 */
import { BuildError } from '../../system/build-error.ts'
import {
  BLANK,
  cleanName,
  degreesOf,
  Fields,
  LF,
  lineText,
  QUOTE,
  separatorOf,
  splitBlanks,
  splitSeparated,
  textOf,
  textsOf,
} from './fields.ts'
import type { FileReport } from '../source.ts'
import { readText } from './source-files.ts'
import { isUnit, numberAt } from './units.ts'

/** `text` and `number` read the current row. */
export interface OpenTable {
  readonly labels: readonly string[]
  /** Units by column; empty where the table does not give them. */
  readonly units: readonly string[]
  /** Names as the header writes them, with units beside them. */
  readonly written: readonly string[]
  /** The places of columns in a row of JSON. */
  readonly places?: readonly string[]
  /** The unit that the table itself gives for all of its values, if any. */
  readonly unit?: string | undefined
  /** The field of a column that a map names or numbers from 1, −1 where there is none. */
  column(at: string | number): number
  text(field: number): string
  /** The value, NaN where the cell is missing, null where it is not a number. */
  number(field: number): number | null
  /** The list in a cell of JSON, NaN for other values than numbers; null for a cell that is no list. */
  numbers?(field: number): number[] | null
  /** Goes on to the next row; rows of another length are reported. False at the end. */
  next(): boolean
  /** Line of the current row, in JSON its number, from 1. */
  row(): number
}

/** Byte and number of a line. */
interface Place {
  at: number
  line: number
}

/** How a table is written as text. */
export interface TextForm {
  /** A byte; `BLANK` stands for any number of them. By default the most frequent one in the first line. */
  readonly separator?: number
  readonly header?: Place | undefined
  /** Whether a line of units is below the header; by default its cells decide. */
  readonly units?: boolean | undefined
  /** By default allowed unless commas separate. */
  readonly decimalComma?: boolean | undefined
  /** The beginning of each comment line; empty where there are none. */
  readonly comment?: string | undefined
  readonly isHeaderless?: boolean
  /** Whether cells are names of columns: such a line ends the table, unless it is the header again. */
  readonly isHeader?: ((cells: readonly string[]) => boolean) | undefined
}

const COMMA = 44
const BEYOND_ASCII = /[\u0080-\u00ff]/
/** "Hs (m)", "Hs (Hm0)(m)" and "Hs [m]": a name with its unit. */
export const NAME_WITH_UNIT = /^(.*?) ?[([]([^()[\]]*)[)\]]$/

/** Lines in which a header may be. */
const MOST_PREAMBLE = 500

/** The lines below the first `skip` that are not blank. */
export function* linesOf(bytes: Buffer, skip: number): Generator<Place> {
  let at = 0
  for (let line = 1; line <= skip + MOST_PREAMBLE && at < bytes.length; line++) {
    const end = bytes.indexOf(LF, at)
    const next = end < 0 ? bytes.length : end + 1
    if (line > skip && bytes.toString('latin1', at, next).trim() !== '') yield { at, line }
    at = next
  }
}

/** Whether a cell belongs to a row, as "1": it cannot be a unit. */
const isOfRow = (cell: string): boolean => /^[-+.]?\d/.test(cell) && !/^1(e[-+]?\d)?$/.test(cell)

/**
 * The table of a text, by default under a first line of names, without units and comments; null for a faulty
 * header, which is reported.
 */
export function openText(
  bytes: Buffer,
  file: FileReport,
  form: TextForm = { units: false, comment: '' },
): TextTable | null {
  const table = new TextTable(bytes, file, form)
  if (table.headerFault === null) return table
  file.bad(table.line, table.headerFault)
  return null
}

/**
 * Separated fields under a header, quoted as in RFC 4180. A line allocates nothing, so tables of hundreds of
 * millions of lines are read the same way.
 */
export class TextTable implements OpenTable {
  readonly fields = new Fields()
  readonly labels: readonly string[]
  readonly units: readonly string[]
  /** The fault of the header as a line, or null. */
  readonly headerFault: string | null
  line: number
  readonly #bytes: Buffer
  readonly #file: FileReport
  readonly #separator: number
  readonly #decimalComma: boolean
  readonly #mark: Buffer
  readonly written: readonly string[]
  /** The parts of names with a unit. */
  readonly #named: readonly (RegExpExecArray | null)[]
  readonly #isHeader: TextForm['isHeader']
  /** The lines of the header as they are written. */
  readonly #again: ReadonlySet<string>
  /** The header of other rows below, where there is one. */
  other: Place | null = null
  #start = 0
  #nextLine: number

  constructor(
    bytes: Buffer,
    file: FileReport,
    { separator, header, units, decimalComma, comment = '#', isHeaderless = false, isHeader }: TextForm,
  ) {
    const { at, line } = header ?? { at: 0, line: 1 }
    // A first line "sep=;" names the separator for a spreadsheet.
    const told = at > 0 ? null : /^sep=([,;\t])\r?\n/i.exec(bytes.toString('latin1', 0, 8))
    const begin = at + (told?.[0].length ?? 0)
    this.#bytes = bytes
    this.#file = file
    this.#separator = separator ?? told?.[1].charCodeAt(0) ?? separatorOf(bytes)
    this.#decimalComma = decimalComma ?? separator !== COMMA
    this.#mark = Buffer.from(comment)
    this.line = line
    this.#nextLine = line + Number(told !== null)
    this.fields.next = begin
    this.#split()
    const texts = textsOf(bytes, this.fields)
    const { fault, count } = this.fields
    this.headerFault = fault ?? (count === texts.length ? null : 'too many columns')
    const names = namesOf(texts)
    this.written = isHeaderless ? names.map((_, i) => String(i + 1)) : names
    this.#named = this.written.map((label) => NAME_WITH_UNIT.exec(label))
    if (isHeaderless) {
      this.fields.next = begin
      this.#nextLine = this.line
    }
    const ahead = new Fields()
    if (units !== false && this.fields.next < bytes.length) this.#splitAt(this.fields.next, ahead)
    const below = textsOf(bytes, ahead)
    const cells = below.map((cell) => cell.replace(/^[([](.*)[)\]]$/, '$1').trim())
    const isBelow = !isHeaderless && (units ?? (cells.some(isUnit) && !cells.some(isOfRow)))
    const first = this.lineText()
    if (isBelow) this.#split()
    this.#isHeader = isHeaderless ? undefined : isHeader
    this.#again = new Set([first, this.lineText()])
    this.labels = this.written.map((label, i) => (isBelow ? label : (this.#named[i]?.[1] ?? label)))
    this.units = this.written.map((_, i) => (isBelow ? (cells[i] ?? '') : (this.#named[i]?.[2] ?? '')))
  }

  column(at: string | number): number {
    if (typeof at === 'number') return at <= this.labels.length ? at - 1 : -1
    const field = this.written.indexOf(at)
    return field >= 0 ? field : this.#named.findIndex((match) => match?.[1] === at)
  }

  /** Skips empty lines and comment lines, and reports others that are not rows. */
  next(): boolean {
    const { fields } = this
    const bytes = this.#bytes
    const mark = this.#mark
    while (fields.next < bytes.length) {
      this.#split()
      const { fault, count, starts, ends } = fields
      const isMarked =
        bytes[this.#start] === mark[0] && mark.equals(bytes.subarray(this.#start, this.#start + mark.length))
      if (this.#isHeader !== undefined && fault === null && !isMarked && this.#isOfWords()) {
        if (this.#again.has(this.lineText())) {
          this.#file.skipped('the header again')
          continue
        }
        if (this.#isHeader(textsOf(bytes, fields))) {
          this.other = { at: this.#start, line: this.line }
          return false
        }
      }
      // In a table of one column an empty line is a row without a value.
      if (fault === null && this.#isRow() && !isMarked) return true
      const isEmpty = fault === null && (count === 0 || (count === 1 && starts[0] === ends[0]))
      if (!isEmpty && !isMarked) this.#file.bad(this.line, fault ?? 'wrong number of fields', this.lineText())
    }
    return false
  }

  /** Whether no field begins as a number does, and there are some: rows have a time or a value. */
  #isOfWords(): boolean {
    const { starts, ends, count } = this.fields
    for (let i = 0; i < Math.min(count, this.labels.length); i++) {
      const byte = this.#bytes[starts[i]]
      if (starts[i] < ends[i] && ((byte >= 48 && byte <= 57) || byte === 45 || byte === 43 || byte === 46))
        return false
    }
    return count > 1
  }

  /** Whether there is a field for each name, and nothing after the last one. */
  #isRow(): boolean {
    const { starts, ends, count } = this.fields
    for (let i = this.labels.length; i < count; i++) {
      if (starts[i] !== ends[i]) return false
    }
    return count >= this.labels.length
  }

  #split(): void {
    this.#start = this.fields.next
    this.#splitAt(this.#start, this.fields)
    this.line = this.#nextLine
    this.#nextLine += this.fields.lines
  }

  #splitAt(at: number, fields: Fields): void {
    if (this.#separator === BLANK) splitBlanks(this.#bytes, at, fields)
    else splitSeparated(this.#bytes, at, this.#separator, fields)
  }

  text(field: number): string {
    if (field < 0) return ''
    const from = this.fields.starts[field]
    const plain = this.#bytes.toString('latin1', from, this.fields.ends[field])
    // Most cells are short and ASCII: decoding them as UTF-8 would take five times as long.
    const isPlain = this.#bytes[from - 1] !== QUOTE && !BEYOND_ASCII.test(plain)
    return isPlain ? plain : textOf(this.#bytes, this.fields, field)
  }

  number(field: number): number | null {
    const { starts, ends } = this.fields
    return field < 0 ? NaN : numberAt(this.#bytes, starts[field], ends[field], this.#decimalComma)
  }

  row(): number {
    return this.line
  }

  lineText(): string {
    return lineText(this.#bytes, this.#start, this.fields)
  }
}

/**
 * Names of columns without the mark of a comment before the first and without empty ones after the last. A
 * separator within parentheses belongs to the name, as in `WDIR (deg, TN)`: rows have one cell for it.
 */
export function namesOf(texts: readonly string[]): string[] {
  const names: string[] = []
  for (let i = 0; i < texts.length; i++) {
    const isOpen = /\([^)]*$/.test(texts[i])
    const end = isOpen ? texts.findIndex((text, at) => at > i && text.includes(')')) : i
    names.push(texts.slice(i, Math.max(end, i) + 1).join(', '))
    i = Math.max(end, i)
  }
  if (names.length > 0) names[0] = names[0].replace(/^[#%] ?/, '')
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1)
}

/** Largest table that `readTable` reads, in bytes: a million buoys fit. */
const MAX_TABLE_BYTES = 128 * 2 ** 20

/** The fault of a cell, for a message after the name of its column: "is not a number from -90 to 90". */
export class Unfit extends Error {}

/** The columns of a small table by name, each with the reader of its trimmed cell. @throws Unfit */
export type Columns = { readonly [column: string]: (text: string) => unknown }

type Values<C extends Columns> = { -readonly [column in keyof C]: ReturnType<C[column]> }

/** Takes in a line, with its cells as they are written; returns its fault, or null. */
export type ReadRecord<C extends Columns> = (
  values: Values<C>,
  cell: (column: string) => string,
) => string | null

/** Other names for the first column of a list of stations. */
const OTHER_IDENTIFIER = /^(?:station|id|code)$/i

/**
 * Reads a table of 128 MiB at most whose first `required` columns must be there; others are empty where they
 * are not.
 * @throws BuildError when it, or a column of its header, is missing, or too many of its lines are bad
 */
export async function readTable<C extends Columns>(
  path: string,
  file: FileReport,
  columns: C,
  required: number,
  read: ReadRecord<C>,
): Promise<void> {
  const table = openText(await readText(path, file, MAX_TABLE_BYTES), file)
  if (table === null) throw new BuildError(`${path}: its header is faulty`)
  const names = Object.keys(columns)
  const [first = '', ...others] = table.labels
  const isIdentifier = names[0] === 'identifier' && OTHER_IDENTIFIER.test(first)
  const labels = isIdentifier ? ['identifier', ...others] : table.labels
  const fault = labelsFault(labels, names, names.slice(0, required))
  if (fault !== null) throw new BuildError(`${path}: ${fault}`)
  const cell = (column: string): string => table.text(labels.indexOf(column)).trim()
  while (table.next()) {
    let column = ''
    try {
      const values: { [name: string]: unknown } = {}
      for (column of names) values[column] = columns[column](cell(column))
      const bad = read(values as Values<C>, cell)
      if (bad === null) file.rows(1)
      else file.bad(table.line, bad, table.lineText())
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      file.bad(table.line, `${column} ${error.message}`, cell(column))
    }
  }
  if (!file.end()) throw new BuildError(`${path}: too many of its lines are bad (--max-bad)`)
}

export const matching =
  (fits: (text: string) => boolean, fault: string) =>
  (text: string): string => {
    if (!fits(text)) throw new Unfit(fault)
    return text
  }

export const oneOf =
  <Word extends string>(...words: Word[]) =>
  (text: string): Word =>
    matching(
      (word) => words.includes(word as Word),
      `is not one of ${words.filter((word) => word !== '').join(', ')}`,
    )(text) as Word

/** Decimal degrees, or other decimal numbers, from −limit to limit. */
export const degrees =
  (limit: number) =>
  (text: string): number => {
    const value = degreesOf(text, limit)
    if (Number.isNaN(value)) throw new Unfit(`is not a number from -${limit} to ${limit}`)
    return value
  }

export const whole =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : NaN
    if (!(value >= least && value <= most)) throw new Unfit(`is not a whole number from ${least} to ${most}`)
    return value
  }

export const PLACE_COLUMNS = {
  name: (text: string) => matching((name) => name !== '', 'is empty')(cleanName(text)),
  lat: degrees(90),
  lng: degrees(180),
}

export const STATION_COLUMNS = {
  identifier: matching(
    (text) => /^[^"\p{Cc}]{1,64}$/u.test(text),
    'is not 1 to 64 characters without quotes',
  ),
  ...PLACE_COLUMNS,
}

/** The fault of the columns' names, or null; an unknown name is a fault. */
export function labelsFault(
  labels: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): string | null {
  const missing = required.find((column) => !labels.includes(column))
  if (missing !== undefined) return `the header lacks the column ${missing}`
  if (new Set(labels).size < labels.length) return 'the header names a column twice'
  const unknown = labels.findIndex((label) => !columns.includes(label))
  return unknown < 0 ? null : `column ${unknown + 1} of the header is not one of ${columns.join(', ')}`
}

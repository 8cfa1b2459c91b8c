/** Tables of separated text, line by line: their header, their cells by column name, and their faults. */
import { BuildError } from '../../system/build-error.ts'
import {
  BLANK,
  cleanName,
  degreesOf,
  Fields,
  isText,
  lineText,
  separatorOf,
  splitBlanks,
  splitSeparated,
  textOf,
  textsOf,
} from './fields.ts'
import { ourLabel } from './known-names.ts'
import type { FileReport } from '../source.ts'
import { readText } from './source-files.ts'

/** Largest table that `readTable` reads, in bytes: a million buoys fit. */
const MAX_TABLE_BYTES = 128 * 2 ** 20

/**
 * Separated fields under a header, quoted as in RFC 4180: `while (table.next(file)) file.rows(1)`. A line
 * allocates nothing, so tables of hundreds of millions of lines are read the same way.
 */
export class SeparatedTable {
  readonly bytes: Buffer
  readonly labels: readonly string[]
  /** What is wrong with the header as a line, or null. */
  readonly headerFault: string | null
  readonly fields = new Fields()
  line = 1
  readonly #separator: number
  readonly #header: number
  #start = 0
  #nextLine: number

  /** @param separator by default what stands most often in the first line: a comma, a semicolon or a tab */
  constructor(
    bytes: Buffer,
    separator?: number,
    { at, line }: { at: number; line: number } = { at: 0, line: 1 },
  ) {
    // A first line "sep=;" tells a spreadsheet the separator.
    const told = at > 0 ? null : /^sep=([,;\t])\r?\n/i.exec(bytes.toString('latin1', 0, 8))
    this.#header = at + (told?.[0].length ?? 0)
    this.bytes = bytes
    this.#separator = separator ?? told?.[1].charCodeAt(0) ?? separatorOf(bytes)
    this.line = line
    this.#nextLine = line + Number(told !== null)
    this.fields.next = this.#header
    this.#split()
    const texts = textsOf(bytes, this.fields)
    this.labels = wholeLabels(texts)
    const { fault, count } = this.fields
    this.headerFault = fault ?? (count === texts.length ? null : 'too many columns')
  }

  /** Indexes of columns by their names, −1 for one that the table does not have. */
  columns(names: readonly string[]): number[] {
    return names.map((name) => this.labels.indexOf(name))
  }

  /** The texts of the next line, without going on to it. */
  peek(): string[] {
    const { fields, line } = this
    const [next, nextLine] = [fields.next, this.#nextLine]
    if (next >= this.bytes.length) return []
    this.#split()
    const texts = textsOf(this.bytes, fields)
    fields.next = next
    this.line = line
    this.#nextLine = nextLine
    return texts
  }

  /** Makes the header the next line. */
  rewind(): void {
    this.fields.next = this.#header
    this.#nextLine = this.line
  }

  /**
   * Goes on to the next line that `isRow`; false at the end. Empty lines and those that begin with a mark are passed
   * over, and others are reported.
   */
  next(
    file: FileReport,
    isRow = ({ count }: Fields): boolean => count === this.labels.length,
    mark?: Buffer,
  ): boolean {
    const { fields, bytes } = this
    while (fields.next < bytes.length) {
      this.#split()
      const { fault, count, starts, ends } = fields
      const isMarked = mark !== undefined && isText(bytes, this.#start, this.#start + mark.length, mark)
      // In a table of one column an empty line is a row without a value.
      if (fault === null && isRow(fields) && !isMarked) return true
      const isEmpty = fault === null && (count === 0 || (count === 1 && starts[0] === ends[0]))
      if (!isEmpty && !isMarked) file.bad(this.line, fault ?? 'wrong number of fields', this.lineText())
    }
    return false
  }

  #split(): void {
    const { fields } = this
    this.#start = fields.next
    if (this.#separator === BLANK) splitBlanks(this.bytes, this.#start, fields)
    else splitSeparated(this.bytes, this.#start, this.#separator, fields)
    this.line = this.#nextLine
    this.#nextLine += fields.lines
  }

  /** A cell of the present line as text; empty where the table has no such column. */
  text(column: number): string {
    return textOf(this.bytes, this.fields, column)
  }

  lineText(): string {
    return lineText(this.bytes, this.#start, this.fields)
  }
}

/** A separator within parentheses belongs to the name, as in `WDIR (deg, TN)`: rows have one cell for it. */
function wholeLabels(texts: readonly string[]): string[] {
  const labels: string[] = []
  for (let i = 0; i < texts.length; i++) {
    const isOpen = /\([^)]*$/.test(texts[i])
    const end = isOpen ? texts.findIndex((text, at) => at > i && text.includes(')')) : i
    labels.push(texts.slice(i, Math.max(end, i) + 1).join(', '))
    i = Math.max(end, i)
  }
  return labels
}

/** What is wrong with a cell, behind the name of its column: "is not a number from -90 to 90". */
export class Unfit extends Error {}

/** The columns of a small table by name, each with what reads its trimmed cell. @throws Unfit */
export type Columns = { readonly [column: string]: (text: string) => unknown }

type Values<C extends Columns> = { -readonly [column in keyof C]: ReturnType<C[column]> }

/** Takes in a line, with its cells as they are written; returns what is wrong with it, or null. */
export type ReadRecord<C extends Columns> = (
  values: Values<C>,
  cell: (column: string) => string,
) => string | null

/**
 * Reads a table of 128 MiB at most whose first `required` columns must be there; others are empty where they are not.
 * @throws BuildError when it, or a column of its header, is missing, or too many of its lines are bad
 */
export async function readTable<C extends Columns>(
  path: string,
  file: FileReport,
  columns: C,
  required: number,
  read: ReadRecord<C>,
): Promise<void> {
  const table = new SeparatedTable(await readText(path, file, MAX_TABLE_BYTES))
  const names = Object.keys(columns)
  const fault = labelsFault(table.labels, names, names.slice(0, required))
  if (fault !== null) throw new BuildError(`${path}: ${fault}`)
  const cell = (column: string): string => table.text(table.labels.indexOf(column)).trim()
  while (table.next(file)) {
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
  endList(path, file)
}

/** Ends a list on which other files hang. @throws BuildError when too many of its lines are bad */
export function endList(path: string, file: FileReport): void {
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

/** What is wrong with the names of the columns, or null; an unknown name is a fault. */
export function labelsFault(
  labels: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): string | null {
  const meant = (label: string): string | undefined => {
    const usual = [label.trim().toLowerCase(), ourLabel(label)]
    return usual.find((name) => name !== undefined && columns.includes(name))
  }
  const missing = required.find((column) => !labels.includes(column))
  if (missing !== undefined) {
    const instead = labels.findIndex((label) => meant(label) === missing)
    return `the header lacks the column ${missing}${instead < 0 ? '' : `; its column ${instead + 1} should be called that`}`
  }
  if (new Set(labels).size < labels.length) return 'the header names a column twice'
  const unknown = labels.findIndex((label) => !columns.includes(label))
  if (unknown < 0) return null
  const suggestion = meant(labels[unknown])
  const hint = suggestion === undefined || labels.includes(suggestion) ? '' : `; is ${suggestion} meant?`
  return `column ${unknown + 1} of the header is not one of ${columns.join(', ')}${hint}`
}

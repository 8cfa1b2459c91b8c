/** Tables of separated text, line by line: their header, their cells by column name, and their faults. */
import usualLabels from './usual-labels.json' with { type: 'json' }
import { BuildError } from '../../system/build-error.ts'
import {
  cleanName,
  degreesOf,
  Fields,
  lineText,
  separatorOf,
  splitSeparated,
  textOf,
  textsOf,
} from './fields.ts'
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
  #start = 0
  #nextLine: number

  /** @param separator by default what stands most often in the first line: a comma, a semicolon or a tab */
  constructor(bytes: Buffer, separator?: number) {
    // A first line "sep=;" tells a spreadsheet the separator.
    const told = /^sep=([,;\t])\r?\n/i.exec(bytes.toString('latin1', 0, 8))
    const begin = told?.[0].length ?? 0
    this.bytes = bytes
    this.#separator = separator ?? told?.[1].charCodeAt(0) ?? separatorOf(bytes)
    splitSeparated(bytes, begin, this.#separator, this.fields)
    this.labels = textsOf(bytes, this.fields)
    const { fault, count } = this.fields
    this.headerFault = fault ?? (count === this.labels.length ? null : 'too many columns')
    this.#nextLine = 1 + this.fields.lines + Number(begin > 0)
  }

  /** Indexes of columns by their names, −1 for one that the table does not have. */
  columns(names: readonly string[]): number[] {
    return names.map((name) => this.labels.indexOf(name))
  }

  /** The texts of the next line, whatever their number: a second line of the header. */
  secondHeader(): string[] {
    this.#split()
    return textsOf(this.bytes, this.fields)
  }

  /**
   * Goes on to the next line with as many fields as the header; false at the end. Empty lines are passed
   * over, and lines with another fault are reported.
   */
  next(file: FileReport): boolean {
    const { fields, labels } = this
    const end = this.bytes.length
    while (fields.next < end) {
      this.#split()
      const { fault, count } = fields
      // In a table of one column an empty line is a row without a value.
      if (fault === null && count === labels.length) return true
      const isEmpty = fault === null && count === 1 && fields.starts[0] === fields.ends[0]
      if (!isEmpty) file.bad(this.line, fault ?? 'wrong number of fields', this.lineText())
    }
    return false
  }

  #split(): void {
    const { fields } = this
    this.#start = fields.next
    splitSeparated(this.bytes, this.#start, this.#separator, fields)
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

/** Cell of the present line by its column's name, trimmed; empty where the table has no such column. */
export type Cell = (column: string) => string

/** Takes in a line; returns what is wrong with it, or null. */
export type ReadLine = (cell: Cell) => string | null

/**
 * Reads a table of 128 MiB at most.
 * @throws BuildError when it, or a column of its header, is missing, or too many of its lines are bad
 */
export async function readTable(
  path: string,
  file: FileReport,
  columns: readonly string[],
  required: readonly string[],
  read: ReadLine,
): Promise<void> {
  const table = new SeparatedTable(await readText(path, file, MAX_TABLE_BYTES))
  const fault = labelsFault(table.labels, columns, required)
  if (fault !== null) throw new BuildError(`${path}: ${fault}`)
  // The cell that was looked at last is the one to blame.
  let looked = ''
  const cell: Cell = (column) => (looked = table.text(table.labels.indexOf(column)).trim())
  while (table.next(file)) {
    const bad = read(cell)
    if (bad === null) file.rows(1)
    else file.bad(table.line, bad, looked)
  }
  endList(path, file)
}

/** Ends a list on which other files hang. @throws BuildError when too many of its lines are bad */
export function endList(path: string, file: FileReport): void {
  if (!file.end()) throw new BuildError(`${path}: too many of its lines are bad (--max-bad)`)
}

export interface NamedPlace {
  name: string
  lat: number
  lng: number
}

/** The columns `name`, `lat` and `lng` of a line, or what is wrong with them. */
export function placeOf(cell: Cell, what: string): NamedPlace | string {
  const name = cleanName(cell('name'))
  if (name === '') return `a ${what} without a name`
  const lat = degreesOf(cell('lat'), 90)
  if (Number.isNaN(lat)) return 'lat is not a number from -90 to 90'
  const lng = degreesOf(cell('lng'), 180)
  if (Number.isNaN(lng)) return 'lng is not a number from -180 to 180'
  return { name, lat, lng }
}

export function identifiedPlaceOf(cell: Cell, what: string): (NamedPlace & { identifier: string }) | string {
  const identifier = cell('identifier')
  if (!/^[^"\p{Cc}]{1,64}$/u.test(identifier)) return 'identifier is not 1 to 64 characters without quotes'
  const place = placeOf(cell, what)
  return typeof place === 'string' ? place : { identifier, ...place }
}

/** Names that others give our columns, in lower case. */
const USUAL_LABELS: { readonly [label: string]: string } = usualLabels

/** What is wrong with the names of the columns, or null; an unknown name is a fault. */
export function labelsFault(
  labels: readonly string[],
  columns: readonly string[],
  required: readonly string[],
): string | null {
  const meant = (label: string): string | undefined => {
    const usual = USUAL_LABELS[label.trim().toLowerCase()] ?? label.trim().toLowerCase()
    return columns.includes(usual) ? usual : undefined
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

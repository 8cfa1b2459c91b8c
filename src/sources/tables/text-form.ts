/** A table of any form as rows of cells, and the form of text: separated by a sign or by blanks, under a header. */
import { BLANK, LF, QUOTE } from '../reading/fields.ts'
import { fieldOf, ownMeaning } from '../reading/known-names.ts'
import { SeparatedTable } from '../reading/text-table.ts'
import { isUnit, numberAt } from '../reading/units.ts'
import type { FileReport } from '../source.ts'
import type { At, TableSpec } from './column-map.ts'

/** `text` and `number` read the present row. */
export interface OpenTable {
  readonly labels: readonly string[]
  /** Units by column; empty where the table does not give them. */
  readonly units: readonly string[]
  /** The field of a column that a map names, −1 where there is none. */
  column(at: At): number
  text(field: number): string
  /** The value, NaN where the cell is missing, null where it is not a number. */
  number(field: number): number | null
  /** Goes on to the next row; rows of another length are reported. False at the end. */
  next(): boolean
  /** Line of the present row, in JSON its number, from 1. */
  row(): number
}

/** Lines in which the header may stand. */
const MOST_PREAMBLE = 500
const SEPARATORS: { readonly [delimiter: string]: number } = { ',': 44, ';': 59, '\t': 9, blanks: BLANK }
const BEYOND_ASCII = /[\u0080-\u00ff]/
/** "Hs (m)", "Hs (Hm0)(m)" and "Hs [m]": a name with its unit. */
const NAME_WITH_UNIT = /^(.*?) ?[([]([^()[\]]*)[)\]]$/

interface Place {
  /** Byte and number of a line. */
  at: number
  line: number
}

export interface TextForm {
  readonly separator: number
  readonly header: Place
}

/**
 * Finds header and separator of a text: the line that the map tells, else the first one with a time and a measure by
 * the map's or by well-known names, else the first line at all. Null for a text without lines.
 */
export function textForm(bytes: Buffer, spec: TableSpec): TextForm | null {
  const wanted = new Set(
    [...Object.values(spec.values ?? {}).map((value) => value?.at), spec.time?.at].flat().map(String),
  )
  const isMeasure = (label: string): boolean => wanted.has(label) || ownMeaning(label) !== undefined
  const isTime = (label: string): boolean =>
    wanted.has(label) || fieldOf('time', [label]) >= 0 || fieldOf('clock', [label]) >= 0
  const separators = spec.delimiter === undefined ? Object.values(SEPARATORS) : [SEPARATORS[spec.delimiter]]
  let first: TextForm | null = null
  for (const place of linesOf(bytes, spec.skip ?? 0)) {
    const forms = separators.map((separator) => {
      const labels = labelsOf(new SeparatedTable(bytes, separator, place))
      const known = labels.filter((label) => isMeasure(label) || isTime(label)).length
      return {
        separator,
        known,
        isHeader: labels.some(isTime) && labels.some(isMeasure),
      }
    })
    // Blanks are in names and dates, too: they come last.
    forms.sort((a, b) => b.known - a.known)
    const [{ separator, isHeader }] = forms
    const text = bytes.toString('utf8', place.at, Math.min(bytes.length, place.at + 4096)).split('\n')[0]
    const isTold = typeof spec.header === 'string' && text.includes(spec.header)
    first ??= { separator, header: place }
    if (isTold || spec.header === false || (spec.header === undefined && isHeader))
      return { separator, header: place }
  }
  return typeof spec.header === 'string' ? null : first
}

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

/** Names of columns without the mark of a comment before the first and without empty ones behind the last. */
function labelsOf({ labels: [first = '', ...others] }: SeparatedTable): string[] {
  const labels = [first.replace(/^[#%] ?/, ''), ...others]
  return labels.slice(0, labels.findLastIndex((label) => label !== '') + 1)
}

/** Whether a cell cannot be a unit, as "1" is. */
const isOfRow = (cell: string): boolean => /^[-+.]?\d/.test(cell) && !/^1(e[-+]?\d)?$/.test(cell)

/** The mark of comments in text that has none. */
export const NO_COMMENTS = ''

/** What is special about text of a kind. */
export interface TextOptions {
  /** Whether a line of units is below the header; by default its cells tell. */
  units?: boolean | undefined
  decimalComma?: boolean | undefined
  comment?: string | undefined
  isHeaderless?: boolean
}

export function openText(
  bytes: Buffer,
  { separator, header }: TextForm | { separator: null; header: Place },
  {
    units: withUnits,
    decimalComma = separator !== SEPARATORS[','],
    comment = '#',
    isHeaderless = false,
  }: TextOptions,
  file: FileReport,
): (OpenTable & { readonly source: SeparatedTable }) | null {
  const table = new SeparatedTable(bytes, separator ?? undefined, header)
  const { fields } = table
  if (table.headerFault !== null) {
    file.bad(header.line, table.headerFault)
    return null
  }
  const written = isHeaderless ? table.labels.map((_, i) => String(i + 1)) : labelsOf(table)
  if (isHeaderless) table.rewind()
  const named = written.map((label) => NAME_WITH_UNIT.exec(label))
  const below = isHeaderless || withUnits === false ? [] : table.peek()
  const isBelow = withUnits ?? (below.some(isUnit) && !below.some(isOfRow))
  if (isBelow) table.next(file, () => true)
  const count = written.length
  const mark = comment === NO_COMMENTS ? undefined : Buffer.from(comment)
  const isRow = ({ starts, ends, count: cells }: typeof fields): boolean => {
    // What stands behind the last name is empty.
    for (let i = count; i < cells; i++) if (starts[i] !== ends[i]) return false
    return cells >= count
  }
  return {
    source: table,
    labels: written.map((label, i) => (isBelow ? label : (named[i]?.[1] ?? label))),
    units: written.map((_, i) => (isBelow ? (below[i] ?? '') : (named[i]?.[2] ?? ''))),
    column: (at) =>
      typeof at === 'number'
        ? at <= count
          ? at - 1
          : -1
        : ([written.indexOf(at), named.findIndex((match) => match?.[1] === at)].find((field) => field >= 0) ??
          -1),
    text(field) {
      const from = fields.starts[field]
      const plain = bytes.toString('latin1', from, fields.ends[field])
      // Most cells are short and ASCII: decoding them as UTF-8 would take five times as long.
      return bytes[from - 1] === QUOTE || BEYOND_ASCII.test(plain) ? table.text(field) : plain
    },
    number: (field) => numberAt(bytes, fields.starts[field], fields.ends[field], decimalComma),
    next: () => table.next(file, isRow, mark),
    row: () => table.line,
  }
}

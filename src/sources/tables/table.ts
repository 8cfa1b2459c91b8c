/**
 * Tables of text as people and their programs write them: any separator, lines before the header, dates of
 * any kind (`docs/sources-tables.md`). Names that are well known need no map.
 */
import { isUtf8 } from 'node:buffer'
import { BLANK, decode, Fields, LF, splitBlanks, splitSeparated, textsOf } from '../reading/fields.ts'
import { namesMeasure, namesTime, readHeaderCell } from '../reading/header.ts'
import { linesOf, NAME_WITH_UNIT, namesOf, openText, type TextForm } from '../reading/text-table.ts'
import { type FileReport, type OpenSource, UNCOUNTED } from '../source.ts'
import { compileMap, type MappedTable, type TableSpec } from './column-map.ts'
import type { FoundTable } from './layout.ts'
import { type Form, readFolder } from './rows.ts'

const TABLE_FORM: Form = {
  kind: 'table',
  files: /\.(?:csv|tsv|tab|txt|dat|asc)$/i,
  ignored: 'not .csv, .tsv, .tab, .txt, .dat or .asc, and no table of the map matches',
  open: (bytes, path, [map], file) => findTable(bytes, path, map, file),
}

export const openTable: OpenSource = (folder, options) => {
  const map = compileMap('table', options)
  return { isControlled: true, read: (sink, { report }) => readFolder(TABLE_FORM, folder, map, sink, report) }
}

/** The table of a text, if it has one. */
export function findTable(stored: Buffer, path: string, map: MappedTable, file: FileReport): FoundTable[] {
  const bytes =
    map.encoding === undefined ? stored : Buffer.from(new TextDecoder(map.encoding).decode(stored))
  const found = findHeader(bytes, map)
  if (found === null) {
    const isEmpty = map.header === undefined || map.header === false
    file.bad(1, isEmpty ? 'it is empty' : `no line has "${map.header}", the header`)
    return []
  }
  const { units, decimalComma, comment } = map
  const isHeader = (cells: readonly string[]): boolean => {
    const read = cells.map(readHeaderCell)
    return read.some(namesTime) && read.some(namesMeasure)
  }
  const form = { ...found, units, decimalComma, comment, isHeaderless: map.header === false, isHeader }
  const odd = map.encoding === undefined ? firstOddLine(bytes) : null
  const one = tableAt(bytes, form, file, { map, path, info: new Map(), odd })
  return one === null ? [] : [one]
}

/** The table under a header, with what comes below a second one. */
function tableAt(
  bytes: Buffer,
  form: TextForm,
  file: FileReport,
  rest: Pick<FoundTable, 'map' | 'path' | 'info' | 'odd'>,
): FoundTable | null {
  const table = openText(bytes, file, form)
  if (table === null) return null
  const namesOfTable = (written: readonly string[]): string =>
    written
      .map((text) => readHeaderCell(text).base)
      .toSorted()
      .join(' ')
  return {
    table,
    ...rest,
    look: () => openText(bytes, UNCOUNTED, form),
    below(doubt) {
      const header = table.other
      if (header === null) return null
      const next = tableAt(bytes, { ...form, header }, UNCOUNTED, rest)
      if (next !== null && namesOfTable(next.table.written) === namesOfTable(table.written))
        return tableAt(bytes, { ...form, header }, file, rest)
      let lines = bytes.at(-1) === LF ? 0 : 1
      for (let at = bytes.indexOf(LF, header.at); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++
      doubt('otherHeader', `line ${header.line}: ${next?.table.written.join(', ') ?? ''}`)
      file.skipped('a line below a second header with other columns', undefined, lines)
      return null
    },
  }
}

/** The first line of a text that is not UTF-8, with its number; null where all of it is. */
function firstOddLine(bytes: Buffer): string | null {
  if (isUtf8(bytes)) return null
  let line = 1
  for (let at = 0; at < bytes.length; line++) {
    const end = bytes.indexOf(LF, at)
    const next = end < 0 ? bytes.length : end + 1
    if (!isUtf8(bytes.subarray(at, next)))
      return `line ${line}: ${decode(bytes.subarray(at, Math.min(next, at + 100))).trim()}`
    at = next
  }
  return null
}

const SEPARATORS: { readonly [delimiter: string]: number } = { ',': 44, ';': 59, '\t': 9, blanks: BLANK }

/** Lines below a header that show whether its separator is theirs. */
const LINES_BELOW = 20

type Header = Required<Pick<TextForm, 'separator' | 'header'>>

/** A line split by one of the separators. */
interface Split {
  readonly separator: number
  readonly labels: readonly string[]
  /** Names of a time or a measure. */
  readonly known: number
  readonly isHeader: boolean
  /** The share of lines below that have as many fields; 1 where there are none. */
  readonly fits: number
}

/**
 * Finds header and separator of a text: the line that the map gives, else the first one with a time and a
 * measure, by the map's or by well-known names, above rows of the same width; else the first line at all. Of
 * the separators the one by which most lines below are as wide as the header counts. Null for a text without
 * lines.
 */
function findHeader(bytes: Buffer, spec: TableSpec): Header | null {
  const namesIn = (at: readonly unknown[]): ReadonlySet<string> => new Set(at.flat().map(String))
  const measures = namesIn(Object.values(spec.values ?? {}).map((value) => value?.at))
  const times = namesIn([spec.time?.at])
  const isIn = (names: ReadonlySet<string>, label: string): boolean =>
    names.has(label) || names.has(NAME_WITH_UNIT.exec(label)?.[1] ?? label)
  const isMeasure = (label: string): boolean => isIn(measures, label) || namesMeasure(readHeaderCell(label))
  const isTime = (label: string): boolean => isIn(times, label) || namesTime(readHeaderCell(label))
  const separators = spec.delimiter === undefined ? Object.values(SEPARATORS) : [SEPARATORS[spec.delimiter]]
  const splitBy = (separator: number, { at }: NonNullable<TextForm['header']>): Split => {
    const fields = new Fields()
    const labels = namesOf(cellsAt(bytes, at, separator, fields))
    const known = labels.filter((label) => isMeasure(label) || isTime(label)).length
    const isHeader = labels.some(
      (label, i) => isTime(label) && labels.some((other, j) => j !== i && isMeasure(other)),
    )
    const below = { at: fields.next, width: labels.length }
    return { separator, labels, known, isHeader, fits: shareOfWidth(bytes, below, separator, spec.comment) }
  }
  let first: Header | null = null
  let unfit: Header | null = null
  for (const header of linesOf(bytes, spec.skip ?? 0)) {
    // Blanks are in names and dates, too: they come last.
    const splits = separators.map((separator) => splitBy(separator, header))
    const [best] = splits.toSorted(
      (a, b) =>
        Number(b.isHeader) - Number(a.isHeader) ||
        Number(b.labels.length > 1) - Number(a.labels.length > 1) ||
        b.fits - a.fits ||
        Number(a.separator === BLANK) - Number(b.separator === BLANK) ||
        b.known - a.known,
    )
    const text = bytes.toString('utf8', header.at, Math.min(bytes.length, header.at + 4096)).split('\n')[0]
    const isTold = typeof spec.header === 'string' && text.includes(spec.header)
    const found = { separator: best.separator, header }
    first ??= found
    if (isTold || spec.header === false) return found
    if (spec.header !== undefined || !best.isHeader) continue
    if (best.fits >= 0.5) return found
    unfit ??= found
  }
  return typeof spec.header === 'string' ? null : (unfit ?? first)
}

function cellsAt(bytes: Buffer, at: number, separator: number, fields: Fields): string[] {
  if (separator === BLANK) splitBlanks(bytes, at, fields)
  else splitSeparated(bytes, at, separator, fields)
  return textsOf(bytes, fields)
}

/** The share of the next lines with so many fields, and perhaps empty ones after them. */
function shareOfWidth(
  bytes: Buffer,
  { at, width }: { at: number; width: number },
  separator: number,
  comment = '#',
): number {
  const fields = new Fields()
  let [lines, fitting] = [0, 0]
  for (let from = at; from < bytes.length && lines < LINES_BELOW; from = fields.next) {
    const cells = cellsAt(bytes, from, separator, fields)
    if (cells.every((cell) => cell === '') || (comment !== '' && cells[0].startsWith(comment))) continue
    lines++
    if (cells.length >= width && cells.slice(width).every((cell) => cell === '')) fitting++
  }
  return lines === 0 ? 1 : fitting / lines
}

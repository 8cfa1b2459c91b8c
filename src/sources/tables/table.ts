/**
 * Tables of text as people and their programs write them: any separator, lines before the header, dates of
 * any kind (`docs/sources-tables.md`). Names that are well known need no map.
 */
import { BLANK, Fields, splitBlanks, splitSeparated, textsOf } from '../reading/fields.ts'
import { fieldOf, ownMeaning } from '../reading/known-names.ts'
import { UNCOUNTED } from '../reading/stations.ts'
import { linesOf, namesOf, openText, type TextForm } from '../reading/text-table.ts'
import type { FileReport, OpenSource } from '../source.ts'
import { compileMap, type MappedTable, type TableSpec } from './column-map.ts'
import type { FoundTable } from './layout.ts'
import { type Form, readFolder } from './rows.ts'

export const TABLE_FORM: Form = {
  kind: 'table',
  files: /\.(?:csv|tsv|tab|txt|dat|asc)$/i,
  ignored: 'not .csv, .tsv, .tab, .txt, .dat or .asc, and no table of the map matches',
  open: (bytes, path, [map], file) => findTable(bytes, path, map, file),
}

export const openTable: OpenSource = (folder, options) => {
  const map = compileMap('table', options)
  return { isControlled: true, read: (sink, { report }) => readFolder(TABLE_FORM, folder, map, sink, report) }
}

/** The table of a text, or none where it has none. */
export function findTable(bytes: Buffer, path: string, map: MappedTable, file: FileReport): FoundTable[] {
  const found = findHeader(bytes, map)
  if (found === null) {
    const isEmpty = map.header === undefined || map.header === false
    file.bad(1, isEmpty ? 'it is empty' : `no line has "${map.header}", the header`)
    return []
  }
  const { units, decimalComma, comment } = map
  const form = { ...found, units, decimalComma, comment, isHeaderless: map.header === false }
  const table = openText(bytes, file, form)
  const look = (): ReturnType<typeof openText> => openText(bytes, UNCOUNTED, form)
  return table === null ? [] : [{ table, map, path, info: new Map(), look }]
}

const SEPARATORS: { readonly [delimiter: string]: number } = { ',': 44, ';': 59, '\t': 9, blanks: BLANK }

/**
 * Finds header and separator of a text: the line that the map gives, else the first one with a time and a
 * measure by the map's or by well-known names, else the first line at all. Null for a text without lines.
 */
function findHeader(bytes: Buffer, spec: TableSpec): Required<Pick<TextForm, 'separator' | 'header'>> | null {
  const wanted = new Set(
    [...Object.values(spec.values ?? {}).map((value) => value?.at), spec.time?.at].flat().map(String),
  )
  const isMeasure = (label: string): boolean => wanted.has(label) || ownMeaning(label) !== undefined
  const isTime = (label: string): boolean =>
    wanted.has(label) || fieldOf('time', [label]) >= 0 || fieldOf('clock', [label]) >= 0
  const separators = spec.delimiter === undefined ? Object.values(SEPARATORS) : [SEPARATORS[spec.delimiter]]
  const fields = new Fields()
  let first: ReturnType<typeof findHeader> = null
  for (const header of linesOf(bytes, spec.skip ?? 0)) {
    const forms = separators.map((separator) => {
      if (separator === BLANK) splitBlanks(bytes, header.at, fields)
      else splitSeparated(bytes, header.at, separator, fields)
      const labels = namesOf(textsOf(bytes, fields))
      const known = labels.filter((label) => isMeasure(label) || isTime(label)).length
      return { separator, known, isHeader: labels.some(isTime) && labels.some(isMeasure) }
    })
    // Blanks are in names and dates, too: they come last.
    forms.sort((a, b) => b.known - a.known)
    const [{ separator, isHeader }] = forms
    const text = bytes.toString('utf8', header.at, Math.min(bytes.length, header.at + 4096)).split('\n')[0]
    const isTold = typeof spec.header === 'string' && text.includes(spec.header)
    first ??= { separator, header }
    if (isTold || spec.header === false || (spec.header === undefined && isHeader))
      return { separator, header }
  }
  return typeof spec.header === 'string' ? null : first
}

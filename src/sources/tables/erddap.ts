/**
 * Tables of ERDDAP servers (tabledap) as CSV, CSVP or JSON, with descriptions of datasets next to them
 * (`docs/sources-tables.md`). A column in an unknown unit or with unexplained flags is left out.
 */
import { cleanName } from '../reading/fields.ts'
import { parseDocument, readText } from '../reading/source-files.ts'
import { openText, type OpenTable } from '../reading/text-table.ts'
import type { FileReport, OpenSource, Report } from '../source.ts'
import { compileMap, type MappedTable } from './column-map.ts'
import type { Attributes } from '../reading/flags.ts'
import { openJson } from './json.ts'
import type { FoundTable } from './layout.ts'
import { type Form, readFolder } from './rows.ts'

/** Bytes; `JSON.parse` takes up to fifteen times the size of its text. */
const MAX_INFO_BYTES = 4 * 2 ** 20
const MAX_JSON_BYTES = 64 * 2 ** 20

/** ERDDAP marks no comments, and has a point in its numbers. */
const COMMAS = { separator: 44, comment: '' }
const TABLE_FILE = /\.(?:csvp?|json)$/i
/** The group is the path that the described tables begin with. */
const INFO_FILE = /^(.*?)[_.-]?(?:info|index)\.(?:csv|json)(?:\.gz)?$/i
const INFO_LABELS = ['Row Type', 'Variable Name', 'Attribute Name', 'Data Type', 'Value']

/** ERDDAP answers "no matching results" as an error, in plain text or as a page. */
const NO_ROWS = /no matching results|nRows ?= ?0\b|no data matches/i

export const openErddap: OpenSource = (folder, options) => {
  const map = compileMap('erddap', options)
  return { read: (sink, { report }) => readFolder(new Answers(), folder, map, sink, report) }
}

/** Answers, each with the description in its folder of the longest name that its own name begins with. */
class Answers implements Form {
  readonly kind = 'erddap'
  readonly files = TABLE_FILE
  readonly ignored = 'not .csv, .csvp or .json'
  readonly levels = 2
  readonly #infos = new Map<string, Attributes>()

  async aside(path: string, report: Report): Promise<boolean> {
    const [, front] = INFO_FILE.exec(path) ?? []
    if (front === undefined) return false
    const file = report.file(path)
    const info = readInfo(await readText(path, file, MAX_INFO_BYTES), file)
    if (file.end()) this.#infos.set(front, info)
    return true
  }

  open(bytes: Buffer, path: string, [map]: readonly MappedTable[], file: FileReport): FoundTable[] {
    const fronts = [...this.#infos.keys()].filter(
      (front) => path.startsWith(front) && !path.slice(front.length).includes('/'),
    )
    const [front] = fronts.sort((a, b) => b.length - a.length)
    const info = this.#infos.get(front) ?? new Map()
    const table = openAnswer(bytes, file)
    return table === null ? [] : [{ table, map, path, info, look: null }]
  }

  terms(): { credit?: string; licence?: string } {
    const all = (name: string): string =>
      [...new Set([...this.#infos.values()].map((info) => cleanName(info.get('NC_GLOBAL')?.get(name) ?? '')))]
        .filter((text) => text !== '')
        .slice(0, 5)
        .join('; ')
    const [credit, licence] = [all('institution'), all('license')]
    return { ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
  }
}

function openAnswer(bytes: Buffer, file: FileReport, units?: boolean): OpenTable | null {
  const head = bytes.subarray(0, 4000).toString('latin1').trimStart()
  if (head.startsWith('<') || /^Error\b/.test(head)) {
    if (NO_ROWS.test(head)) file.skipped('an answer without rows')
    else file.bad(1, 'an error message of the server instead of a table')
    return null
  }
  if (!head.startsWith('{')) return openText(bytes, file, { ...COMMAS, units })
  if (bytes.length > MAX_JSON_BYTES) {
    file.bad(1, `more than ${MAX_JSON_BYTES} bytes of JSON; ask for CSV`)
    return null
  }
  const document = parseDocument(bytes, file)
  if (document === undefined) return null
  const form = { rows: '/table/rows', header: '/table/columnNames', units: '/table/columnUnits' }
  const [table] = openJson(document, form, file)
  if (table === undefined || table.labels.length === 0) file.bad(1, 'no table with columnNames and rows')
  return table ?? null
}

function readInfo(bytes: Buffer, file: FileReport): Attributes {
  const info = new Map<string, Map<string, string>>()
  const table = openAnswer(bytes, file, false)
  if (table === null) return info
  if (INFO_LABELS.some((label, i) => table.labels[i] !== label)) {
    file.bad(1, 'it is not the description of a dataset')
    return info
  }
  let understood = 0
  while (table.next()) {
    understood++
    const [kind, variable, name, , value] = INFO_LABELS.map((_, field) => table.text(field))
    if (kind !== 'attribute') continue
    const attributes = info.get(variable) ?? new Map<string, string>()
    info.set(variable, attributes.set(name, value))
  }
  file.rows(understood)
  return info
}

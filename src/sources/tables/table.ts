/**
 * Tables of text as people and their programs write them: any separator, lines before the header, dates of any kind
 * (`docs/sources-tables.md`). Names that are well known need no map.
 */
import { UNCOUNTED } from '../reading/stations.ts'
import type { FileReport, OpenSource } from '../source.ts'
import { compileMap, type MappedTable } from './column-map.ts'
import type { FoundTable } from './layout.ts'
import { type Form, readFolder } from './rows.ts'
import { openText, textForm } from './text-form.ts'

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
  const form = textForm(bytes, map)
  if (form === null) {
    const isEmpty = map.header === undefined || map.header === false
    file.bad(1, isEmpty ? 'it is empty' : `no line has "${map.header}", the header`)
    return []
  }
  const options = { ...map, isHeaderless: map.header === false }
  const table = openText(bytes, form, options, file)
  const look = (): ReturnType<typeof openText> => openText(bytes, form, options, UNCOUNTED)
  return table === null ? [] : [{ table, map, path, info: new Map(), look }]
}

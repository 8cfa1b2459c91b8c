/** Rows in any JSON by a map of stations, times, measures and units: the `options` of the configuration. */
import { parseDocument } from '../reading/source-files.ts'
import type { OpenSource } from '../source.ts'
import { compileMap } from './column-map.ts'
import { openJson } from './json-form.ts'
import { type Form, readFolder } from './rows.ts'

const JSON_FORM: Form = {
  kind: 'json',
  files: /\.json$/i,
  ignored: 'no table of the map matches',
  // `JSON.parse` takes up to fifteen times the size of its text.
  maxBytes: 64 * 2 ** 20,
  open(bytes, path, maps, file) {
    const document = parseDocument(bytes, file)
    if (document === undefined) return []
    const found = maps.flatMap((map) =>
      openJson(document, map, file).map((table) => ({ table, map, path, info: new Map(), look: null })),
    )
    if (found.length === 0) file.bad(1, 'it holds no table of the map')
    return found
  },
}

/** Opens `folder` as documents of one network. @throws BuildError for a map that names an unknown unit or zone */
export const openJsonSource: OpenSource = (folder, options) => {
  const map = compileMap('json', options)
  return { read: (sink, { report }) => readFolder(JSON_FORM, folder, map, sink, report) }
}

/**
 * Tables in JSON documents by a map (`docs/sources-tables.md`), and the places in them. A place is a JSON
 * pointer (RFC 6901) from a row, `/wave_height`, or from the document, `^/data/spotterId`. In a list,
 * `/results/identifier=Hm0/value` leads to the element with `identifier` `Hm0`, and `/@Hm0 (m)/0` to the one
 * at the index that `Hm0 (m)` has in the header.
 */
import { isObject, type Json, parseDocument } from '../reading/source-files.ts'
import { NO_VALUE, numberOf, plainText } from '../reading/units.ts'
import { NAME_WITH_UNIT, type OpenTable } from '../reading/text-table.ts'
import type { FileReport, OpenSource } from '../source.ts'
import { compileMap, type TableSpec } from './column-map.ts'
import { type Form, readFolder } from './rows.ts'

interface Path {
  fromDocument: boolean
  steps: readonly Step[]
}

interface Step {
  key: string
  index: number
  pick: { key: string; value: string } | null
  /** For lists: the element under this name of the header. */
  column: string | null
}

function pathOf(place: string): Path {
  const steps = place
    .replace(/^\^/, '')
    .split('/')
    .slice(1)
    .map((written): Step => {
      const key = written.replaceAll('~1', '/').replaceAll('~0', '~')
      const equals = key.indexOf('=')
      return {
        key,
        index: /^\d{1,9}$/.test(key) ? Number(key) : -1,
        pick: equals > 0 ? { key: key.slice(0, equals), value: key.slice(equals + 1) } : null,
        column: key.startsWith('@') ? key.slice(1) : null,
      }
    })
  return { fromDocument: place.startsWith('^'), steps }
}

/** The start of a place. */
interface Scope {
  row: unknown
  readonly document: unknown
  /** Names of the columns of rows that are lists. */
  readonly header: readonly string[]
  /** The indexes for each `*` of a place in the document. */
  readonly stars: readonly number[]
}

function follow({ fromDocument, steps }: Path, { row, document, header, stars }: Scope): unknown {
  let value = fromDocument ? document : row
  let star = 0
  for (const { key, index, pick, column } of steps) {
    if (Array.isArray(value)) {
      const list: unknown[] = value
      if (key === '*') value = list[stars[star++] ?? -1]
      else if (column !== null) value = list[header.indexOf(column)]
      else if (index >= 0) value = list[index]
      else if (pick === null) return undefined
      else value = picked(list, pick.key).get(pick.value)
    } else if (isObject(value)) value = ownOf(value, key)
    else return undefined
  }
  return value
}

/** The elements of a list by a member: each row may look for one in a list of the document. */
const indexes = new WeakMap<readonly unknown[], Map<string, Map<string, unknown>>>()

/** The first element of each value of `key`, as `plain` text. */
function picked(list: readonly unknown[], key: string): ReadonlyMap<string, unknown> {
  const byKey = indexes.get(list) ?? new Map<string, Map<string, unknown>>()
  indexes.set(list, byKey)
  const known = byKey.get(key)
  if (known !== undefined) return known
  const byValue = new Map<string, unknown>()
  for (const entry of list) {
    if (!isObject(entry)) continue
    const value = plain(ownOf(entry, key))
    if (!byValue.has(value)) byValue.set(value, entry)
  }
  byKey.set(key, byValue)
  return byValue
}

/**
 * The indexes of every way through the lists that `*` stands for in a place of the document; bounded by it.
 */
function waysOf(path: Path, document: unknown): number[][] {
  let ways: number[][] = [[]]
  path.steps.forEach(({ key }, at) => {
    if (key !== '*') return
    const before = { ...path, steps: path.steps.slice(0, at) }
    ways = ways.flatMap((stars) => {
      const list = follow(before, { row: document, document, header: [], stars })
      return Array.isArray(list) ? list.map((_, i) => [...stars, i]) : []
    })
  })
  return ways
}

function ownOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

/** A number, text or truth value as text that is the same for "1.0", "1" and 1; '' for anything else. */
function plain(value: unknown): string {
  return typeof value === 'boolean' ? String(value) : plainText(wordOf(value))
}

function wordOf(value: unknown): string {
  if (typeof value === 'string') return value.trim()
  return typeof value === 'number' ? String(value) : ''
}

/** A member of a row: its name and its place, and a faster way to it where there is one. */
interface Leaf {
  readonly name: string
  readonly place: string
  readonly way?: string
}

/** Objects in objects of a row. */
const MOST_WITHIN = 3

/**
 * The members of a row, and of the objects in it, with the names of both. Of GeoJSON (RFC 7946) the
 * properties have their own names, and a point is a longitude and a latitude.
 */
function leavesOf(row: Json, at = '', within = ''): Leaf[] {
  return Object.entries(row).flatMap(([key, value]): Leaf[] => {
    const place = `${at}/${escaped(key)}`
    if (key === 'coordinates' && row['type'] === 'Point')
      return ['lng', 'lat'].map((name, i) => ({ name, place: `${place}/${i}` }))
    if (!isObject(value) || place.split('/').length > MOST_WITHIN + 1) return [{ name: within + key, place }]
    return leavesOf(value, place, key === 'properties' ? within : `${within}${key} `)
  })
}

/** A key as a place has it. */
export const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

/** The places of a table's rows, values, names and units in a document. */
interface JsonForm extends Pick<TableSpec, 'rows' | 'when' | 'values' | 'header'> {
  units?: unknown
}

/** Every table of a form in a document: one, or one for each way through its stars. */
export function openJson(
  document: unknown,
  { rows: at = '', header, units, when, values }: JsonForm,
  file: FileReport,
): OpenTable[] {
  const path = pathOf(at)
  const list = (place: unknown, scope: Scope): unknown[] => {
    const found = typeof place === 'string' ? follow(pathOf(place), scope) : null
    return Array.isArray(found) ? found : []
  }
  return waysOf(path, document).flatMap((stars): OpenTable[] => {
    const whole: Scope = { row: document, document, header: [], stars }
    if (when !== undefined && plain(follow(pathOf(when.at), whole)) !== plainText(String(when.is))) return []
    const found = follow(path, whole)
    if (!Array.isArray(found) && !isObject(found)) return []
    const head = list(header, whole)
    const rows: unknown[] = (Array.isArray(found) ? found : [found]).filter((row) => row !== head)
    const names = head.map(wordOf)
    const scope = { ...whole, header: names }
    const ownLeaves = (): Leaf[] =>
      names.length === 0
        ? leavesOf(rows.find(isObject) ?? {})
        : names.map((name, i) => ({ name, place: `/@${escaped(name)}`, way: `/${i}` }))
    // Only without a map do names of columns count.
    const leaves = values === undefined ? ownLeaves() : []
    const keys = leaves.map(({ name }) => name)
    const places = leaves.map(({ place }) => place)
    const paths = leaves.map(({ place, way }) => pathOf(way ?? place))
    const named = keys.map((key) => NAME_WITH_UNIT.exec(key))
    const labels = keys.map((key, i) => named[i]?.[1] ?? key)
    const unitsOf = list(units, whole).map(wordOf)
    const holder = follow({ ...path, steps: path.steps.slice(0, -1) }, whole)
    const own = isObject(holder) && Array.isArray(found) ? (holder['unit'] ?? holder['units']) : ''
    let next = 0
    const cell = (field: number): unknown => follow(paths[field], scope)
    return [
      {
        labels,
        written: keys,
        places,
        unit: wordOf(own),
        units: keys.map((_, i) => unitsOf[i] ?? named[i]?.[2] ?? ''),
        column(place) {
          const at = String(place)
          const known = [...keys, ...labels, ...places].indexOf(at)
          if (known >= 0) return known % places.length
          if (labels.length > 0) labels[keys.push(at) - 1] = at
          places.push(at)
          return paths.push(pathOf(at)) - 1
        },
        text: (field) => wordOf(cell(field)),
        number(field) {
          const value = cell(field)
          if (value === undefined || value === null) return NaN
          if (typeof value === 'number') return value
          const text = typeof value === 'string' ? value.trim() : 'no number'
          return NO_VALUE.has(text.toUpperCase()) ? NaN : numberOf(text)
        },
        numbers(field) {
          const value = cell(field)
          if (!Array.isArray(value)) return null
          return value.map((one: unknown) => (typeof one === 'number' ? one : NaN))
        },
        next() {
          for (; next < rows.length; file.bad(next, 'wrong number of fields')) {
            const row = rows[next++]
            if (labels.length > 0 && names.length > 0 && !(Array.isArray(row) && row.length === names.length))
              continue
            scope.row = row
            return true
          }
          return false
        },
        row: () => next,
      },
    ]
  })
}

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

/**
 * Opens `folder` as documents of one network. @throws BuildError for a map that names an unknown unit or zone
 */
export const openJsonSource: OpenSource = (folder, options) => {
  const map = compileMap('json', options)
  return { read: (sink, { report }) => readFolder(JSON_FORM, folder, map, sink, report) }
}

/** The form of an answer: `format`, `fields`, `layout`, `units`, and the header `Accept`. */
import { refused } from './errors.ts'
import type { RawQuery } from './query.ts'

/** Formats that are written row by row. */
export const FORMATS = ['json', 'csv', 'ndjson', 'geojson'] as const
type RowFormat = (typeof FORMATS)[number]
/** Formats that operations offer. Parquet is written by column, on a thread that serves nothing. */
export type OfferedFormat = RowFormat | 'parquet'
/** Only EDR has CoverageJSON, and documents that describe it (`edr/`). */
export type Format = OfferedFormat | 'covjson' | 'document' | 'openapi' | 'text'

export const CONTENT_TYPES: { readonly [format in Format]: string } = {
  json: 'application/json',
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
  geojson: 'application/geo+json',
  parquet: 'application/vnd.apache.parquet',
  covjson: 'application/prs.coverage+json',
  document: 'application/json',
  openapi: 'application/vnd.oai.openapi+json;version=3.0',
  text: 'text/plain; charset=utf-8',
}

/** A request of EDR, which the thread of long answers reads. */
export interface EdrAsked {
  /** Absolute address of `/edr`. */
  readonly base: string
  /** The path below it. */
  readonly path: string
  /** Texts of parameters; null where one cannot be read. */
  readonly given: { readonly [name: string]: string | null }
}

export interface Shape {
  readonly format: Format
  /** Names of columns or of the objects that nest them, in the order of the query; null for all. */
  readonly fields: readonly string[] | null
  readonly byColumns: boolean
  /** Units of columns in CSV: none, in a second line, or after the names. */
  readonly units: '0' | '1' | 'name'
  /** Whether CSV begins with a byte order mark, by which spreadsheets know UTF-8. */
  readonly hasMark: boolean
  /** The query names the format, so `Accept` does not count. */
  readonly isExplicit: boolean
  readonly edr?: EdrAsked
}

export interface Offered {
  readonly formats: readonly OfferedFormat[]
  /** Whether its JSON is a list, which `fields` and `layout` can shape. */
  readonly isList: boolean
}

const ONLY_JSON: readonly OfferedFormat[] = ['json']
const ONLY_ROWS = ['rows']

/** The longest list of names: every column of an operation fits. */
const MOST_FIELDS_TEXT = 2000

/** Null for the usual JSON. `accepted` is the format that `Accept` chooses. @throws ApiError 400 */
export function shapeOf(
  offered: Offered | undefined,
  canInclude: boolean,
  raw: RawQuery,
  accepted: (formats: readonly Format[]) => Format,
): Shape | null {
  const includes = raw.get('include') !== ''
  const isOfTable = includes || raw.get('bucket') !== '' || raw.get('timezone') !== ''
  if (includes && !canInclude) {
    throw refused('include', 'does not apply to this operation. Allowed: on operations that answer readings')
  }
  if (offered === undefined) {
    choiceOf(raw, 'format', ONLY_JSON)
    choiceOf(raw, 'layout', ONLY_ROWS)
    choiceOf(raw, 'bom', ['0'])
    unitsOf(raw, false, false)
    if (raw.get('fields') !== '') {
      throw refused(
        'fields',
        'does not apply to this operation. Allowed: on operations that answer in other formats than json',
      )
    }
    return null
  }
  const asked = choiceOf(raw, 'format', offered.formats)
  const format = asked ?? accepted(offered.formats)
  const canShape = format !== 'json' || offered.isList
  const layouts = format === 'json' && offered.isList ? ['rows', 'columns'] : ['rows']
  const byColumns = choiceOf(raw, 'layout', layouts) === 'columns'
  const offersCsv = offered.formats.includes('csv')
  const units = unitsOf(raw, format === 'csv', offersCsv)
  const hasMark = choiceOf(raw, 'bom', format === 'csv' ? ['0', '1'] : ['0']) === '1'
  const fields = fieldsOf(raw)
  if (fields !== null && !canShape) {
    const others = offered.formats.filter((other) => other !== 'json')
    throw refused('fields', `does not fit this answer as JSON. Allowed: with format=${others.join(' or ')}`)
  }
  // Members that `include` adds, buckets and local times are written from the table.
  const isTable = offered.isList && isOfTable
  if (format === 'json' && fields === null && !byColumns && !isTable) return null
  return { format, fields, byColumns, units, hasMark, isExplicit: asked !== null }
}

/** One text for all shapes that are the same. */
export function shapeKey({ format, fields, byColumns, units, hasMark, edr }: Shape): string {
  if (edr !== undefined) return `${format}|${JSON.stringify(edr)}`
  return `${format}|${fields?.join() ?? ''}|${byColumns ? 'c' : ''}|${units}${hasMark ? 'b' : ''}`
}

/** Query parameters, encoded, each after `&`. */
export function shapeQuery({ format, fields, byColumns, units, hasMark }: Shape): string {
  return (
    `&format=${format}` +
    (fields === null ? '' : `&fields=${encodeURIComponent(fields.join())}`) +
    (byColumns ? '&layout=columns' : '') +
    (units === '0' ? '' : `&units=${units}`) +
    (hasMark ? '&bom=1' : '')
  )
}

/** Clients of other services ask for `units=imperial`. */
function unitsOf(raw: RawQuery, isCsv: boolean, offersCsv: boolean): Shape['units'] {
  const value = raw.get('units')
  if (value === '' || value === '0') return '0'
  if ((value === '1' || value === 'name') && isCsv) return value
  const allowed = offersCsv
    ? '0; with format=csv also 1, which adds a row of units, and name, which puts them after the names of columns'
    : '0'
  throw refused('units', `does not choose units: values are always metric. Allowed: ${allowed}`)
}

function choiceOf<W extends string>(raw: RawQuery, name: string, words: readonly W[]): W | null {
  const value = raw.get(name)
  if (value === '') return null
  const word = words.find((candidate) => candidate === value)
  if (word !== undefined) return word
  const problem =
    value === null ? 'is given more than once or is not percent-encoded UTF-8' : 'is not offered'
  throw refused(name, `${problem} here. Allowed: ${words.length === 1 ? '' : 'one of '}${words.join(', ')}`)
}

function fieldsOf(raw: RawQuery): string[] | null {
  const value = raw.get('fields')
  if (value === '') return null
  if (value === null || value.length > MOST_FIELDS_TEXT) {
    throw refused('fields', `is malformed. Allowed: names of columns, separated by commas, once each`)
  }
  return value.split(',')
}

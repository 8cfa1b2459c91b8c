/**
 * The map of a network's JSON: its schema, its check, and the places in a document that it names
 * (`docs/sources-tables.md`). A place is a JSON pointer (RFC 6901) from a row, `/wave_height`, or from the
 * document, `^/data/spotterId`. In a list, `/results/identifier=Hm0/value` leads to the element with
 * `identifier` `Hm0`, and `/@Hm0 (m)/0` to the one at the index that `Hm0 (m)` has in the header.
 */
import { type Static, Type } from 'typebox'
import { object, scalar } from '../schema.ts'
import { type ValueColumn, numberOf, valueColumn } from '../reading/units.ts'
import { Ajv, type ErrorObject } from 'ajv'
import { isObject, type Json } from '../reading/source-files.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { MEASURE_NAMES, type MeasureName } from '../../sea/columns.ts'
import { isZone, zone } from '../../sea/zones.ts'
import { isIsoUnit, type TimeReader, timeReader, wallClockReader } from '../reading/times.ts'

/** A place in a row or, after `^`, in the document. */
export type Place = string

export interface Path {
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

export function pathOf(place: Place): Path {
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

/** `stars` are the indexes for each `*` of a place in the document. */
export function follow(
  { fromDocument, steps }: Path,
  row: unknown,
  document: unknown,
  header: ReadonlyMap<string, number>,
  stars: readonly number[] = [],
): unknown {
  let value = fromDocument ? document : row
  let star = 0
  for (const { key, index, pick, column } of steps) {
    if (Array.isArray(value)) {
      const list: unknown[] = value
      if (key === '*') value = list[stars[star++] ?? -1]
      else if (column !== null) value = list[header.get(column) ?? -1]
      else if (index >= 0) value = list[index]
      else if (pick === null) return undefined
      else value = list.find((entry) => isObject(entry) && plain(ownOf(entry, pick.key)) === pick.value)
    } else if (isObject(value)) value = ownOf(value, key)
    else return undefined
  }
  return value
}

/** The indexes of every way through the lists that `*` stands for in a place of the document; bounded by it. */
export function waysOf(path: Path, document: unknown): number[][] {
  let ways: number[][] = [[]]
  path.steps.forEach(({ key }, at) => {
    if (key !== '*') return
    const before = { ...path, steps: path.steps.slice(0, at) }
    ways = ways.flatMap((stars) => {
      const list = follow(before, document, document, new Map(), stars)
      return Array.isArray(list) ? list.map((_, i) => [...stars, i]) : []
    })
  })
  return ways
}

function ownOf(value: Json, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

/** A number, text or truth value as text that is the same for "1.0", "1" and 1; '' for anything else. */
export function plain(value: unknown): string {
  if (typeof value === 'string') {
    const number = numberOf(value.trim())
    return number === null || Number.isNaN(number) ? value.trim() : String(number)
  }
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function wordOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : ''
}

const POINTER = Type.String({ maxLength: 300, pattern: '^(/.*)?$' })
const PLACE = Type.String({ maxLength: 300, pattern: '^\\^?(/.*)?$' })
const WORDS = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f"]+$' })

const VALUE = object({
  at: PLACE,
  /** A UDUNITS string: "m", "knots", "degree_Celsius". */
  unit: Type.String({ minLength: 1, maxLength: 60 }),
  /** Values that mark "missing", in addition to null, "" and "NaN". */
  missing: Type.Optional(Type.Array(scalar(100), { maxItems: 50 })),
  /** Directions are where waves and wind come from, unless this is `to`. */
  direction: Type.Optional(Type.Enum(['from', 'to'])),
  quality: Type.Optional(object({ at: PLACE, good: Type.Array(scalar(100), { minItems: 1, maxItems: 50 }) })),
})
type JsonValue = Static<typeof VALUE>

const TABLE = object({
  /** Names of the files that have it: `*` matches anything, `{station}` the identifier. Absent: all files. */
  files: Type.Optional(Type.String({ maxLength: 200, pattern: '^[^*/]*\\*?[^*/]*$' })),
  when: Type.Optional(
    object({
      at: PLACE,
      is: Type.Unsafe<string | number | boolean>({ type: ['string', 'number', 'boolean'] }),
    }),
  ),
  /**
   * Where the list of rows is; empty for the document itself. A single object is one row. `*` stands for every
   * element of a list, and in places of the document (`^`) and `when` for the one that the row is in.
   */
  rows: POINTER,
  /** Where the list of column names is, for rows that are lists. */
  header: Type.Optional(POINTER),
  /** The identifier; absent: it is in the file's name. */
  station: Type.Optional(PLACE),
  name: Type.Optional(PLACE),
  lat: Type.Optional(PLACE),
  lng: Type.Optional(PLACE),
  time: object({
    at: PLACE,
    /** "UTC" is ISO 8601, "seconds since 1970-01-01" and its like are counts. */
    unit: Type.String({ maxLength: 80 }),
    /** What a time without a zone is ahead of UTC, `+10:00`. */
    offset: Type.Optional(Type.String({ pattern: '^[+-](0\\d|1\\d|2[0-3]):[0-5]\\d$' })),
    /** The zone of the wall clock of such times, `Europe/Paris`, in place of `offset`. */
    zone: Type.Optional(WORDS),
  }),
  values: Type.Unsafe<{ [name in MeasureName]?: JsonValue }>(
    object(Object.fromEntries(MEASURE_NAMES.map((name) => [name, Type.Optional(VALUE)])), {
      minProperties: 1,
    }),
  ),
})
type JsonTable = Static<typeof TABLE>

export const JSON_OPTIONS = object({
  source: WORDS,
  network: Type.Enum(['national', 'coastal']),
  credit: Type.Optional(Type.String({ maxLength: 1000 })),
  licence: Type.Optional(Type.String({ maxLength: 1000 })),
  stations: Type.Optional(
    Type.Array(
      object({
        identifier: Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\x00-\\x1f"]+$' }),
        name: WORDS,
        lat: Type.Number({ minimum: -90, maximum: 90 }),
        lng: Type.Number({ minimum: -180, maximum: 180 }),
        country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
        timezone: Type.Optional(WORDS),
      }),
      { maxItems: 10_000 },
    ),
  ),
  tables: Type.Array(TABLE, { minItems: 1, maxItems: 50 }),
})
export type JsonColumns = Static<typeof JSON_OPTIONS>

export interface ColumnMap {
  columns: JsonColumns
  known: Map<string, BuoyRecord>
  tables: Table[]
}

export interface Table {
  file: RegExp
  when: { at: Path; is: string } | null
  rows: Path
  header: Path | null
  station: Path | null
  name: Path | null
  lat: Path | null
  lng: Path | null
  time: Path
  /** Makes a reader of the times of one station. */
  readTime: () => TimeReader
  values: TableValue[]
}

interface TableValue {
  column: ValueColumn
  measure: number
  at: Path
  missing: ReadonlySet<string>
  quality: { at: Path; good: ReadonlySet<string> } | null
  fault: string
}

/** @throws BuildError that tells what is wrong in the map named `place` */
export function compileColumns(value: unknown, place: string): ColumnMap {
  const validate = new Ajv({ strict: false }).compile<JsonColumns>(JSON_OPTIONS)
  if (!validate(value)) throw new BuildError(`${place}${faultText(validate.errors?.[0])}`)
  const known = new Map<string, BuoyRecord>()
  for (const station of value.stations ?? []) {
    if (station.timezone !== undefined && !isZone(station.timezone)) {
      throw new BuildError(`${place}: ${station.identifier} has an unknown timezone`)
    }
    known.set(station.identifier, { ...station, source: value.source })
  }
  const tables = value.tables.map((table, i) => {
    const at = `${place}/tables/${i}`
    if (table.station === undefined && !(table.files ?? '').includes('{station}')) {
      throw new BuildError(
        `${at} does not name the station of its rows: give "station", or {station} in "files"`,
      )
    }
    return compileTable(table, at)
  })
  return { columns: value, known, tables }
}

function faultText(error: ErrorObject | undefined): string {
  const { additionalProperty: name } = (error?.params ?? {}) as { additionalProperty?: string }
  return `${error?.instancePath ?? ''} ${error?.message ?? 'is wrong'}${name === undefined ? '' : `: "${name}"`}`
}

function compileTable(table: JsonTable, place: string): Table {
  const { time, when, header } = table
  if ((table.files ?? '').split('{station}').length > 2) {
    throw new BuildError(`${place}/files has {station} more than once`)
  }
  const reader = timeReader(time.unit, offsetOf(time.offset))
  if (reader === null) throw new BuildError(`${place}/time/unit is not a known unit of time`)
  const clock = time.zone === undefined ? null : zone(time.zone)
  if (time.zone !== undefined && (clock === null || time.offset !== undefined || !isIsoUnit(time.unit)))
    throw new BuildError(`${place}/time/zone is not an IANA zone, or stands beside an offset or a count`)
  const values = (Object.entries(table.values) as [MeasureName, JsonValue][]).map(([name, value]) => {
    const { at, unit, missing = [], direction, quality } = value
    const column = valueColumn(name, name, unit, { goesTo: direction === 'to' })
    if (column === null)
      throw new BuildError(`${place}/values/${name}/unit is not a known unit of this measure`)
    if (direction !== undefined && !column.isDirection) {
      throw new BuildError(`${place}/values/${name} has "direction" but is not a direction`)
    }
    return {
      column,
      measure: MEASURE_NAMES.indexOf(name),
      at: pathOf(at),
      missing: new Set(missing.map(plain)),
      quality:
        quality === undefined ? null : { at: pathOf(quality.at), good: new Set(quality.good.map(plain)) },
      fault: `${name} is not a number`,
    }
  })
  const optional = (at: Place | undefined): Path | null => (at === undefined ? null : pathOf(at))
  return {
    file: fileNames(table.files ?? '*'),
    when: when === undefined ? null : { at: pathOf(when.at), is: plain(when.is) },
    rows: pathOf(table.rows),
    header: optional(header),
    station: optional(table.station),
    name: optional(table.name),
    lat: optional(table.lat),
    lng: optional(table.lng),
    time: pathOf(time.at),
    readTime: () => (clock === null ? reader : wallClockReader(clock)),
    values,
  }
}

/** "+10:00" in seconds. */
function offsetOf(text = '+00:00'): number {
  return (text.startsWith('-') ? -1 : 1) * (Number(text.slice(1, 3)) * 3600 + Number(text.slice(4)) * 60)
}

/** The schema allows one `*`, so a name is matched against two parts of any length at most. */
function fileNames(template: string): RegExp {
  const pattern = template
    .split(/(\*|\{station\})/)
    .map((part) =>
      part === '*'
        ? '.*'
        : part === '{station}'
          ? '([^"/]{1,64}?)'
          : part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'),
    )
    .join('')
  return new RegExp(`^${pattern}$`, 'u')
}

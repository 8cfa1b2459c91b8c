/**
 * The map of columns that tables of every form have in common (`docs/sources-tables.md`): the options of the
 * kinds `table`, `json` and `erddap`. What it leaves out is found by well-known names.
 */
import type { Static } from 'typebox'
import { named, object, scalar, Type } from '../../system/schema.ts'
import { conversionOf } from '../reading/units.ts'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../sea/columns.ts'
import { type Zone, zone } from '../../sea/zones.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord, SourceInfo } from '../../sea/records.ts'
import { SPECTRA } from './bands.ts'
import { isTimeFormat, leadSeconds } from '../reading/times.ts'

const WORDS = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f"]+$' })

/** A column by its name or its number from 1, in JSON a place (`places.ts`). */
const AT = Type.Unsafe<string | number>({ type: ['string', 'integer'], maxLength: 300, minimum: 1 })
export type At = Static<typeof AT>

const POSITION = Type.Union([AT, object({ at: AT, factor: Type.Number() })])
const MISSING = Type.Array(scalar(100), { maxItems: 50 })

const VALUE = object({
  at: AT,
  /** A UDUNITS string, in place of the one that the table gives: "m", "knots", "degree_Celsius". */
  unit: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  /** The column or place with the unit of each value. */
  unitAt: Type.Optional(AT),
  /** The value in this unit is `cell × factor + offset`. */
  factor: Type.Optional(Type.Number()),
  offset: Type.Optional(Type.Number()),
  missing: Type.Optional(MISSING),
  /** Directions are where waves and wind come from, unless this is `to`. */
  direction: Type.Optional(Type.Enum(['from', 'to'])),
  quality: Type.Optional(object({ at: AT, good: Type.Array(scalar(100), { minItems: 1, maxItems: 50 }) })),
})
export type ValueSpec = Static<typeof VALUE>

const TABLE = object({
  /**
   * Which files have such a table; `*` stands for anything, `{digits}` for digits, `{station}` for the
   * station of all rows.
   */
  files: Type.Optional(Type.String({ maxLength: 200, pattern: '^[^*]*\\*?[^*]*$' })),
  station: Type.Optional(Type.Union([AT, object({ is: WORDS })])),
  /** Null for none: then all rows are of one station, whatever their names. */
  name: Type.Optional(Type.Union([AT, Type.Null()])),
  lat: Type.Optional(POSITION),
  lng: Type.Optional(POSITION),
  time: Type.Optional(
    object({
      /** Several columns are read as one text with blanks between them. */
      at: Type.Optional(Type.Union([AT, Type.Array(AT, { minItems: 1, maxItems: 6 })])),
      /** `ISO` or `UTC`, `seconds since 1970-01-01`, or `DD-MMM-YYYY HH:mm`. */
      unit: Type.Optional(Type.String({ maxLength: 80 })),
      /** How far a time without a zone is ahead of UTC, `+10:00`. */
      offset: Type.Optional(Type.String({ pattern: '^[+-](0\\d|1\\d|2[0-3]):[0-5]\\d$' })),
      /** The wall clock's zone of such times, `Europe/Paris`, in place of `offset`. */
      zone: Type.Optional(WORDS),
    }),
  ),
  /** By measure; null leaves the measure out. */
  values: Type.Optional(
    Type.Unsafe<{ [name in MeasureName]?: ValueSpec | null }>(
      object(
        Object.fromEntries(
          MEASURE_NAMES.map((name) => [name, Type.Optional(Type.Union([VALUE, Type.Null()]))]),
        ),
      ),
    ),
  ),
  /** Values that mark "missing" in every column. */
  missing: Type.Optional(MISSING),
  /** Good flags, by the names of flag columns. */
  flags: Type.Optional(named(Type.Array(scalar(50), { minItems: 1, maxItems: 100 }), { maxProperties: 100 })),

  /** Wave spectra: the columns or lists of each quantity by band. */
  spectra: Type.Optional(SPECTRA),

  /**
   * JSON: the place of the rows, the documents that have them, and names of columns for rows that are lists.
   */
  rows: Type.Optional(Type.String({ maxLength: 300, pattern: '^(/.*)?$' })),
  when: Type.Optional(object({ at: Type.String({ maxLength: 300, pattern: '^(/.*)?$' }), is: scalar(100) })),
  /** Text: words of the line that names the columns; false if none does, and columns are numbers. */
  header: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: 300 }), Type.Literal(false)])),
  /** A name that `TextDecoder` knows, for a text that is not UTF-8: `windows-1252`, `shift_jis`. */
  encoding: Type.Optional(Type.String({ maxLength: 40 })),
  delimiter: Type.Optional(Type.Enum([',', ';', '\t', 'blanks'])),
  /** Lines to skip first. */
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000 })),
  /** The beginning of each comment line. */
  comment: Type.Optional(Type.String({ minLength: 1, maxLength: 10 })),
  decimalComma: Type.Optional(Type.Boolean()),
  /** Whether the line below the header has units. */
  units: Type.Optional(Type.Boolean()),
})
export type TableSpec = Static<typeof TABLE>

export const TABLE_OPTIONS = object({
  source: Type.Optional(WORDS),
  network: Type.Optional(Type.Enum(['national', 'coastal'])),
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
  tables: Type.Optional(Type.Array(TABLE, { minItems: 1, maxItems: 50 })),
})
export type TableOptions = Static<typeof TABLE_OPTIONS>

export interface ColumnMap {
  info: SourceInfo
  /** Stations that the map lists; a list beside the tables adds others when it is read. */
  known: Map<string, Partial<BuoyRecord>>
  tables: MappedTable[]
}

export interface MappedTable extends TableSpec {
  /** Matches the name of a file without `.gz`; its first group is the station. */
  file: RegExp
  /** Whether it is the table of all files with the kind's endings. */
  isOfAll: boolean
  clock: Clock
}

/** The key to a time without a zone: an offset in seconds, a zone, or nothing. */
export type Clock = number | Zone | null

/** @throws BuildError that names the place of what is wrong in the map */
export function compileMap(kind: string, options: TableOptions = {}): ColumnMap {
  const { source = kind.toUpperCase(), network = 'national', credit, licence } = options
  const fail = (place: string, what: string): never => {
    throw new BuildError(`${kind}: options/${place} ${what}`)
  }
  const known = new Map<string, Partial<BuoyRecord>>()
  for (const [i, station] of (options.stations ?? []).entries()) {
    if (station.timezone !== undefined && zone(station.timezone) === null)
      fail(`stations/${i}/timezone`, 'is not an IANA time zone')
    known.set(station.identifier, { ...station, source })
  }
  const tables = (options.tables ?? [{}]).map((table, i): MappedTable => {
    const place = `tables/${i}`
    const { files = '*', time = {}, values = {} } = table
    for (const word of ['{station}', '{digits}']) {
      if (files.split(word).length > 2) fail(`${place}/files`, `has ${word} more than once`)
    }
    if (time.unit !== undefined && !isTimeFormat(time.unit))
      fail(`${place}/time/unit`, 'is neither a known unit of time nor a format such as DD-MMM-YYYY HH:mm')
    if (table.encoding !== undefined && !isEncoding(table.encoding))
      fail(`${place}/encoding`, 'is not an encoding that is known, such as windows-1252')
    const wall = time.zone === undefined ? null : zone(time.zone)
    if (time.zone !== undefined && (wall === null || time.offset !== undefined))
      fail(`${place}/time/zone`, 'is not an IANA time zone, or stands beside an offset')
    for (const [name, value] of Object.entries(values) as [MeasureName, ValueSpec | null][]) {
      const { unit, direction } = value ?? {}
      if (unit !== undefined && conversionOf(name, unit) === null)
        fail(`${place}/values/${name}/unit`, 'is not a known unit of this measure')
      if (direction !== undefined && MEASURES[name].unit !== 'degree')
        fail(`${place}/values/${name}`, 'has "direction" but is not a direction')
    }
    const clock = wall ?? (time.offset === undefined ? null : leadSeconds(time.offset))
    return { ...table, file: fileNames(files), isOfAll: table.files === undefined, clock }
  })
  const terms = { ...(credit !== undefined && { credit }), ...(licence !== undefined && { licence }) }
  return { info: { name: source, network, ...terms }, known, tables }
}

/** Whether `TextDecoder` knows it. */
export function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    return false
  }
}

/** The schema allows one `*`, so a name is matched against few parts of any length. */
function fileNames(template: string): RegExp {
  const partOf: { readonly [part: string]: string } = {
    '*': '.*',
    '{station}': '([^"/]{1,64}?)',
    // Digits of a date, too: 2024-03-01.
    '{digits}': '[0-9][0-9._-]{0,30}',
  }
  const pattern = template
    .split(/(\*|\{station\}|\{digits\})/)
    .map((part) => partOf[part] ?? part.replaceAll(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  return new RegExp(`^${pattern.join('')}$`, 'u')
}

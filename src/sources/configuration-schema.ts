/** The form of `groundswell.config.json` (`docs/configuration.md`) as types and JSON schema (draft 7). */
import type { Static } from 'typebox'
import { MEASURE_NAMES } from '../sea/columns.ts'
import { KINDS } from './kinds.ts'
import { named, object, Type } from '../system/schema.ts'
import type { SourceOptions } from './source.ts'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const texts = (maxItems: number) => Type.Array(text(100), { minItems: 1, maxItems, uniqueItems: true })

const whole = (minimum: number, maximum: number) => Type.Integer({ minimum, maximum })

const degrees = (limit: number) => Type.Number({ minimum: -limit, maximum: limit })

// If a text has a pattern, its description completes the sentence of a fault: "must be …".
const DURATION = Type.String({ pattern: '^[1-9][0-9]{0,5}[smhd]$', description: 'a duration such as 30m' })
const NAME = Type.String({
  pattern: '^[^\\x00-\\x1f\\x7f"]{1,100}$',
  description: 'one line of 1 to 100 characters without quotation marks',
})

/** A secret is written as `{"env": "NAME"}`. */
const SECRET = Type.Union([
  Type.String({ maxLength: 1000, pattern: '^[\\t\\x20-\\x7e]*$' }),
  object({ env: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }) }),
])
export type Secret = Static<typeof SECRET>

const SECRETS = named(SECRET, {
  maxProperties: 20,
  propertyNames: {
    pattern: '^[A-Za-z0-9_.-]{1,100}$',
    description: 'a name of 1 to 100 letters, digits and _ . -',
  },
})

const CONTENT = Type.Enum(['text', 'json', 'xml', 'netcdf', 'any'])
export type Content = Static<typeof CONTENT>

const FETCH = object({
  /** May hold `{station}`, `{YYYY}`, `{MM}`, `{DD}`, `{from}` and `{until}`. */
  url: Type.String({
    minLength: 1,
    maxLength: 2000,
    pattern: '^https?://[^/@\\s]+/\\S*$',
    description: 'an address such as https://host/path, without user and password',
  }),
  /** Path below the source's folder, with the same words as `url`. */
  to: Type.String({
    maxLength: 300,
    pattern: '^[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*(/[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*)*$',
    description: 'a path below the folder, of letters, digits and _ . + -',
  }),
  stations: Type.Optional(
    Type.Array(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description: '1 to 64 letters, digits, _ and -',
      }),
      { minItems: 1, maxItems: 5000, uniqueItems: true },
    ),
  ),
  /** UTC days up to today: a file a day for `{DD}`, one file for all with `{from}` and `{until}`. */
  days: Type.Optional(whole(1, 400)),
  content: Type.Optional(CONTENT),
  /** Largest size after decompression, bytes. */
  maxBytes: Type.Optional(whole(1, 2 ** 30)),
  headers: Type.Optional(SECRETS),
  /** Parameters to add to the URL, which are never shown. */
  query: Type.Optional(SECRETS),
})
export type FileDownload = Static<typeof FETCH>

/** A file to download, or several by a template, with its secrets. */
export interface Download extends Omit<FileDownload, 'headers' | 'query'> {
  headers: { [name: string]: string }
  query: { [name: string]: string }
}

const TIME = Type.String({
  pattern: String.raw`^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$`,
  description: 'a day or a time in UTC, such as 2026-03-01 or 2026-03-01T10:00:00Z',
})
/** A row without a height is no reading: the height is taken back with the row. */
const DROPPABLE = MEASURE_NAMES.filter((name) => name !== 'significantHeight')

const SOURCE = object(
  {
    name: NAME,
    kind: Type.Enum(Object.keys(KINDS)),
    folder: Type.Optional(text(1000)),
    fetch: Type.Optional(Type.Array(FETCH, { minItems: 1, maxItems: 200 })),
    refresh: Type.Optional(DURATION),
    fetchWithin: Type.Optional(DURATION),
    network: Type.Optional(Type.Enum(['national', 'coastal', 'satellite'])),
    label: Type.Optional(NAME),
    aliases: Type.Optional(texts(20)),
    credit: Type.Optional(text(1000)),
    licence: Type.Optional(text(1000)),
    complete: Type.Optional(Type.Boolean()),
    spikes: Type.Optional(Type.Enum(['keep', 'drop'])),
    drop: Type.Optional(
      Type.Array(
        object({
          station: text(100),
          from: TIME,
          until: TIME,
          values: Type.Optional(Type.Array(Type.Enum(DROPPABLE), { minItems: 1, uniqueItems: true })),
        }),
        { minItems: 1, maxItems: 1000 },
      ),
    ),
    filter: Type.Optional(
      object({
        box: Type.Optional(
          object({ south: degrees(90), west: degrees(180), north: degrees(90), east: degrees(180) }),
        ),
        types: Type.Optional(texts(100)),
        stations: Type.Optional(texts(10_000)),
        except: Type.Optional(texts(10_000)),
      }),
    ),
    options: Type.Optional(Type.Unsafe<SourceOptions>({ type: 'object' })),
    limits: Type.Optional(
      object({
        seconds: Type.Optional(whole(1, 86_400)),
        megabytes: Type.Optional(whole(128, 1_048_576)),
      }),
    ),
  },
  { dependencies: { fetch: ['folder'] } },
)
export type FileSource = Static<typeof SOURCE>

export const CONFIGURATION_SCHEMA = object({
  $schema: Type.Optional(Type.String()),
  /** The data folder of commands with this configuration, unless `--data` names another. */
  data: Type.Optional(text(1000)),
  sources: Type.Array(SOURCE, { minItems: 1, maxItems: 200 }),
  prefer: Type.Optional(texts(200)),
  sameWithinKm: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 50 })),
  hosts: Type.Optional(
    named(
      object({
        connections: Type.Optional(whole(1, 16)),
        gapMs: Type.Optional(whole(0, 60_000)),
        private: Type.Optional(Type.Boolean()),
      }),
      {
        maxProperties: 200,
        // Another key would match no address, and its terms for the host would never be heeded.
        propertyNames: {
          pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?$',
          description: 'a host such as mirror.example or mirror.example:8080',
        },
      },
    ),
  ),
})
export type ConfigurationFile = Static<typeof CONFIGURATION_SCHEMA>

/**
 * The form of `groundswell.config.json`: its types and its JSON schema (draft 7). `docs/sources.md` documents
 * it.
 */
import type { SchemaObject } from 'ajv'
import type { Bounds } from '../sea/geo.ts'
import { KIND_OPTIONS } from './kinds.ts'
import type { Network } from '../sea/records.ts'
import type { SourceLimits, SourceOptions } from './source.ts'

/** What a downloaded file has to look like. */
export type Content = 'text' | 'json' | 'xml' | 'netcdf' | 'any'

/** A file to download, or several by a template. */
export interface Download {
  /** May hold `{station}`, `{YYYY}`, `{MM}`, `{DD}`, `{from}` and `{until}`. */
  url: string
  /** Path below the source's folder; may hold the same words. */
  to: string
  stations?: string[]
  /**
   * UTC days up to today: one file a day for `{DD}`, one file for all of them with `{from}` and `{until}`.
   */
  days?: number
  content?: Content
  /** Largest size after decompression, bytes. */
  maxBytes?: number
  headers: { [name: string]: string }
  /** Parameters to add to the URL, which are never shown. */
  query: { [name: string]: string }
}

/** A secret is written as `{"env": "NAME"}`. */
export type Secret = string | { env: string }

export interface FileDownload extends Omit<Download, 'headers' | 'query'> {
  headers?: { [name: string]: Secret }
  query?: { [name: string]: Secret }
}

export interface FileSource {
  name: string
  kind: string
  folder?: string
  fetch?: FileDownload[]
  refresh?: string
  fetchWithin?: string
  network?: Network
  label?: string
  aliases?: string[]
  credit?: string
  licence?: string
  complete?: boolean
  filter?: { box?: Bounds; types?: string[]; stations?: string[]; except?: string[] }
  options?: SourceOptions
  limits?: SourceLimits
}

export interface ConfigurationFile {
  sources: FileSource[]
  prefer?: string[]
  sameWithinKm?: number
  hosts?: { [host: string]: { connections?: number; gapMs?: number; private?: boolean } }
}

const text = (maxLength: number): SchemaObject => ({ type: 'string', minLength: 1, maxLength })

const texts = (maxItems: number): SchemaObject => ({
  type: 'array',
  minItems: 1,
  maxItems,
  uniqueItems: true,
  items: text(100),
})

const object = (properties: { [name: string]: SchemaObject }, ...required: string[]): SchemaObject => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
})

const degrees = (limit: number): SchemaObject => ({ type: 'number', minimum: -limit, maximum: limit })

const secrets: SchemaObject = {
  type: 'object',
  maxProperties: 20,
  propertyNames: {
    pattern: '^[A-Za-z0-9_.-]{1,100}$',
    description: 'a name of 1 to 100 letters, digits and _ . -',
  },
  additionalProperties: {
    anyOf: [
      { type: 'string', maxLength: 1000, pattern: '^[\\t\\x20-\\x7e]*$' },
      object({ env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' } }, 'env'),
    ],
  },
}

const FETCH: SchemaObject = object(
  {
    url: {
      ...text(2000),
      pattern: '^https?://[^/@\\s]+/\\S*$',
      description: 'an address such as https://host/path, without user and password',
    },
    to: {
      type: 'string',
      maxLength: 300,
      pattern: '^[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*(/[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*)*$',
      description: 'a path below the folder, of letters, digits and _ . + -',
    },
    stations: {
      type: 'array',
      minItems: 1,
      maxItems: 5000,
      uniqueItems: true,
      items: {
        type: 'string',
        pattern: '^[A-Za-z0-9_-]{1,64}$',
        description: '1 to 64 letters, digits, _ and -',
      },
    },
    days: { type: 'integer', minimum: 1, maximum: 400 },
    content: { enum: ['text', 'json', 'xml', 'netcdf', 'any'] },
    maxBytes: { type: 'integer', minimum: 1, maximum: 2 ** 30 },
    headers: secrets,
    query: secrets,
  },
  'url',
  'to',
)

// Where a text has a pattern, its description is what a fault says that it must be.
const DURATION: SchemaObject = {
  type: 'string',
  pattern: '^[1-9][0-9]{0,5}[smhd]$',
  description: 'a duration such as 30m',
}
const NAME: SchemaObject = {
  type: 'string',
  pattern: '^[^\\x00-\\x1f\\x7f"]{1,100}$',
  description: 'one line of 1 to 100 characters without quotation marks',
}

/** The JSON schema (draft 7) of the file. */
export const CONFIGURATION_SCHEMA: SchemaObject = object(
  {
    $schema: { type: 'string' },
    sources: {
      type: 'array',
      minItems: 1,
      maxItems: 200,
      items: {
        ...object(
          {
            name: NAME,
            kind: { enum: [...KIND_OPTIONS.keys()] },
            folder: text(1000),
            fetch: { type: 'array', minItems: 1, maxItems: 200, items: FETCH },
            refresh: DURATION,
            fetchWithin: DURATION,
            network: { enum: ['national', 'coastal', 'satellite'] },
            label: NAME,
            aliases: texts(20),
            credit: text(1000),
            licence: text(1000),
            complete: { type: 'boolean' },
            filter: object({
              box: object(
                { south: degrees(90), west: degrees(180), north: degrees(90), east: degrees(180) },
                'south',
                'west',
                'north',
                'east',
              ),
              types: texts(100),
              stations: texts(10_000),
              except: texts(10_000),
            }),
            options: { type: 'object' },
            limits: object({
              seconds: { type: 'integer', minimum: 1, maximum: 86_400 },
              megabytes: { type: 'integer', minimum: 128, maximum: 1_048_576 },
            }),
          },
          'name',
          'kind',
        ),
        // Files that are fetched need a place to lie.
        dependencies: { fetch: ['folder'] },
      },
    },
    prefer: texts(200),
    sameWithinKm: { type: 'number', exclusiveMinimum: 0, maximum: 50 },
    hosts: {
      type: 'object',
      maxProperties: 200,
      // Another key would match no address, and what it says of the host would never be heeded.
      propertyNames: {
        pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]{1,253})(:[0-9]{1,5})?$',
        description: 'a host such as mirror.example or mirror.example:8080',
      },
      additionalProperties: object({
        connections: { type: 'integer', minimum: 1, maximum: 16 },
        gapMs: { type: 'integer', minimum: 0, maximum: 60_000 },
        private: { type: 'boolean' },
      }),
    },
  },
  'sources',
)

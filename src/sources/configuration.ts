/**
 * The operator's configuration, `groundswell.config.json`: which sources there are, where their files lie or
 * come from, what is taken of them, and which network's word counts where two have the same buoy. It is
 * checked against a schema before anything is done, and what is wrong is told by its place in the file.
 * Secrets do not stand in it: it names the environment variables that hold them.
 */
import { dirname, resolve } from 'node:path'
import { Ajv, type ErrorObject, type SchemaObject } from 'ajv'
import { readRegularFileSync, UnfitFile } from '../system/files.ts'
import { boundsContain, type Bounds } from '../sea/geo.ts'
import { KIND_OPTIONS, openSource } from './kinds.ts'
import { type Source, type SourceLimits, type SourceOptions, type SourceTerms } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord, Network } from '../sea/records.ts'

/** A configuration with a thousand stations in it has 20 kB. */
const MAX_FILE_BYTES = 4 * 2 ** 20

/**
 * Where a network of the list has the same buoy as another one, they lie within so many kilometres, unless
 * the file says otherwise.
 */
const SAME_WITHIN_KM = 1

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

export interface ConfiguredSource {
  name: string
  kind: string
  /** Absolute; empty for kinds that read no files. */
  folder: string
  downloads: Download[]
  /** Seconds between two looks at the network. */
  refresh: number
  /** Seconds that fetching all of its files may take. */
  fetchWithin: number
  source: Source
}

/** How one host is treated. */
export interface HostLimits {
  connections: number
  /** Least milliseconds between the beginnings of two requests. */
  gapMs: number
  /** Whether it may be at an address that is not of the public internet. */
  private: boolean
}

export interface Configuration {
  sources: ConfiguredSource[]
  /** Names of networks, the one whose buoys stay first. */
  prefer: string[]
  sameWithinKm: number
  hosts: Map<string, HostLimits>
}

/** A secret is written as `{"env": "NAME"}`. */
type Secret = string | { env: string }

interface FileDownload extends Omit<Download, 'headers' | 'query'> {
  headers?: { [name: string]: Secret }
  query?: { [name: string]: Secret }
}

interface FileSource {
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

interface ConfigurationFile {
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
  propertyNames: { pattern: '^[A-Za-z0-9_.-]{1,100}$' },
  additionalProperties: {
    anyOf: [
      { type: 'string', maxLength: 1000, pattern: '^[\\t\\x20-\\x7e]*$' },
      object({ env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' } }, 'env'),
    ],
  },
}

/** Politeness towards hosts that the file says nothing of. */
export const DEFAULT_HOST_LIMITS: HostLimits = { connections: 2, gapMs: 200, private: false }
const DEFAULT_REFRESH = '30m'
/** The longest list of stations so far takes three minutes at usual times. */
const DEFAULT_FETCH_WITHIN = '30m'

const FETCH: SchemaObject = object(
  {
    url: { type: 'string', maxLength: 2000, pattern: '^https?://[^/@\\s]+/\\S*$' },
    to: {
      type: 'string',
      maxLength: 300,
      pattern: '^[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*(/[A-Za-z0-9_{}][A-Za-z0-9_{}.+-]*)*$',
    },
    stations: {
      type: 'array',
      minItems: 1,
      maxItems: 5000,
      uniqueItems: true,
      items: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
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
            name: { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f"]{1,100}$' },
            kind: { enum: [...KIND_OPTIONS.keys()] },
            folder: text(1000),
            fetch: { type: 'array', minItems: 1, maxItems: 200, items: FETCH },
            refresh: { type: 'string', pattern: '^[1-9][0-9]{0,5}[smhd]$' },
            fetchWithin: { type: 'string', pattern: '^[1-9][0-9]{0,5}[smhd]$' },
            network: { enum: ['national', 'coastal', 'satellite'] },
            label: { type: 'string', pattern: '^[^\\x00-\\x1f\\x7f"]{1,100}$' },
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
      additionalProperties: object({
        connections: { type: 'integer', minimum: 1, maximum: 16 },
        gapMs: { type: 'integer', minimum: 0, maximum: 60_000 },
        private: { type: 'boolean' },
      }),
    },
  },
  'sources',
)

const SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86400 }

/** Words of a template by what has to be said for them. */
const WORD = /\{([^{}]*)\}/g
const DAY_WORDS = new Set(['YYYY', 'MM', 'DD'])
const RANGE_WORDS = new Set(['from', 'until'])

/**
 * Reads a configuration file. Paths in it are relative to it; `environment` holds the secrets that it names.
 * @throws BuildError naming the place in the file.
 */
export function readConfiguration(
  path: string,
  environment: { readonly [name: string]: string | undefined },
): Configuration {
  const file = parseFile(path)
  const base = dirname(resolve(path))
  const fail = (place: string, what: string): never => {
    throw new BuildError(`${path}: ${place} ${what}`)
  }
  const names = new Set<string>()
  const folders = new Map<string, string>()
  const sources = file.sources.map((entry, i): ConfiguredSource => {
    const place = `sources[${i}]`
    if (names.has(entry.name)) fail(`${place}.name`, `"${entry.name}" is the name of an earlier source`)
    names.add(entry.name)
    const box = entry.filter?.box
    if (box !== undefined && box.south > box.north) fail(`${place}.filter.box`, 'has south above north')
    const folder = entry.folder === undefined ? '' : resolve(base, entry.folder)
    if (entry.fetch !== undefined) {
      const other = folders.get(folder)
      // Each removes what it no longer fetches.
      if (other !== undefined) fail(`${place}.folder`, `is the folder that "${other}" fetches into`)
      folders.set(folder, entry.name)
    }
    return {
      name: entry.name,
      kind: entry.kind,
      folder,
      downloads: (entry.fetch ?? []).map((download, n) => {
        const at = `${place}.fetch[${n}]`
        checkTemplates(download, (what) => fail(at, what))
        return {
          ...download,
          headers: reveal(download.headers, environment, (what) => fail(`${at}.headers`, what)),
          query: reveal(download.query, environment, (what) => fail(`${at}.query`, what)),
        }
      }),
      refresh: secondsOf(entry.refresh ?? DEFAULT_REFRESH),
      fetchWithin: secondsOf(entry.fetchWithin ?? DEFAULT_FETCH_WITHIN),
      source: open(entry, folder, (what) => fail(place, what)),
    }
  })
  return {
    sources,
    prefer: file.prefer ?? [],
    sameWithinKm: file.sameWithinKm ?? SAME_WITHIN_KM,
    hosts: new Map(
      Object.entries(file.hosts ?? {}).map(([host, limits]) => [
        host.toLowerCase(),
        { ...DEFAULT_HOST_LIMITS, ...limits },
      ]),
    ),
  }
}

function parseFile(path: string): ConfigurationFile {
  let value: unknown
  try {
    value = JSON.parse(
      readRegularFileSync(path, MAX_FILE_BYTES)
        .toString('utf8')
        .replace(/^\ufeff/, ''),
    )
  } catch (error) {
    const what =
      error instanceof SyntaxError
        ? `is not JSON: ${error.message}`
        : error instanceof UnfitFile
          ? error.message
          : 'cannot be read'
    throw new BuildError(`${path}: ${what}`)
  }
  const ajv = new Ajv({ allErrors: true, strict: false, verbose: true })
  const validate = ajv.compile<ConfigurationFile>(CONFIGURATION_SCHEMA)
  if (!validate(value)) throw faultsOf(path, validate.errors ?? [], '')
  for (const [i, { kind, options }] of value.sources.entries()) {
    const fits = ajv.compile(KIND_OPTIONS.get(kind) ?? { maxProperties: 0 })
    if (options !== undefined && !fits(options))
      throw faultsOf(path, fits.errors ?? [], `/sources/${i}/options`)
  }
  return value
}

/** @param place JSON pointer to what was checked */
function faultsOf(path: string, errors: readonly ErrorObject[], place: string): BuildError {
  const faults = [
    ...new Set(errors.map((error) => faultText({ ...error, instancePath: place + error.instancePath }))),
  ]
  const rest = faults.length > 5 ? `; and ${faults.length - 5} more` : ''
  return new BuildError(`${path}: ${faults.slice(0, 5).join('; ')}${rest}`)
}

/** `sources[2].fetch[0].url must match …`. */
function faultText({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
  const at = place === '' ? 'the file' : place
  const details = params as { additionalProperty?: string; allowedValues?: unknown[] }
  if (keyword === 'additionalProperties') return `${at} has an unknown key "${details.additionalProperty}"`
  if (keyword === 'enum') return `${at} must be one of ${(details.allowedValues ?? []).join(', ')}`
  return `${at} ${message ?? 'is wrong'}`
}

function secondsOf(duration: string): number {
  return Number(duration.slice(0, -1)) * SECONDS[duration.slice(-1)]
}

function checkTemplates({ url, to, stations, days }: FileDownload, fail: (what: string) => never): void {
  const words = (template: string): Set<string> =>
    new Set([...template.matchAll(WORD)].map((match) => match[1]))
  const [inUrl, inPath] = [words(url), words(to)]
  for (const word of [...inUrl, ...inPath]) {
    if (word === 'station') {
      if (stations === undefined) fail('has {station} but no "stations"')
    } else if (DAY_WORDS.has(word) || RANGE_WORDS.has(word)) {
      if (days === undefined) fail(`has {${word}} but no "days"`)
    } else fail(`has the unknown word {${word}}: known are {station}, {YYYY}, {MM}, {DD}, {from} and {until}`)
  }
  const byDay = [...inUrl].some((word) => DAY_WORDS.has(word))
  if (byDay && [...inUrl].some((word) => RANGE_WORDS.has(word))) {
    fail('has words of a day and of a range of days in its url')
  }
  // Otherwise one file would take another's place.
  if (stations !== undefined && !inPath.has('station')) fail('needs {station} in "to"')
  if (byDay && ![...DAY_WORDS].every((word) => inPath.has(word))) fail('needs {YYYY}, {MM} and {DD} in "to"')
  if (!byDay && [...inPath].some((word) => word !== 'station')) fail('has days in "to" and none in "url"')
}

/** @returns the values with the secrets in place of their names. */
function reveal(
  values: { readonly [name: string]: Secret } | undefined,
  environment: { readonly [name: string]: string | undefined },
  fail: (what: string) => never,
): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(values ?? {}).map(([name, value]) => {
      if (typeof value === 'string') return [name, value]
      const secret = environment[value.env] ?? ''
      if (secret === '') fail(`needs the environment variable ${value.env}, which is not set`)
      // A line end would begin another header.
      if (!/^[\x20-\x7e]{1,8192}$/.test(secret))
        fail(`takes ${value.env}, which holds more than printable ASCII`)
      return [name, secret]
    }),
  )
}

function open(entry: FileSource, folder: string, fail: (what: string) => never): Source {
  const { name, kind, network, label, aliases, credit, licence, complete } = entry
  let source: Source
  try {
    source = openSource(kind, folder, entry.options, entry.limits)
  } catch (error) {
    if (error instanceof BuildError) return fail(`: ${error.message}`)
    throw error
  }
  const terms: SourceTerms = {
    name,
    info: {
      ...(network !== undefined && { network }),
      ...(label !== undefined && { label }),
      ...(aliases !== undefined && { aliases }),
      ...(credit !== undefined && { credit }),
      ...(licence !== undefined && { licence }),
    },
    accepts: acceptance(entry.filter),
  }
  return {
    complete: complete ?? source.complete ?? true,
    isControlled: source.isControlled ?? false,
    terms,
    ...(source.folder !== undefined && { folder: source.folder }),
    ...(source.defaultAsOf !== undefined && { defaultAsOf: (now: number) => source.defaultAsOf!(now) }),
    read: (sink, context) => source.read(sink, context),
  }
}

/** The filter of a source: identifiers and types are told apart without case. */
function acceptance(filter: FileSource['filter']): (buoy: BuoyRecord) => boolean {
  const lower = (list: readonly string[] | undefined): Set<string> | null =>
    list === undefined ? null : new Set(list.map((word) => word.toLowerCase()))
  const [types, stations, except] = [lower(filter?.types), lower(filter?.stations), lower(filter?.except)]
  const box = filter?.box
  return ({ identifier, lat, lng, type }) =>
    (box === undefined || boundsContain(box, lat, lng)) &&
    (types === null || type === undefined || types.has(type.toLowerCase())) &&
    (stations === null || stations.has(identifier.toLowerCase())) &&
    !(except?.has(identifier.toLowerCase()) ?? false)
}

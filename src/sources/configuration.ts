/**
 * The operator's configuration, `groundswell.config.json`: JSON with comments and trailing commas, checked
 * against its schema before anything is done. A fault is named by its place in the file. The file holds no
 * secrets, only the names of environment variables.
 */
import { dirname, resolve } from 'node:path'
import { Ajv, type ErrorObject } from 'ajv'
import stripJsonComments from 'strip-json-comments'
import { BuildError } from '../system/build-error.ts'
import type { BuoyRecord } from '../sea/records.ts'
import {
  CONFIGURATION_SCHEMA,
  type ConfigurationFile,
  type Download,
  type FileDownload,
  type FileSource,
  type Secret,
} from './configuration-schema.ts'
import { KINDS, openSource, unknownWord } from './kinds.ts'
import type { Source, SourceTerms, TakenBack } from './source.ts'
import { codeInWords } from '../system/file-faults.ts'
import { readRegularFileSync, UnfitFile } from '../system/regular-files.ts'
import { boundsContain } from '../sea/geo.ts'

/** A configuration of a thousand stations has 20 kB. */
const MAX_FILE_BYTES = 4 * 2 ** 20

/** Two networks of `prefer` have the same buoy within this distance, unless the file sets another. */
const SAME_WITHIN_KM = 1

export interface ConfiguredSource {
  name: string
  kind: string
  /** Absolute path; empty for kinds that read no files. */
  folder: string
  downloads: Download[]
  /** Seconds between two looks at the network. */
  refresh: number
  /** Seconds that fetching all of the source's files may take. */
  fetchWithin: number
  source: Source
}

export interface HostLimits {
  connections: number
  /** Least milliseconds between the beginnings of two requests. */
  gapMs: number
  /** Whether its address may be outside the public internet. */
  private: boolean
}

export interface Configuration {
  sources: ConfiguredSource[]
  /** Names of networks in order of preference: buoys of the earlier one stay. */
  prefer: string[]
  sameWithinKm: number
  hosts: Map<string, HostLimits>
}

export const DEFAULT_HOST_LIMITS: HostLimits = { connections: 2, gapMs: 200, private: false }

/** The default of both durations: to fetch the longest list of stations takes three minutes. */
const DEFAULT_DURATION = '30m'

const MOST_REFRESH_DAYS = 366
/** A timer of Node ends a wait of more than 24.8 days at once. */
const MOST_FETCH_DAYS = 20

/** Other bytes than UTF-8 are refused: in names they would reach clients as question marks. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true })
const FOLDERLESS = new Set(['demo', 'tides'])

const SECONDS: { readonly [unit: string]: number } = { s: 1, m: 60, h: 3600, d: 86400 }

/** Words of a template, by the key that they need. */
const WORD = /\{([^{}]*)\}/g

const DAY_WORDS = new Set(['YYYY', 'MM', 'DD'])
const RANGE_WORDS = new Set(['from', 'until'])

/**
 * Reads a configuration file. Paths in it are relative to it; `environment` holds the secrets that it names.
 * @throws BuildError naming the place in the file
 */
export function readConfiguration(
  path: string,
  environment: { readonly [name: string]: string | undefined },
): Configuration {
  const file = parseFile(path)
  const base = dirname(resolve(path))
  const names = new Set<string>()
  const folders = new Map<string, string>()
  const sources = file.sources.map((entry, i): ConfiguredSource => {
    const fail = (place: string, what: string): never => {
      throw new BuildError(`${path}: sources[${i}]${place} ${what}`)
    }
    if (names.has(entry.name)) fail('.name', `"${entry.name}" is the name of an earlier source`)
    names.add(entry.name)
    const box = entry.filter?.box
    if (box !== undefined && box.south > box.north) fail('.filter.box', 'has south above north')
    if (entry.folder === undefined && !FOLDERLESS.has(entry.kind)) fail('', 'needs a folder')
    const folder = entry.folder === undefined ? '' : resolve(base, entry.folder)
    if (entry.fetch !== undefined) {
      const other = folders.get(folder)
      // Each source removes files that it no longer fetches.
      if (other !== undefined) fail('.folder', `is the folder that "${other}" fetches into`)
      folders.set(folder, entry.name)
    }
    return {
      name: entry.name,
      kind: entry.kind,
      folder,
      downloads: (entry.fetch ?? []).map((download, n) => {
        const failAt = (what: string): never => fail(`.fetch[${n}]`, what)
        checkTemplates(download, failAt)
        const [headers, query] = [download.headers, download.query].map((values) =>
          reveal(values, environment, failAt),
        )
        return { ...download, headers, query }
      }),
      refresh: secondsOf('refresh', entry, MOST_REFRESH_DAYS, fail),
      fetchWithin: secondsOf('fetchWithin', entry, MOST_FETCH_DAYS, fail),
      source: open(entry, folder, (what) => fail('', what)),
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

/** Keeps each schema compiled. */
const AJV = new Ajv({ allErrors: true, strict: false, verbose: true })
const NO_OPTIONS = { maxProperties: 0 }

function parseFile(path: string): ConfigurationFile {
  let value: unknown
  try {
    const written = UTF_8.decode(readRegularFileSync(path, MAX_FILE_BYTES))
    // Blanks stand in for comments, so that a fault keeps its line and column.
    value = JSON.parse(stripJsonComments(written, { trailingCommas: true }))
  } catch (error) {
    let what = `cannot be read ${codeInWords(error)}`
    if (error instanceof SyntaxError) what = `is not JSON: ${error.message}`
    else if (error instanceof UnfitFile) what = error.message
    else if (error instanceof TypeError) what = 'is not UTF-8'
    throw new BuildError(`${path}: ${what}`)
  }
  const validate = AJV.compile<ConfigurationFile>(CONFIGURATION_SCHEMA)
  if (!validate(value)) throw faultsOf(path, validate.errors ?? [], '')
  for (const [i, { kind, options }] of value.sources.entries()) {
    const fits = AJV.compile(KINDS[kind].options ?? NO_OPTIONS)
    if (options !== undefined && !fits(options))
      throw faultsOf(path, fits.errors ?? [], `/sources/${i}/options`)
  }
  return value
}

/** @param place JSON pointer to what was checked */
function faultsOf(path: string, errors: readonly ErrorObject[], place: string): BuildError {
  const faults = [
    ...new Set(
      errors
        // A fault of a key is reported for the object that has it.
        .filter(({ propertyName }) => propertyName === undefined)
        .map((error) => faultText({ ...error, instancePath: place + error.instancePath })),
    ),
  ]
  const rest = faults.length > 5 ? `; and ${faults.length - 5} more` : ''
  return new BuildError(`${path}: ${faults.slice(0, 5).join('; ')}${rest}`)
}

/** The schema's name of a type, as the file writes it. */
const TYPES: { readonly [type: string]: string } = {
  object: 'an object in { }',
  array: 'a list in [ ]',
  string: 'a text in quotes',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
}

/** `sources[2].fetch[0].url must be …`. */
function faultText({ instancePath, keyword, message, params, parentSchema, data }: ErrorObject): string {
  const place = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
  const at = place === '' ? 'the file' : place
  const { additionalProperty, allowedValues, limit, missingProperty, propertyName, type } = params as {
    readonly [name: string]: string
  }
  const { description, propertyNames } = (parentSchema ?? {}) as {
    description?: string
    propertyNames?: { description?: string }
  }
  const sentences: { readonly [keyword: string]: string | undefined } = {
    propertyNames: `has the key "${propertyName}", which is not ${propertyNames?.description}`,
    pattern: description === undefined ? undefined : `must be ${description}`,
    additionalProperties: `has an unknown key "${additionalProperty}"`,
    type: Object.hasOwn(TYPES, type) ? `must be ${TYPES[type]}` : undefined,
    required: `lacks "${missingProperty}"`,
    minItems: `must have ${limit} or more elements`,
    maxProperties: Number(limit) === 0 ? 'must be absent: this kind of source takes none' : undefined,
    enum:
      typeof data === 'string'
        ? `is unknown: ${unknownWord(data, [allowedValues].flat().map(String))}`
        : `must be one of ${[allowedValues].flat().join(', ')}`,
  }
  return `${at} ${sentences[keyword] ?? message ?? 'is wrong'}`
}

function secondsOf(
  key: 'refresh' | 'fetchWithin',
  { [key]: duration = DEFAULT_DURATION }: FileSource,
  mostDays: number,
  fail: (place: string, what: string) => never,
): number {
  const seconds = Number(duration.slice(0, -1)) * SECONDS[duration.slice(-1)]
  return seconds <= mostDays * SECONDS.d ? seconds : fail(`.${key}`, `must be at most ${mostDays}d`)
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
    fail('has words both of a day and of a range of days in its url')
  }
  // Without these words in `to`, one file would replace another.
  if (stations !== undefined && !inPath.has('station')) fail('needs {station} in "to"')
  if (byDay && ![...DAY_WORDS].every((word) => inPath.has(word))) fail('needs {YYYY}, {MM} and {DD} in "to"')
  if (!byDay && [...inPath].some((word) => word !== 'station'))
    fail('names days in "to", so "url" has to name them too')
}

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
  const given = Object.entries({ network, label, aliases, credit, licence })
  const info = Object.fromEntries(given.filter(([, value]) => value !== undefined))
  const terms: SourceTerms = {
    name,
    info,
    dropsSpikes: entry.spikes === 'drop',
    drop: (entry.drop ?? []).map((one, i) => takenBack(one, (what) => fail(`.drop[${i}] ${what}`))),
    accepts: acceptance(entry.filter),
  }
  return { ...source, complete: complete ?? source.complete ?? true, terms }
}

function takenBack(
  { station, from, until, values }: NonNullable<FileSource['drop']>[number],
  fail: (what: string) => never,
): TakenBack {
  const [first, end] = [from, until].map((text) => {
    const time = new Date(text)
    // Date turns 30 February into 2 March.
    const exists = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text.slice(0, 10))
    return exists ? time.getTime() / 1000 : fail('names a day or a time that does not exist')
  })
  if (end <= first) fail('has "until" at or before "from"; "until" is the first time that stays')
  return { station: station.toLowerCase(), from: first, until: end, measures: values ?? null }
}

/** The filter of a source; identifiers and types are compared without case. */
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

/**
 * Tide stations with harmonic constituents: `@neaps/tide-database` (`tides:database`, or no folder in a
 * configuration), or a folder of station files in its JSON shape (`tides:FOLDER`). Only reference stations
 * with a licence for commercial use are taken: a subordinate station corrects the constituents of another.
 */
import { join } from 'node:path'
import { MAX_AMPLITUDE, constituentOf } from '../sea/tidal-constituents.ts'
import { listSource, parseBounded, UnusableFile, wholeFile, WholeFiles } from './reading/source-files.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import { BuildError } from '../system/build-error.ts'
import type { HarbourRecord } from '../sea/records.ts'
import { wrapLongitude } from '../sea/geo.ts'
import { conversionOf } from './reading/units.ts'
import { cleanName, MOST_OF_CREDIT } from './reading/fields.ts'

/** Bytes; a station file has some 6 KB, and the harbour with most constituents has 120. */
const MAX_STATION_BYTES = 2 ** 20
const MAX_CONSTITUENTS = 256
/** m; national levelling datums and chart datums lie within some metres of the sea. */
const MAX_DATUM = 100
/** m; a larger constituent that is unknown makes its harbour useless. */
const MAX_UNKNOWN_AMPLITUDE = 0.05

/**
 * TICON counts the phases of these from another quarter turn than other publishers. At gauges that both have,
 * M1 differs by 104 degrees (386 gauges), 2MK5 by 91 (five), 2MO5 by −81 (one), others by at most 8.
 */
const TICON_TURNS: { readonly [name: string]: number } = { M1: 90, '2MK5': 90, '2MO5': -90 }

/**
 * TICON's manual gives 3N2 the speed of MKS2, and TICON lists both, with other values. The data do not decide
 * which speed its 3N2 has: neighbouring gauges (264 pairs) agree about 3N2, MKS2 and their sum alike, and its
 * phases hardly follow from those of N2 and 2N2 (R = 0.34 at 299 gauges with large tides). Leaving it out is
 * the cautious choice.
 */
const TICON_UNKNOWN = '3N2'

/**
 * The sum of all amplitudes in heights of HAT above mean sea level: from 0.95 to 2.32 at all 3593 reference
 * stations of the database that have HAT. A foot is 0.3 m, so that a station in two units is outside.
 */
const LEAST_OF_HIGHEST = 0.8
const MOST_OF_HIGHEST = 3

export const openTides: OpenSource = (argument) => ({
  read: (sink, context) =>
    argument === '' || argument === 'database'
      ? readDatabase(sink, context)
      : readFolder(argument, sink, context),
})

async function readDatabase(sink: Sink, { report }: SourceContext): Promise<void> {
  // On demand only: the package holds 31 MB, and a server never needs it.
  const { stations } = await import('@neaps/tide-database')
  const file = report.file('@neaps/tide-database')
  const nameOf = rightNames(stations, report)
  for (const station of stations) {
    // The list also holds stations of tidal currents.
    if (station.kind !== 'tide') continue
    try {
      sink.harbour({ ...harbourOf(station, station.id, file), ...nameOf(station) })
      file.rows(1)
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error
      file.skipped(`tide station left out: ${error.message}`)
    }
  }
  file.end()
}

/** The words of an identifier before code, country and source: `ticon/west_bay_harbour-wbh-gbr-cco`. */
const ID_WORDS = /^[^/]+\/(.+)-[^-]+-[^-]+-[^-]+$/

const letters = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z]/g, '')

interface NamedStation {
  readonly id: string
  readonly name: string
}

/**
 * The right name of a station with another one's name: seven British stations of the database have each
 * other's names, as West Bay has "Scarborough", and positions of their own. An identifier counts if its words
 * are the name of another station, not its own.
 */
function rightNames(
  stations: readonly NamedStation[],
  report: SourceContext['report'],
): (station: NamedStation) => { name?: string } {
  const known = new Map(stations.map(({ name }) => [letters(name), name]))
  return ({ id, name }) => {
    const own = letters(ID_WORDS.exec(id)?.[1] ?? '')
    const meant = known.get(own)
    const isAlike = own.includes(letters(name)) || letters(name).includes(own)
    if (own === '' || meant === undefined || isAlike) return {}
    report.doubt({
      what: "a harbour has another one's name, and the words of its identifier count",
      examples: [`${id}: ${meant}, not ${name}`],
    })
    return { name: cleanName(meant) }
  }
}

async function readFolder(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files } = await listSource('tides', folder)
  if (files.length === 0) throw new BuildError(`tides: ${folder} holds no station`)
  const whole = new WholeFiles('tides', report)
  for (const name of files) {
    const path = join(folder, name)
    const identifier = name.replace(/\.json$/i, '')
    await whole.use(path, async () => {
      if (identifier === name) throw new UnusableFile('is not a JSON file')
      const parsed = parseBounded(wholeFile(path, MAX_STATION_BYTES))
      if ('fault' in parsed) throw new UnusableFile('is not JSON')
      const file = report.file(path)
      sink.harbour(harbourOf(parsed.value, identifier, file))
      file.rows(1)
      file.end()
    })
  }
  whole.expectUsed()
}

function expect(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new UnusableFile(otherwise)
}

/** A station in the database's shape as a harbour. @throws UnusableFile where it cannot be one */
function harbourOf(station: unknown, identifier: string, file: FileReport): HarbourRecord {
  const { name, latitude, longitude, type, source, license, attribution, datums, chart_datum, ...rest } =
    fieldsOf(station)
  const unit = rest.units ?? 'm'
  const metres = typeof unit === 'string' ? conversionOf('significantHeight', unit)?.factor : undefined
  expect(metres !== undefined, 'has levels in an unknown unit')
  expect(type === 'reference', 'is not a reference station')
  const { type: licence, commercial_use } = fieldsOf(license)
  expect(commercial_use === true, 'has a licence that does not allow commercial use')
  expect(typeof name === 'string' && cleanName(name) !== '', 'has no name')
  expect(isWithin(latitude, 90) && isWithin(longitude, 360), 'has no position on the globe')
  const levels = fieldsOf(datums)
  const meanLevel = levels.MSL
  const chartDatum = typeof chart_datum === 'string' ? levels[chart_datum] : undefined
  const isLevelled = isWithin(meanLevel, MAX_DATUM) && isWithin(chartDatum, MAX_DATUM)
  expect(isLevelled, 'has no mean sea level or no chart datum')
  const { name: publisher, url } = fieldsOf(source)
  expect(typeof publisher === 'string' && cleanName(publisher) !== '', 'names no source')
  const constituents = constituentsOf(rest.harmonic_constituents, /\bTICON/.test(publisher), metres, file)
  const highest = Number(levels.HAT) - meanLevel
  const share = constituents.reduce((sum, { amplitude }) => sum + amplitude, 0) / (highest * metres)
  expect(
    !(share < LEAST_OF_HIGHEST || share > MOST_OF_HIGHEST),
    'has amplitudes that do not fit its highest astronomical tide (HAT): are they in different units?',
  )
  const credits = [
    `${publisher} (${typeof licence === 'string' ? licence : 'free'})`,
    ...[attribution, url].filter((text) => typeof text === 'string').slice(0, 1),
  ]
  return {
    identifier,
    name: cleanName(name),
    lat: latitude,
    lng: wrapLongitude(longitude),
    datumOffset: (meanLevel - chartDatum) * metres,
    credit: cleanName(credits.join('. '), MOST_OF_CREDIT),
    constituents,
  }
}

function constituentsOf(
  list: unknown,
  isTicon: boolean,
  metres: number,
  file: FileReport,
): HarbourRecord['constituents'] {
  const isList = Array.isArray(list) && list.length > 0 && list.length <= MAX_CONSTITUENTS
  expect(isList, `does not have 1 to ${MAX_CONSTITUENTS} constituents`)
  const constituents = new Map<string, HarbourRecord['constituents'][number]>()
  for (const entry of list) {
    const { name: spelling, amplitude: size, phase: lag } = fieldsOf(entry)
    const isWhole =
      typeof spelling === 'string' && isWithin(lag, 3600) && typeof size === 'number' && size >= 0
    expect(isWhole, 'has a constituent without a name, an amplitude or a phase')
    const amplitude = size * metres
    expect(amplitude <= MAX_AMPLITUDE, `has a constituent of more than ${MAX_AMPLITUDE} m`)
    const name = constituentOf(spelling)?.name
    if (isTicon && name === TICON_UNKNOWN) {
      file.skipped('a constituent with a speed that its publisher contradicts')
      continue
    }
    if (name === undefined) {
      const isSmall = amplitude <= MAX_UNKNOWN_AMPLITUDE
      expect(isSmall, `has an unknown constituent of more than ${MAX_UNKNOWN_AMPLITUDE} m`)
      file.skipped('an unknown constituent')
      continue
    }
    const phase = isTicon && Object.hasOwn(TICON_TURNS, name) ? lag + TICON_TURNS[name] : lag
    const other = constituents.get(name)
    if (other === undefined) {
      if (amplitude > 0) constituents.set(name, { name, amplitude, phase })
    } else if (other.amplitude === amplitude && other.phase === phase) {
      file.skipped('a constituent that is listed again')
    } else throw new UnusableFile(`lists the constituent ${name} twice with different values`)
  }
  expect(constituents.size > 0, 'has no tide')
  return [...constituents.values()]
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? (value as { [name: string]: unknown }) : {}
}

function isWithin(value: unknown, limit: number): value is number {
  return typeof value === 'number' && Math.abs(value) <= limit
}

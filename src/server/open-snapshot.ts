/** Reads a published snapshot as plain objects, and checks every byte as a server does. */
import { Segments, type MeasureColumn, type MonthRows } from '../index/segments.ts'
import { segmentsOf } from './index-snapshot.ts'
import { MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import { cataloguedBuoys, readCatalog, type CataloguedBuoy } from '../snapshot/catalog.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { readMonth } from '../snapshot/part-kinds.ts'
import { decodePart } from '../snapshot/part-columns.ts'
import { loadSnapshot, type LoadedPart, type LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import { finish } from '../system/steps.ts'

/** A buoy of a snapshot. */
export interface Buoy {
  readonly id: number
  readonly slug: string
  readonly name: string
  /** Name of its network. */
  readonly source: string
  /** The buoy's identifier in that network. */
  readonly sourceIdentifier: string
  /** Degrees north. */
  readonly lat: number
  /** Degrees east, −180 to 180. */
  readonly lng: number
  /** ISO 3166-1 alpha-2; null on the open sea. */
  readonly country: string | null
  /** Name in the IANA time zone database. */
  readonly timezone: string
  /** A fixed point of the sea that satellite passes feed. */
  readonly virtual: boolean
  /** How many readings the snapshot has of it. */
  readonly readingCount: number
}

/** One reading. What was not measured is null, never 0. */
export interface Reading {
  readonly time: Date
  /** m */
  readonly significantHeight: number
  /** m */
  readonly maximumHeight: number | null
  /** s */
  readonly period: number | null
  /** s */
  readonly peakPeriod: number | null
  /** Degrees that the waves come from, 0 is north. */
  readonly direction: number | null
  /** °C */
  readonly waterTemperature: number | null
  /** km/h */
  readonly windSpeed: number | null
  /** Degrees that the wind comes from, 0 is north. */
  readonly windDirection: number | null
  /** km/h */
  readonly gustSpeed: number | null
  /** The swell and the wind sea apart: m, s, and degrees that they come from. */
  readonly swellHeight: number | null
  readonly swellPeriod: number | null
  readonly swellDirection: number | null
  readonly windWaveHeight: number | null
  readonly windWavePeriod: number | null
  readonly windWaveDirection: number | null
}

/** Selects readings of a buoy. */
export interface ReadingRange {
  /** The first time that is wanted; the oldest reading without it. */
  readonly from?: Date
  /** The first time that is not wanted any more; up to the newest reading without it. */
  readonly until?: Date
}

/** A snapshot in memory. It never changes. */
export interface Snapshot {
  /** Snapshots with the same content have the same id. */
  readonly id: string
  /** The data's time. */
  readonly asOf: Date
  readonly publishedAt: Date
  /** Whether any of its data are made up, as those of the demo. */
  readonly demo: boolean
  /** Ascending by id. */
  readonly buoys: readonly Buoy[]
  /** The buoy with this id or slug; null where there is none. */
  buoy(idOrSlug: number | string): Buoy | null
  /** Oldest first. @throws RangeError where there is no such buoy, or a time is not a date */
  readings(buoy: number | string | Buoy, range?: ReadingRange): IterableIterator<Reading>
  /** Null for a buoy without readings. @throws RangeError where there is no such buoy */
  newestReading(buoy: number | string | Buoy): Reading | null
}

/**
 * Opens the snapshot that is published in a folder.
 * @param dir the folder, such as `data/snapshots`
 * @throws SnapshotError (`name` is `'SnapshotError'`) when there is none, or a file of it is missing, cut,
 * changed or malformed; the message names the file
 */
export async function openSnapshot(dir: string): Promise<Snapshot> {
  const snapshot = await loadSnapshot(dir)
  const { parts } = snapshot
  const catalogue = parts.find(({ entry }) => entry.kind === 'catalog')
  if (catalogue === undefined) throw new SnapshotError(`${dir}: the snapshot has no catalogue`)
  const catalog = readCatalog(decoded(catalogue), catalogue.entry.file)
  const months = parts
    .filter(({ entry }) => entry.kind === 'readings')
    .map((part) => readMonth(decoded(part), part.entry.month!, part.entry.file))
    .sort((a, b) => a.month - b.month)
  const segments = finish(segmentsOf(catalog.id, months))
  const buoys = cataloguedBuoys(catalog).map((buoy, ordinal) => buoyOf(buoy, segments.count(ordinal)))
  return new OpenSnapshot(snapshot, buoys, segments)
}

const decoded = ({ entry, bytes }: LoadedPart): ReturnType<typeof decodePart> => decodePart(bytes, entry.file)

function buoyOf(buoy: CataloguedBuoy, readingCount: number): Buoy {
  const { id, slug, name, source, identifier, lat, lng, country, timezone, virtual = false } = buoy
  return Object.freeze({
    id,
    slug,
    name,
    source,
    sourceIdentifier: identifier,
    lat,
    lng,
    country: country === '' ? null : country,
    timezone,
    virtual,
    readingCount,
  })
}

class OpenSnapshot implements Snapshot {
  readonly id: string
  readonly asOf: Date
  readonly publishedAt: Date
  readonly demo: boolean
  readonly buoys: readonly Buoy[]
  readonly #segments: Segments
  readonly #ordinals = new Map<number | string, number>()

  constructor({ id, asOf, publishedAt, demo }: LoadedSnapshot, buoys: readonly Buoy[], segments: Segments) {
    this.id = id
    this.asOf = new Date(asOf * 1000)
    this.publishedAt = new Date(publishedAt * 1000)
    this.demo = demo
    this.buoys = Object.freeze(buoys)
    this.#segments = segments
    for (const [ordinal, buoy] of buoys.entries())
      this.#ordinals.set(buoy.id, ordinal).set(buoy.slug, ordinal)
  }

  buoy(idOrSlug: number | string): Buoy | null {
    return this.buoys[this.#ordinals.get(idOrSlug) ?? -1] ?? null
  }

  readings(buoy: number | string | Buoy, { from, until }: ReadingRange = {}): IterableIterator<Reading> {
    const ordinal = this.#ordinalOf(buoy)
    const first = from === undefined ? 0 : this.#positionOf(ordinal, from, 'from')
    const end =
      until === undefined ? this.#segments.count(ordinal) : this.#positionOf(ordinal, until, 'until')
    return this.#between(ordinal, first, end)
  }

  newestReading(buoy: number | string | Buoy): Reading | null {
    const ordinal = this.#ordinalOf(buoy)
    const count = this.#segments.count(ordinal)
    return count === 0 ? null : this.#between(ordinal, count - 1, count).next().value!
  }

  *#between(ordinal: number, first: number, end: number): Generator<Reading, undefined> {
    for (const { month, from, count } of this.#segments.runs(ordinal, first, end)) {
      for (let row = from; row < from + count; row++) yield readingAt(month, row)
    }
  }

  #ordinalOf(buoy: number | string | Buoy): number {
    const wanted = typeof buoy === 'object' ? buoy.id : buoy
    const ordinal = this.#ordinals.get(wanted)
    if (ordinal === undefined) throw new RangeError(`the snapshot has no buoy ${JSON.stringify(wanted)}`)
    return ordinal
  }

  #positionOf(ordinal: number, time: Date, name: string): number {
    const epoch = time instanceof Date ? time.getTime() / 1000 : NaN
    if (Number.isNaN(epoch)) throw new RangeError(`${name}: expected a valid Date`)
    return this.#segments.positionOf(ordinal, epoch)
  }
}

function readingAt({ time, measures }: MonthRows, row: number): Reading {
  const values = MEASURE_NAMES.map((name) => [name, valueAt(measures[name], MEASURES[name], row)])
  return { time: new Date(time[row] * 1000), ...(Object.fromEntries(values) as Omit<Reading, 'time'>) }
}

function valueAt(
  { codes, mask }: MeasureColumn,
  { missing, scale }: { missing: number; scale: number },
  row: number,
): number | null {
  const code = codes[row & mask]
  return code === missing ? null : code / scale
}

/** One snapshot's frozen columns with their shared indexes. A buoy is an ordinal: its position in the ids. */
import type { Usual } from '../climate/usual.ts'
import { lowerBound } from '../index/bisect.ts'
import { Aggregates, type AggregateYear } from '../index/day-aggregates.ts'
import { NearPoints } from '../index/near.ts'
import { Boxes } from '../index/boxes.ts'
import { Forecast } from '../index/forecast.ts'
import type { Groups } from '../index/groups.ts'
import { Passes, type PassColumns, type PassIndexes } from '../index/passes.ts'
import type { Latest } from '../index/latest.ts'
import { Segments, type MonthRows, type SegmentColumns } from '../index/segments.ts'
import { Tides } from '../index/tides.ts'
import { Search, type SearchColumns } from '../index/name-search.ts'
import { readAggregates, readForecast, readMonth, readPasses, readTides } from '../snapshot/part-kinds.ts'
import { readCatalog, type Catalog } from '../snapshot/catalog.ts'
import { readSpectra, type SpectraMonth } from '../snapshot/spectra.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { decodePart } from '../snapshot/part-columns.ts'
import type { LoadedPart, LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import type { Steps } from '../system/steps.ts'
import type { SpotRecord } from '../sea/records.ts'

export interface Dataset {
  readonly snapshotId: string
  readonly asOf: number
  readonly publishedAt: number
  /** Whether any of the data are made up. */
  readonly demo: boolean
  readonly catalog: Catalog
  readonly buoyCount: number
  /** Readings, and rows without a significant height, which only feed series. */
  readonly readings: Segments
  readonly weather: Segments
  readonly spectra: Segments<SpectraMonth>
  /** Empty where an older program built the snapshot. */
  readonly aggregates: Aggregates
  /** 1 for a buoy with a reading in the active window before the snapshot's time. */
  readonly active: Uint8Array
  readonly latest: Latest
  readonly usual: Usual
  readonly groups: Groups
  readonly near: NearPoints
  /** Whether a buoy is active and physical, not a point that only satellites pass over. */
  readonly isActiveAndPhysical: (ordinal: number) => boolean
  readonly boxes: Boxes
  readonly search: Search
  readonly passes: Passes
  readonly forecast: Forecast | null
  readonly tides: Tides | null
  readonly spots: ReadonlyMap<number, SpotRecord>
  /** The files that the snapshot was exported as: the value of `data` on the wire. */
  readonly files: Uint8Array
  readonly parts: OpenedParts
  ordinalOfId(id: number): number
  ordinalOfSlug(slug: string): number
}

interface OpenedCatalog extends Catalog {
  ordinalBySlug: ReadonlyMap<string, number>
  spotById: ReadonlyMap<number, SpotRecord>
}

type OpenedPart =
  | { kind: 'catalog'; catalog: OpenedCatalog }
  | { kind: 'forecast'; forecast: Forecast }
  | { kind: 'passes'; passes: PassColumns }
  | { kind: 'tides'; tides: Tides }
  | { kind: 'readings' | 'weather'; rows: MonthRows }
  | { kind: 'spectra'; month: SpectraMonth }
  | { kind: 'aggregates'; year: AggregateYear }

/** Opened parts by file. A file's name identifies its content. */
export type OpenedParts = ReadonlyMap<string, OpenedPart>

/**
 * Opens the parts of a snapshot. Parts that `before` has are taken over.
 * @throws SnapshotError when one is malformed
 */
export function* openParts({ parts }: LoadedSnapshot, before?: OpenedParts): Steps<OpenedParts> {
  const opened = new Map<string, OpenedPart>()
  for (const loaded of parts) {
    const { file } = loaded.entry
    opened.set(file, before?.get(file) ?? openPart(loaded))
    yield
  }
  return opened
}

function openPart({ entry, bytes }: LoadedPart): OpenedPart {
  const { kind, file, month } = entry
  const part = decodePart(bytes, file)
  switch (kind) {
    case 'catalog': {
      const catalog = readCatalog(part, file)
      const ordinalBySlug = new Map(catalog.slugs.map((slug, ordinal) => [slug, ordinal]))
      const spotById = new Map(catalog.spots.map((spot) => [spot.id, spot]))
      return { kind, catalog: { ...catalog, ordinalBySlug, spotById } }
    }
    case 'forecast':
      return { kind, forecast: new Forecast(readForecast(part, file)) }
    case 'passes':
      return { kind, passes: readPasses(part, file) }
    case 'tides':
      return { kind, tides: new Tides(readTides(part, file)) }
    case 'readings':
    case 'weather':
      return { kind, rows: readMonth(part, month!, file) }
    case 'spectra':
      return { kind, month: readSpectra(part, month!, file) }
    case 'aggregates':
      return { kind, year: readAggregates(part, month!, file) }
  }
}

/** Parts by kind; rows by month. @throws SnapshotError when there is no catalogue */
export function partsByKind(opened: OpenedParts) {
  let catalog: OpenedCatalog | null = null
  let passes: PassColumns | null = null
  let forecast: Forecast | null = null
  let tides: Tides | null = null
  const readings: MonthRows[] = []
  const weather: MonthRows[] = []
  const spectra: SpectraMonth[] = []
  const years: AggregateYear[] = []
  for (const part of opened.values()) {
    if (part.kind === 'catalog') catalog = part.catalog
    else if (part.kind === 'forecast') forecast = part.forecast
    else if (part.kind === 'passes') passes = part.passes
    else if (part.kind === 'tides') tides = part.tides
    else if (part.kind === 'spectra') spectra.push(part.month)
    else if (part.kind === 'aggregates') years.push(part.year)
    else (part.kind === 'readings' ? readings : weather).push(part.rows)
  }
  if (catalog === null) throw new SnapshotError('the snapshot has no catalogue')
  const byMonth = (a: MonthRows, b: MonthRows): number => a.month - b.month
  return {
    catalog,
    passes,
    forecast,
    tides,
    readings: readings.sort(byMonth),
    weather: weather.sort(byMonth),
    spectra: spectra.sort(byMonth),
    years,
  }
}

/** The same for all threads, in shared memory. */
export interface Indexes {
  readonly readings: SegmentColumns
  readonly weather: SegmentColumns
  readonly spectra: SegmentColumns
  readonly active: Uint8Array
  readonly latest: Latest
  readonly usual: Usual
  readonly groups: Groups
  readonly search: SearchColumns
  readonly passes: PassIndexes
}

/** @throws SnapshotError when a part is missing */
export function openDataset(snapshot: LoadedSnapshot, parts: OpenedParts, indexes: Indexes): Dataset {
  const { catalog, passes, forecast, tides, readings, weather, spectra, years } = partsByKind(parts)
  const { id, lat, lng, virtual } = catalog
  const { active, latest, usual, groups } = indexes
  const boxes = new Boxes(catalog.boxes)
  return {
    snapshotId: snapshot.id,
    asOf: snapshot.asOf,
    publishedAt: snapshot.publishedAt,
    demo: snapshot.demo,
    catalog,
    buoyCount: id.length,
    readings: new Segments(readings, indexes.readings),
    weather: new Segments(weather, indexes.weather),
    spectra: new Segments(spectra, indexes.spectra),
    aggregates: new Aggregates(id, years),
    active,
    latest,
    usual,
    groups,
    near: new NearPoints(lat, lng, catalog.points, boxes),
    isActiveAndPhysical: (ordinal) => active[ordinal] === 1 && virtual[ordinal] === 0,
    boxes,
    search: new Search(catalog.words, indexes.search, active),
    passes: new Passes(passes, indexes.passes),
    forecast,
    tides,
    spots: catalog.spotById,
    files: new Uint8Array(snapshot.files),
    parts,
    ordinalOfId: (wanted) => findId(id, wanted),
    ordinalOfSlug: (slug) => catalog.ordinalBySlug.get(slug) ?? -1,
  }
}

/** Ids count from 1 and few are left out, so the first look usually finds `wanted`. */
export function findId(ids: Uint32Array, wanted: number): number {
  const likely = wanted - 1
  if (ids[likely] === wanted) return likely
  const at = lowerBound(ids, wanted)
  return ids[at] === wanted ? at : -1
}

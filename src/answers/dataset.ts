/**
 * What every reader gets: one snapshot's frozen columns and the indexes over them. A buoy is an ordinal, its
 * position in the ascending ids. Each thread builds it over the same shared memory; nothing here changes
 * afterwards.
 */
import { lowerBound } from '../index/bisect.ts'
import { Around } from '../index/around.ts'
import { Boxes } from '../index/boxes.ts'
import { Forecast } from '../index/forecast.ts'
import { buildGroups, type Groups } from '../index/groups.ts'
import { Passes } from '../index/passes.ts'
import { Nearby } from '../index/nearby.ts'
import { NearestPoints } from '../index/nearest.ts'
import { Points } from '../index/points.ts'
import { latestOf, type Latest } from '../index/latest.ts'
import { Segments, segmentsOf } from '../index/segments.ts'
import { Tides } from '../index/tides.ts'
import { Ranking } from '../index/ranking.ts'
import { Spellings } from '../index/spellings.ts'
import { Words } from '../index/words.ts'
import { readCatalog, type Catalog } from '../snapshot/catalog.ts'
import { readForecast } from '../snapshot/forecast.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { decodePart } from '../snapshot/part.ts'
import { readMonth } from '../snapshot/months.ts'
import type { MonthRows } from '../index/segments.ts'
import { readPasses } from '../snapshot/passes.ts'
import type { PassColumns } from '../index/passes.ts'
import type { LoadedSnapshot } from '../snapshot/read.ts'
import type { Steps } from '../system/steps.ts'
import { readTides } from '../snapshot/tides.ts'
import type { SpotRecord } from '../sea/records.ts'

/** A buoy farther away says nothing about a position (contract, "Conditions nearest buoy"). */
const CONDITIONS_REACH_KM = 50

export interface Dataset {
  readonly snapshotId: string
  /** The data's time, epoch seconds. */
  readonly asOf: number
  readonly publishedAt: number
  /** Whether any of its data are made up. */
  readonly demo: boolean
  readonly catalog: Catalog
  readonly buoyCount: number
  /**
   * Readings, and the rows without a significant height that only feed the series of wind and temperature.
   */
  readonly readings: Segments
  readonly weather: Segments
  /** 1 for a buoy whose newest reading is no older than the active window at the snapshot's time. */
  readonly active: Uint8Array
  readonly latest: Latest
  readonly groups: Groups
  readonly points: Points
  /** Active physical buoys: the nearest few to a position. */
  readonly nearest: NearestPoints
  /** Physical buoys, within the reach of the combined conditions. */
  readonly physicalNearby: Nearby
  /** All buoys: those within a radius. */
  readonly around: Around
  readonly boxes: Boxes
  readonly words: Words
  /** What a search finds beyond `words`. */
  readonly spellings: Spellings
  readonly passes: Passes
  /** Null when the snapshot has no forecast. */
  readonly forecast: Forecast | null
  /** Null when the snapshot has no harbours. */
  readonly tides: Tides | null
  readonly spots: ReadonlyMap<number, SpotRecord>
  /** The files that it was exported as: the value of `data` on the wire. */
  readonly files: Uint8Array
  ordinalOfId(id: number): number
  ordinalOfSlug(slug: string): number
}

/** `activeWithin` in seconds. @throws SnapshotError when a part is missing or malformed. */
export function* openDataset(snapshot: LoadedSnapshot, activeWithin: number): Steps<Dataset> {
  let catalog: Catalog | null = null
  let passes: PassColumns | null = null
  let forecast: Forecast | null = null
  let tides: Tides | null = null
  const readings: MonthRows[] = []
  const weather: MonthRows[] = []
  for (const { entry, buffer } of snapshot.parts) {
    const part = decodePart(new Uint8Array(buffer), entry.file)
    yield
    if (entry.kind === 'catalog') catalog = readCatalog(part, entry.file)
    if (entry.kind === 'forecast') forecast = new Forecast(readForecast(part, entry.file))
    if (entry.kind === 'passes') passes = readPasses(part, entry.file)
    if (entry.kind === 'tides') tides = new Tides(readTides(part, entry.file))
    if (entry.kind === 'readings') readings.push(readMonth(part, entry.month!, entry.file))
    if (entry.kind === 'weather') weather.push(readMonth(part, entry.month!, entry.file))
    yield
  }
  if (catalog === null) throw new SnapshotError('the snapshot has no catalogue')
  const { id, lat, lng, slugs, virtual } = catalog
  const byMonth = (a: MonthRows, b: MonthRows): number => a.month - b.month
  const readingSegments = yield* segmentsOf(id, readings.sort(byMonth))
  const weatherSegments = yield* segmentsOf(id, weather.sort(byMonth))
  const activeSince = snapshot.asOf - activeWithin
  const latest = yield* latestOf(readingSegments)
  const active = activeBuoys(id.length, readingSegments, activeSince)
  yield
  const groups = buildGroups(catalog, active)
  yield
  const points = new Points(catalog.points, lat, lng)
  yield
  const nearest = new NearestPoints(lat, lng, points, (i) => active[i] === 1 && virtual[i] === 0)
  yield
  const physicalNearby = new Nearby(lat, lng, CONDITIONS_REACH_KM, (i) => virtual[i] === 0)
  yield
  const around = new Around(lat, lng, active)
  yield
  const words = new Words(catalog.words, active)
  yield
  const countries = Array.from(catalog.country, (country) => catalog.countries[country]?.name ?? '')
  const ranking = new Ranking(active, catalog.words.rank)
  const spellings = yield* Spellings.open({ ...catalog, countries }, ranking)
  yield
  const ordinalOfId = (wanted: number): number => findId(id, wanted)
  const ordinalBySlug = new Map(slugs.map((slug, ordinal) => [slug, ordinal]))
  return {
    snapshotId: snapshot.id,
    asOf: snapshot.asOf,
    publishedAt: snapshot.publishedAt,
    demo: snapshot.demo,
    catalog,
    buoyCount: id.length,
    readings: readingSegments,
    weather: weatherSegments,
    active,
    latest,
    groups,
    points,
    nearest,
    physicalNearby,
    around,
    boxes: new Boxes(catalog.boxes),
    words,
    spellings,
    passes: new Passes(passes, id.length, ordinalOfId, activeSince),
    forecast,
    tides,
    spots: new Map(catalog.spots.map((spot) => [spot.id, spot])),
    files: new Uint8Array(snapshot.files),
    ordinalOfId,
    ordinalOfSlug: (slug) => ordinalBySlug.get(slug) ?? -1,
  }
}

/** Time of a buoy's newest reading in epoch seconds, or −1 when it has none. */
export function newestReadingTime(readings: Segments, ordinal: number): number {
  const count = readings.count(ordinal)
  return count === 0 ? -1 : readings.timeAt(ordinal, count - 1)
}

function activeBuoys(count: number, readings: Segments, since: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, ordinal) => {
    const newest = newestReadingTime(readings, ordinal)
    return newest >= 0 && newest >= since ? 1 : 0
  })
}

/** Ids count from 1 and few are left out, so the first look mostly finds one. */
function findId(ids: Uint32Array, wanted: number): number {
  const likely = wanted - 1
  if (ids[likely] === wanted) return likely
  const at = lowerBound(ids, wanted)
  return ids[at] === wanted ? at : -1
}

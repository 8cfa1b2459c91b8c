/** Indexes a loaded snapshot, once for all serving threads, which import nothing of this. */
import { usualOf } from '../climate/usual.ts'
import { type Group, type Groups, sourceKey } from '../index/groups.ts'
import { NO_COLUMNS, type PassColumns, type PassGroup, type PassIndexes } from '../index/passes.ts'
import { type Latest, NO_DECIMALS } from '../index/latest.ts'
import { searchColumns } from '../index/search-columns.ts'
import { type MonthRows, type SegmentColumns, Segments } from '../index/segments.ts'
import type { LoadedSnapshot } from '../snapshot/read-snapshot.ts'
import { MEASURE_NAMES, MEASURES, NO_COUNTRY } from '../sea/columns.ts'
import { entryOf } from '../system/entry-of.ts'
import type { Steps } from '../system/steps.ts'
import { toShared } from '../system/thread-memory.ts'
import {
  findId,
  type Indexes,
  openDataset,
  type OpenedParts,
  openParts,
  partsByKind,
} from '../dataset/dataset.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import { renderFragments } from '../dataset/render-fragments.ts'

/** The indexes that the next snapshot takes over from the last one. */
export interface TakenOver {
  readonly indexes: Indexes
  readonly parts: OpenedParts
}

/**
 * Indexes a snapshot, with parts of the indexes of an earlier one. `activeWithin` is in seconds.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* indexSnapshot(
  snapshot: LoadedSnapshot,
  activeWithin: number,
  before: TakenOver | null = null,
): Steps<{ indexed: IndexedSnapshot; forNext: TakenOver }> {
  const parts = yield* openParts(snapshot, before?.parts)
  const indexes = yield* indexesOf(snapshot, parts, activeWithin, before?.indexes)
  const fragments = yield* renderFragments(openDataset(snapshot, parts, indexes))
  return {
    indexed: { ...snapshot, indexes, fragments },
    forNext: { indexes, parts: withoutRows(parts) },
  }
}

/** Kept parts of rows would keep their memory, even if nobody serves them. */
function withoutRows(parts: OpenedParts): OpenedParts {
  const rows = new Set(['readings', 'weather', 'aggregates', 'spectra'])
  return new Map([...parts].filter(([, { kind }]) => !rows.has(kind)))
}

/**
 * The indexes over a snapshot's `parts`; equal ones are taken from `before`. `activeWithin` is in seconds.
 * @throws SnapshotError when a part is missing
 */
function* indexesOf(
  snapshot: LoadedSnapshot,
  parts: OpenedParts,
  activeWithin: number,
  before: Indexes | null = null,
): Steps<Indexes> {
  const opened = partsByKind(parts)
  const { catalog } = opened
  const { id } = catalog
  const readings = yield* segmentColumns(id, opened.readings)
  const weather = yield* segmentColumns(id, opened.weather)
  const spectra = yield* segmentColumns(id, opened.spectra)
  const segments = new Segments(opened.readings, readings)
  const activeSince = snapshot.asOf - activeWithin
  const active = activeBuoys(id.length, segments, activeSince)
  yield
  const countries = Array.from(catalog.country, (country) => catalog.countries[country]?.name ?? '')
  const indexes: Indexes = {
    readings,
    weather,
    spectra,
    active,
    latest: yield* latestOf(segments, catalog.source, catalog.sources.length),
    usual: yield* usualOf(segments),
    groups: buildGroups(catalog, active),
    search: toShared(yield* searchColumns(catalog.words, { ...catalog, countries }, before?.search)),
    passes: yield* passIndexes(opened.passes, id.length, (wanted) => findId(id, wanted), activeSince),
  }
  yield
  return toShared(indexes)
}

function activeBuoys(count: number, readings: Segments, since: number): Uint8Array {
  return Uint8Array.from({ length: count }, (_, ordinal) => {
    const newest = readings.newestTime(ordinal)
    return newest >= 0 && newest >= since ? 1 : 0
  })
}

/** Columns of the catalogue; `source` and `country` are indexes into the lists. */
interface GroupColumns {
  readonly id: Uint32Array
  readonly source: Uint16Array
  readonly country: Uint16Array
  readonly sources: readonly { name: string; label: string | null; aliases: readonly string[] }[]
  readonly countries: readonly { code: string }[]
}

export function buildGroups(catalog: GroupColumns, active: Uint8Array): Groups {
  const group = (ordinals: number[]): Group => ({
    all: Uint32Array.from(ordinals),
    active: Uint32Array.from(ordinals.filter((ordinal) => active[ordinal] === 1)),
  })
  const grouped = (key: (ordinal: number) => string | null): Map<string, Group> => {
    const members = new Map<string, number[]>()
    for (let ordinal = 0; ordinal < catalog.id.length; ordinal++) {
      const name = key(ordinal)
      if (name !== null) entryOf(members, name, () => []).push(ordinal)
    }
    return new Map([...members].map(([name, ordinals]) => [name, group(ordinals)]))
  }
  const sourceKeys = catalog.sources.map(({ name }) => sourceKey(name))
  const bySource = grouped((ordinal) => sourceKeys[catalog.source[ordinal]])
  for (const [i, { label, aliases }] of catalog.sources.entries()) {
    const own = bySource.get(sourceKeys[i])
    for (const other of [label ?? '', ...aliases].map(sourceKey)) {
      // A network's own name takes precedence over another network's alias.
      if (own !== undefined && other !== '' && !bySource.has(other)) bySource.set(other, own)
    }
  }
  return {
    everywhere: group([...catalog.id.keys()]),
    bySource,
    byCountry: grouped((ordinal) => {
      const country = catalog.country[ordinal]
      return country === NO_COUNTRY ? null : catalog.countries[country].code
    }),
  }
}

/** Some 0.1 ms of work. */
const PASSES_PER_STEP = 256

/** `ordinalOf` gives −1 for unknown ids; a fresh pass has an observation since `activeSince` (epoch s). */
export function* passIndexes(
  columns: PassColumns | null,
  buoys: number,
  ordinalOf: (id: number) => number,
  activeSince: number,
): Steps<PassIndexes> {
  const { mission, first, buoy, time } = columns ?? NO_COLUMNS
  const count = mission.length
  const buoyCount = new Uint32Array(count)
  const newest = new Int32Array(buoys).fill(-1)
  const isFresh = new Uint8Array(count)
  const newestTime = new Float64Array(buoys).fill(-1)
  for (let row = 0; row < count; row++) {
    for (let o = first[row]; o < first[row + 1]; o++) {
      if (o === first[row] || buoy[o] !== buoy[o - 1]) buoyCount[row]++
      if (time[o] >= activeSince) isFresh[row] = 1
      const ordinal = ordinalOf(buoy[o])
      // At equal times the pass that began later counts: it comes first.
      if (ordinal !== -1 && time[o] > newestTime[ordinal]) {
        newestTime[ordinal] = time[o]
        newest[ordinal] = row
      }
    }
    if (row % PASSES_PER_STEP === 0) yield
  }
  const group = (rows: number[]): PassGroup => ({
    all: Uint32Array.from(rows),
    fresh: Uint32Array.from(rows.filter((row) => isFresh[row] === 1)),
  })
  const rows = [...buoyCount.keys()]
  return {
    buoyCount,
    everywhere: group(rows),
    byMission: new Map(
      [...new Set(mission)].map((index) => [index, group(rows.filter((row) => mission[row] === index))]),
    ),
    newest,
  }
}

/** A day of half-hourly readings: a single one may end with a zero, which JSON leaves out. */
const READINGS_FOR_DECIMALS = 48
/** Some 0.1 ms of work. */
const BUOYS_PER_STEP = 16

/** @param source ordinal of each buoy's source */
function* latestOf(readings: Segments, source: ArrayLike<number>, sources: number): Steps<Latest> {
  const count = readings.first.length - 1
  const has = new Uint32Array(count)
  const decimals = new Uint8Array(sources * MEASURE_NAMES.length).fill(NO_DECIMALS)
  for (let ordinal = 0; ordinal < count; ordinal++) {
    if (ordinal % BUOYS_PER_STEP === 0) yield
    const newest = readings.newestRow(ordinal)
    if (newest === null) continue
    const { month, row } = newest
    for (let i = 0; i < MEASURE_NAMES.length; i++) {
      const { codes, mask } = month.measures[MEASURE_NAMES[i]]
      if (codes[row & mask] !== MEASURES[MEASURE_NAMES[i]].missing) has[ordinal] |= 1 << i
    }
    learnDecimals(readings, ordinal, decimals.subarray(source[ordinal] * MEASURE_NAMES.length))
  }
  return { has, decimals }
}

/** Raises `decimals` to those of the buoy's newest readings. */
function learnDecimals(readings: Segments, ordinal: number, decimals: Uint8Array): void {
  const count = readings.count(ordinal)
  for (const run of readings.runs(ordinal, Math.max(0, count - READINGS_FOR_DECIMALS))) {
    for (const [i, name] of MEASURE_NAMES.entries()) {
      const { codes, mask } = run.month.measures[name]
      const { missing, scale } = MEASURES[name]
      for (let row = run.from; row < run.from + run.count; row++) {
        const code = codes[row & mask]
        if (code === missing) continue
        if (decimals[i] === NO_DECIMALS) decimals[i] = 0
        while ((code * 10 ** decimals[i]) % scale !== 0) decimals[i]++
      }
    }
  }
}

/** Some 0.1 ms of work. */
const SEGMENTED_PER_STEP = 64

/** Segments of `ids` over `months`, both ascending; rows of other buoys are not reachable. */
export function* segmentsOf(ids: Uint32Array, months: readonly MonthRows[]): Steps<Segments> {
  return new Segments(months, yield* segmentColumns(ids, months))
}

/** The columns of `segmentsOf`, which threads share. */
function* segmentColumns(ids: Uint32Array, months: readonly MonthRows[]): Steps<SegmentColumns> {
  const count = months.reduce((sum, { buoys }) => sum + buoys.length, 0)
  const segments: SegmentColumns = {
    first: new Uint32Array(ids.length + 1),
    month: new Uint16Array(count),
    from: new Uint32Array(count),
    to: new Uint32Array(count),
    before: new Uint32Array(count),
    oldest: new Uint32Array(count),
    newest: new Uint32Array(count),
  }
  const cursors = months.map(() => 0)
  let segment = 0
  for (let ordinal = 0; ordinal < ids.length; ordinal++) {
    let before = 0
    for (let m = 0; m < months.length; m++) {
      const { buoys, start } = months[m]
      let at = cursors[m]
      while (at < buoys.length && buoys[at] < ids[ordinal]) at++
      cursors[m] = at
      if (buoys[at] !== ids[ordinal]) continue
      segments.month[segment] = m
      segments.from[segment] = start[at]
      segments.to[segment] = start[at + 1]
      segments.before[segment] = before
      segments.oldest[segment] = months[m].time[start[at]]
      segments.newest[segment] = months[m].time[start[at + 1] - 1]
      before += start[at + 1] - start[at]
      segment++
    }
    segments.first[ordinal + 1] = segment
    if (ordinal % SEGMENTED_PER_STEP === 0) yield
  }
  return segments
}

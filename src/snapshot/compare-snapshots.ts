/** What distinguishes two snapshots: buoys, and readings by month. Parts that both have are not read. */
import type { MonthRows } from '../index/segments.ts'
import { NO_COUNTRY } from '../sea/columns.ts'
import { monthOf } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { ordinalOf, readCatalog, type Catalog } from './catalog.ts'
import { readMonth } from './part-kinds.ts'
import { decodePart } from './part-columns.ts'
import type { LoadedPart } from './read-snapshot.ts'
import {
  ADDED,
  CHANGED,
  columnPairs,
  eachDifference,
  NO_ROWS,
  rangeOf,
  REMOVED,
  type Change,
  type Changes,
  type Range,
} from './row-changes.ts'
import { SnapshotError, type PartKind } from './snapshot-format.ts'
import { entryOf } from '../system/entry-of.ts'

/** A snapshot, or as much of it as is compared. */
export interface ComparedSnapshot {
  id: string
  asOf: number
  parts: readonly LoadedPart[]
}

/** A month of readings every half hour: some 0.2 ms of work. */
const BUOYS_A_STEP = 2

/** Times of the first and the last reading that differ, epoch seconds. */
interface Span {
  month: number
  from: number
  to: number
  counts: [changed: number, added: number, removed: number]
}

interface Side {
  catalog: Catalog
  catalogFile: string
  months: ReadonlyMap<number, LoadedPart>
  /** Ids of the buoys that are active. */
  active: ReadonlySet<number>
}

/**
 * `activeWithin`: seconds before the time of a snapshot in which an active buoy has a reading.
 * @throws SnapshotError when a part is missing or malformed
 */
export function* changesBetween(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  activeWithin: number,
  catalogOf: (part: LoadedPart) => Catalog = decodedCatalog,
): Steps<Changes> {
  const a = yield* sideOf(before, activeWithin, catalogOf)
  const b = yield* sideOf(after, activeWithin, catalogOf)
  const kinds = kindsOfBuoys(a, b)
  const spans = new Map<number, Span[]>()
  const add = (buoy: number, span: Span | null): void => {
    if (span === null) return
    entryOf(spans, buoy, () => []).push(span)
  }
  const hasOneSided = [...kinds.values()].some((kind) => kind !== CHANGED)
  const months = [...new Set([...a.months.keys(), ...b.months.keys()])].toSorted((x, y) => x - y)
  for (const month of months) {
    const [partA, partB] = [a.months.get(month), b.months.get(month)]
    const isSame = partA?.entry.file === partB?.entry.file
    if (isSame && !hasOneSided) continue
    const rowsA = partA === undefined ? null : rowsOf(partA)
    const rowsB = partB === undefined ? null : isSame ? rowsA : rowsOf(partB)
    yield
    const columns = columnPairs(rowsA, rowsB)
    let steps = 0
    for (const buoy of buoysOf(rowsA, rowsB)) {
      const kind = kinds.get(buoy)
      if (isSame && (kind ?? CHANGED) === CHANGED) continue
      const [inA, inB] = [has(a.catalog, buoy), has(b.catalog, buoy)]
      const rangeA = inA && rowsA !== null ? rangeOf(rowsA, buoy) : NO_ROWS
      const rangeB = inB && rowsB !== null ? rangeOf(rowsB, buoy) : NO_ROWS
      add(buoy, spanOf(month, rowsA, rangeA, rowsB, rangeB, columns))
      if (++steps % BUOYS_A_STEP === 0) yield
    }
  }
  return assembled(before, after, kinds, spans)
}

/** @throws SnapshotError when it is malformed */
export function decodedCatalog({ entry, bytes }: LoadedPart): Catalog {
  return readCatalog(decodePart(bytes, entry.file), entry.file)
}

function* sideOf(
  { asOf, parts }: ComparedSnapshot,
  activeWithin: number,
  catalogOf: (part: LoadedPart) => Catalog,
): Steps<Side> {
  const part = parts.find(({ entry }) => entry.kind === 'catalog')
  if (part === undefined) throw new SnapshotError('the snapshot has no catalogue')
  const { file } = part.entry
  const catalog = catalogOf(part)
  yield
  const months = new Map(
    parts.filter(({ entry }) => entry.kind === 'readings').map((each) => [each.entry.month!, each]),
  )
  const active = new Set<number>()
  const since = asOf - activeWithin
  for (const [month, each] of months) {
    // Earlier months make no buoy active.
    if (month < monthOf(Math.max(0, since))) continue
    const { buoys, start, time } = rowsOf(each)
    for (let i = 0; i < buoys.length; i++) if (time[start[i + 1] - 1] >= since) active.add(buoys[i])
    yield
  }
  return { catalog, catalogFile: file, months, active }
}

/** Buoys of two months of readings, ascending. */
function buoysOf(a: MonthRows | null, b: MonthRows | null): Iterable<number> {
  if (a === null || b === null || a === b) return (a ?? b)!.buoys
  return [...new Set([...a.buoys, ...b.buoys])].toSorted((x, y) => x - y)
}

/** Buoys that come, go, or have another description. */
function kindsOfBuoys(a: Side, b: Side): Map<number, Change> {
  const kinds = new Map<number, Change>()
  for (const id of a.catalog.id) if (!has(b.catalog, id)) kinds.set(id, REMOVED)
  b.catalog.id.forEach((id, ordinal) => {
    const other = ordinalOf(a.catalog, id)
    if (other === -1) kinds.set(id, ADDED)
    else if (
      a.active.has(id) !== b.active.has(id) ||
      (a.catalogFile !== b.catalogFile && !isAlike(a.catalog, other, b.catalog, ordinal))
    )
      kinds.set(id, CHANGED)
  })
  return kinds
}

function isAlike(a: Catalog, i: number, b: Catalog, j: number): boolean {
  const country = ({ country: of, countries }: Catalog, at: number): string =>
    of[at] === NO_COUNTRY ? '' : `${countries[of[at]].code} ${countries[of[at]].name}`
  const [from, to] = [a.sources[a.source[i]], b.sources[b.source[j]]]
  return (
    a.names[i] === b.names[j] &&
    a.slugs[i] === b.slugs[j] &&
    a.lat[i] === b.lat[j] &&
    a.lng[i] === b.lng[j] &&
    a.identifiers[i] === b.identifiers[j] &&
    a.timezones[i] === b.timezones[j] &&
    a.virtual[i] === b.virtual[j] &&
    from.name === to.name &&
    from.label === to.label &&
    country(a, i) === country(b, j)
  )
}

const has = (catalog: Catalog, id: number): boolean => ordinalOf(catalog, id) !== -1

function rowsOf({ entry, bytes }: LoadedPart): MonthRows {
  return readMonth(decodePart(bytes, entry.file), entry.month!, entry.file)
}

function spanOf(
  month: number,
  a: MonthRows | null,
  rangeA: Range,
  b: MonthRows | null,
  rangeB: Range,
  columns: ReturnType<typeof columnPairs>,
): Span | null {
  const counts: Span['counts'] = [0, 0, 0]
  let from = -1
  let to = -1
  const visit = (change: Change, _row: number, time: number): boolean => {
    counts[change]++
    if (from === -1) from = time
    to = time
    return true
  }
  eachDifference(a, rangeA, b, rangeB, visit, columns)
  return from === -1 ? null : { month, from, to, counts }
}

function assembled(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  kinds: ReadonlyMap<number, Change>,
  spans: ReadonlyMap<number, readonly Span[]>,
): Changes {
  const buoys = [...new Set([...kinds.keys(), ...spans.keys()])].toSorted((x, y) => x - y)
  const count = buoys.reduce((sum, buoy) => sum + (spans.get(buoy)?.length ?? 0), 0)
  const changes: Changes = {
    since: before.id,
    until: after.id,
    passes: differs(before, after, 'passes'),
    forecast: differs(before, after, 'forecast'),
    buoy: shared(Uint32Array, buoys.length),
    change: shared(Uint8Array, buoys.length),
    first: shared(Uint32Array, buoys.length + 1),
    month: shared(Uint16Array, count),
    from: shared(Uint32Array, count),
    to: shared(Uint32Array, count),
    added: shared(Uint32Array, count),
    changed: shared(Uint32Array, count),
    removed: shared(Uint32Array, count),
    before: shared(Uint32Array, count + 1),
  }
  let at = 0
  buoys.forEach((buoy, i) => {
    changes.buoy[i] = buoy
    changes.change[i] = kinds.get(buoy) ?? CHANGED
    for (const { month, from, to, counts } of spans.get(buoy) ?? []) {
      changes.month[at] = month
      changes.from[at] = from
      changes.to[at] = to
      changes.changed[at] = counts[CHANGED]
      changes.added[at] = counts[ADDED]
      changes.removed[at] = counts[REMOVED]
      changes.before[at + 1] = changes.before[at] + counts[CHANGED] + counts[ADDED] + counts[REMOVED]
      at++
    }
    changes.first[i + 1] = at
  })
  return changes
}

function differs(before: ComparedSnapshot, after: ComparedSnapshot, kind: PartKind): boolean {
  const fileOf = ({ parts }: ComparedSnapshot): string | undefined =>
    parts.find(({ entry }) => entry.kind === kind)?.entry.file
  return fileOf(before) !== fileOf(after)
}

function shared<A>(
  type: { new (buffer: SharedArrayBuffer): A; readonly BYTES_PER_ELEMENT: number },
  length: number,
): A {
  return new type(new SharedArrayBuffer(length * type.BYTES_PER_ELEMENT))
}

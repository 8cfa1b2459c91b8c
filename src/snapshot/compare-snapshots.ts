/** What distinguishes two snapshots: buoys, and readings by month. Parts that both have are not read. */
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { MEASURE_NAMES, type Codes } from '../sea/columns.ts'
import { monthOf } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { toShared } from '../system/thread-memory.ts'
import { ordinalOf, readCatalog, type Catalog } from './catalog.ts'
import { readMonth } from './part-kinds.ts'
import { decodePart, sums } from './part-columns.ts'
import type { LoadedPart } from './read-snapshot.ts'
import { ADDED, CHANGED, REMOVED, type Change, type Changes } from './row-changes.ts'
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

/** A month of a buoy: times of the first and the last reading that differ, epoch seconds, and counts. */
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
  const hasOneSided = [...kinds.values()].some((kind) => kind !== CHANGED)
  for (const month of inOrder([...a.months.keys(), ...b.months.keys()])) {
    const [partA, partB] = [a.months.get(month), b.months.get(month)]
    const isSame = partA?.entry.file === partB?.entry.file
    if (isSame && !hasOneSided) continue
    const rowsA = partA === undefined ? null : rowsOf(partA)
    const newer = isSame || partB === undefined ? null : rowsOf(partB)
    const rowsB = isSame ? rowsA : newer
    yield
    const columns = columnPairs(rowsA, rowsB)
    let steps = 0
    for (const buoy of inOrder([...(rowsA?.buoys ?? []), ...(rowsB?.buoys ?? [])])) {
      if (isSame && (kinds.get(buoy) ?? CHANGED) === CHANGED) continue
      const runOfSide = ({ catalog }: Side, rows: MonthRows | null): Run =>
        rows !== null && ordinalOf(catalog, buoy) !== -1 ? runOf(rows, buoy) : NO_ROWS
      const span: Span = { month, from: -1, to: -1, counts: [0, 0, 0] }
      const visit = (change: Change, _row: number, time: number): boolean => {
        span.counts[change]++
        if (span.from === -1) span.from = time
        span.to = time
        return true
      }
      eachDifference(rowsA, runOfSide(a, rowsA), rowsB, runOfSide(b, rowsB), visit, columns)
      if (span.from !== -1) entryOf(spans, buoy, () => []).push(span)
      if (++steps % BUOYS_A_STEP === 0) yield
    }
  }
  return assembled(before, after, kinds, spans)
}

const inOrder = (numbers: readonly number[]): number[] => [...new Set(numbers)].toSorted((x, y) => x - y)

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
  const catalog = catalogOf(part)
  yield
  const readings = parts.filter(({ entry }) => entry.kind === 'readings')
  const months = new Map(readings.map((each) => [each.entry.month!, each]))
  const active = new Set<number>()
  const since = asOf - activeWithin
  for (const [month, each] of months) {
    // Earlier months make no buoy active.
    if (month < monthOf(Math.max(0, since))) continue
    const { buoys, start, time } = rowsOf(each)
    for (let i = 0; i < buoys.length; i++) {
      if (time[start[i + 1] - 1] >= since) active.add(buoys[i])
    }
    yield
  }
  return { catalog, catalogFile: part.entry.file, months, active }
}

/** Buoys that come, go, or have another description. */
function kindsOfBuoys(a: Side, b: Side): Map<number, Change> {
  const kinds = new Map<number, Change>()
  for (const id of a.catalog.id) {
    if (ordinalOf(b.catalog, id) === -1) kinds.set(id, REMOVED)
  }
  b.catalog.id.forEach((id, ordinal) => {
    const other = ordinalOf(a.catalog, id)
    if (other === -1) kinds.set(id, ADDED)
    else if (
      a.active.has(id) !== b.active.has(id) ||
      (a.catalogFile !== b.catalogFile && description(a.catalog, other) !== description(b.catalog, ordinal))
    )
      kinds.set(id, CHANGED)
  })
  return kinds
}

function description(catalog: Catalog, i: number): string {
  const { names, slugs, lat, lng, identifiers, timezones, virtual, sources, source, countries } = catalog
  const { name, label } = sources[source[i]]
  const country = countries[catalog.country[i]] ?? null
  const texts = [names[i], slugs[i], identifiers[i], timezones[i], name, label, country?.code, country?.name]
  return JSON.stringify([lat[i], lng[i], virtual[i], ...texts])
}

function rowsOf({ entry, bytes }: LoadedPart): MonthRows {
  return readMonth(decodePart(bytes, entry.file), entry.month!, entry.file)
}

function assembled(
  before: ComparedSnapshot,
  after: ComparedSnapshot,
  kinds: ReadonlyMap<number, Change>,
  spans: ReadonlyMap<number, readonly Span[]>,
): Changes {
  const buoys = inOrder([...kinds.keys(), ...spans.keys()])
  const spansOf = buoys.map((buoy) => spans.get(buoy) ?? [])
  const all = spansOf.flat()
  const differs = (kind: PartKind): boolean => {
    const fileOf = ({ parts }: ComparedSnapshot): string | undefined =>
      parts.find(({ entry }) => entry.kind === kind)?.entry.file
    return fileOf(before) !== fileOf(after)
  }
  return toShared({
    since: before.id,
    until: after.id,
    passes: differs('passes'),
    forecast: differs('forecast'),
    buoy: Uint32Array.from(buoys),
    change: Uint8Array.from(buoys, (buoy) => kinds.get(buoy) ?? CHANGED),
    first: sums(spansOf.map(({ length }) => length)),
    month: Uint16Array.from(all, ({ month }) => month),
    from: Uint32Array.from(all, ({ from }) => from),
    to: Uint32Array.from(all, ({ to }) => to),
    added: Uint32Array.from(all, ({ counts }) => counts[ADDED]),
    changed: Uint32Array.from(all, ({ counts }) => counts[CHANGED]),
    removed: Uint32Array.from(all, ({ counts }) => counts[REMOVED]),
    before: sums(all.map(({ counts: [changed, added, removed] }) => changed + added + removed)),
  })
}

/** Rows [from, to) of a month. */
export interface Run {
  from: number
  to: number
}

export const NO_ROWS = { from: 0, to: 0 }

export function runOf({ buoys, start }: MonthRows, buoy: number): Run {
  const at = lowerBound(buoys, buoy)
  return buoys[at] === buoy ? { from: start[at], to: start[at + 1] } : NO_ROWS
}

/** A column of two months. */
interface ColumnPair {
  a: Codes
  maskA: number
  b: Codes
  maskB: number
}

/** The columns that one of two months has; none if one of the months is missing. */
function columnPairs(a: MonthRows | null, b: MonthRows | null): ColumnPair[] {
  if (a === null || b === null) return []
  return MEASURE_NAMES.map((name) => ({
    a: a.measures[name].codes,
    maskA: a.measures[name].mask,
    b: b.measures[name].codes,
    maskB: b.measures[name].mask,
  })).filter(({ maskA, maskB }) => maskA !== 0 || maskB !== 0)
}

/**
 * Calls `visit` with each reading of a buoy that differs, ascending in time, until it returns false; `row` is
 * one of `b`, or of `a` where the reading is gone. Pass `columns` of both months to ask about many buoys.
 */
export function eachDifference(
  a: MonthRows | null,
  runA: Run,
  b: MonthRows | null,
  runB: Run,
  visit: (change: Change, row: number, time: number) => boolean,
  columns: readonly ColumnPair[] = columnPairs(a, b),
): void {
  let [i, j] = [runA.from, runB.from]
  while (i < runA.to || j < runB.to) {
    const timeA = i < runA.to ? a!.time[i] : Infinity
    const timeB = j < runB.to ? b!.time[j] : Infinity
    if (timeA < timeB) {
      if (!visit(REMOVED, i++, timeA)) return
    } else if (timeB < timeA) {
      if (!visit(ADDED, j++, timeB)) return
    } else {
      if (!isSameRow(columns, i, j) && !visit(CHANGED, j, timeB)) return
      i++
      j++
    }
  }
}

function isSameRow(columns: readonly ColumnPair[], i: number, j: number): boolean {
  for (let k = 0; k < columns.length; k++) {
    const { a, maskA, b, maskB } = columns[k]
    if (a[i & maskA] !== b[j & maskB]) return false
  }
  return true
}

/**
 * Yearly parts of daily aggregates. A year keeps its part while its monthly parts and its buoys' zones are as
 * they were; in another year only the days of changed months are worked out anew.
 */
import { setImmediate } from 'node:timers/promises'
import { NO_ZONE, type AggregateYear, yearDays, type YearDays } from '../index/day-aggregates.ts'
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { circularMean, hundredths, isDirection, type Aggregation } from '../index/statistics.ts'
import {
  aggregatesPart,
  statisticsOf,
  type AggregatedBuoy,
  type DayStatistics,
} from '../snapshot/make-aggregates.ts'
import { COMMON_NAMES, MEASURES, type Measure, type MeasureName } from '../sea/columns.ts'
import { monthStart } from '../sea/time.ts'
import { zone, type Zone } from '../sea/zones.ts'
import { januaryOf, madeFrom, readAggregates, readMonth, yearOfMonth } from '../snapshot/part-kinds.ts'
import { entryOf } from '../system/entry-of.ts'
import { SnapshotError, type Part, type PartEntry } from '../snapshot/snapshot-format.ts'
import { writePart } from '../snapshot/write-snapshot.ts'
import { nullIfDamaged, readPart } from '../snapshot/read-snapshot.ts'
import { readUnchecked } from '../snapshot/read-parts.ts'

const MONTHS_OF_YEAR = 12

/**
 * Writes the years of aggregates that are new, oldest first. `months` are the monthly parts of the snapshot
 * under way, `previous` all parts of the one before, `zones` the buoys' zones by id.
 */
export async function writeAggregates(
  out: string,
  previous: readonly PartEntry[],
  months: readonly PartEntry[],
  zones: ReadonlyMap<number, string>,
): Promise<PartEntry[]> {
  const entries: PartEntry[] = []
  for (const year of new Set(months.map(({ month }) => yearOfMonth(month!)))) {
    const before = previous.find(({ kind, month }) => kind === 'aggregates' && month === januaryOf(year))
    const found = before === undefined ? null : beginningOf(out, before, zones)
    if (found?.hasZones === true && found.madeFrom === madeFrom(months, year)) {
      entries.push(before!)
      continue
    }
    const known = found?.hasZones === true ? await readYear(out, before!).catch(nullIfDamaged) : null
    const { part, rows } = await makeYear(out, year, months, previous, zones, known)
    entries.push(writePart(out, part, rows, januaryOf(year)))
    // Timers and signals run in between.
    await setImmediate()
  }
  return entries
}

/** From which parts a part was made, and whether its buoys are in the same zones now; by its file's beginning. */
function beginningOf(
  out: string,
  entry: PartEntry,
  zones: ReadonlyMap<number, string>,
): { madeFrom: unknown; hasZones: boolean } | null {
  try {
    const part = readUnchecked(out, entry)
    const places = part.columns.get('zone') as Uint16Array
    const year = yearOfMonth(entry.month!)
    const known = part.meta.zones as [name: string, rules: string][]
    const hasZones = (part.columns.get('buoy') as Uint32Array).every((id, i) => {
      const [name, rules] = known[places[i]] ?? []
      // A buoy that is left out now keeps its zone, if the tz database still has it.
      const now = zoneOf(zones, id) ?? (name === undefined ? null : zone(name))
      if (now === null) return name === undefined
      return name === now.name && yearDays(now, year).hasRules(rules)
    })
    return { madeFrom: part.meta.made_from, hasZones }
  } catch (error) {
    if (error instanceof SnapshotError) return null
    throw error
  }
}

function zoneOf(zones: ReadonlyMap<number, string>, id: number): Zone | null {
  const name = zones.get(id)
  return name === undefined ? null : zone(name)
}

const readYear = (dir: string, entry: PartEntry): Promise<AggregateYear> =>
  readPart(dir, entry, (part, file) => readAggregates(part, entry.month!, file))

/** Makes a year's part, with at most two months of rows in memory. @param known null where all of it is to be made */
async function makeYear(
  out: string,
  year: number,
  parts: readonly PartEntry[],
  previous: readonly PartEntry[],
  zones: ReadonlyMap<number, string>,
  known: AggregateYear | null,
): Promise<{ part: Part; rows: number }> {
  const monthly = parts.filter(
    ({ kind, month }) => kind !== 'aggregates' && month !== null && yearOfMonth(month) === year,
  )
  const buoys = new Map<number, BuoyDays>()
  for (const entry of monthly) {
    const { columns } = readUnchecked(out, entry)
    for (const id of columns.get('buoy') as Uint32Array)
      entryOf(buoys, id, () => beginDays(id, year, zones, known))
  }
  const filesOf = (entries: readonly PartEntry[], month: number): string =>
    entries.flatMap((entry) => (isOfMonth(entry, month) ? entry.file : [])).join()
  const isChanged = (month: number): boolean =>
    known === null || filesOf(parts, month) !== filesOf(previous, month)
  const loaded = new Map<number, Promise<MonthRows[]>>()
  const rowsOf = (month: number): Promise<MonthRows[]> =>
    entryOf(loaded, month, () =>
      Promise.all(
        monthly
          .filter((entry) => entry.month === month)
          .map((entry) => readPart(out, entry, (part, file) => readMonth(part, month, file))),
      ),
    )
  const [first, last] = [januaryOf(year), januaryOf(year) + MONTHS_OF_YEAR - 1]
  for (let month = first; month <= last; month++) {
    loaded.delete(month - 1)
    // The last day of a month goes on in the next one.
    if (!isChanged(month) && (month === last || !isChanged(month + 1))) continue
    const tables = [...(await rowsOf(month)), ...(await rowsOf(month + 1))]
    for (const [id, buoy] of buoys) workOut(id, buoy, month, tables)
    await setImmediate()
  }
  return aggregatesPart(year, madeFrom(parts, year), aggregated(buoys, newestTime(out, monthly)))
}

const isOfMonth = (entry: PartEntry, month: number): boolean =>
  entry.kind !== 'aggregates' && entry.month === month

/** Time of the newest row of monthly parts, epoch seconds. */
function newestTime(out: string, monthly: readonly PartEntry[]): number {
  const lastMonth = Math.max(...monthly.map(({ month }) => month!))
  let newest = 0
  for (const entry of monthly.filter(({ month }) => month === lastMonth)) {
    for (const time of readUnchecked(out, entry).columns.get('time') as Uint32Array) {
      if (time > newest) newest = time
    }
  }
  return newest
}

interface BuoyDays {
  readonly zone: Zone | null
  readonly days: YearDays | null
  readonly measures: Map<MeasureName, DayStatistics>
}

/** A buoy's rows in one month. */
interface Stretch {
  readonly rows: MonthRows
  /** First row of each day that is worked out, and the one behind the last day. */
  readonly bounds: Uint32Array
}

/** A buoy's days as `known` has them. A buoy that is left out now keeps its zone. */
function beginDays(
  id: number,
  year: number,
  zones: ReadonlyMap<number, string>,
  known: AggregateYear | null,
): BuoyDays {
  const at = known === null ? 0 : lowerBound(known.buoys, id)
  const before = known?.buoys[at] === id ? known : null
  const place = before?.zone[at] ?? NO_ZONE
  const now = zoneOf(zones, id) ?? (place === NO_ZONE ? null : zone(before!.zones[place].name))
  const measures = new Map<MeasureName, DayStatistics>()
  if (before !== null)
    for (const name of COMMON_NAMES) {
      const statistics = statisticsOf(before, at, MEASURES[name])
      if (statistics !== null) measures.set(name, statistics)
    }
  return { zone: now, days: now === null ? null : yearDays(now, year), measures }
}

/** Works out a buoy's days that begin in `month`, of its rows and those of the next one, in which they may go on. */
function workOut(
  id: number,
  { days, measures }: BuoyDays,
  month: number,
  tables: readonly MonthRows[],
): void {
  if (days === null) return
  const [start, end] = [monthStart(month), monthStart(month + 1)]
  let first = days.from
  while (first < days.to && days.edges[first] < start) first++
  let behind = first
  while (behind < days.to && days.edges[behind] < end) behind++
  const stretches = tables.flatMap((rows) => stretchOf(rows, id, days, first, behind))
  for (const name of COMMON_NAMES) {
    const measured = stretches.filter(({ rows }) => rows.measures[name].mask !== 0)
    if (measured.length === 0 && !measures.has(name)) continue
    const statistics = entryOf(measures, name, () => emptyStatistics(days.edges.length - 1))
    measureDays(MEASURES[name], measured, first, behind, statistics)
  }
}

function measureDays(
  measure: Measure,
  stretches: readonly Stretch[],
  first: number,
  behind: number,
  statistics: DayStatistics,
): void {
  const rows = stretches.reduce((sum, { bounds }) => sum + bounds[bounds.length - 1] - bounds[0], 0)
  const codes = new Int32Array(rows)
  for (let day = first; day < behind; day++) {
    const samples = gatherDay(stretches, measure, day - first, codes)
    const valueOf = (aggregation: Aggregation): number => {
      if (samples === 0) return 0
      return isDirection(measure)
        ? circularMean(codes, samples)
        : hundredths(codes, samples, aggregation, measure.scale)
    }
    statistics.median[day] = valueOf('median')
    statistics.mean[day] = valueOf('avg')
    statistics.least[day] = valueOf('min')
    statistics.greatest[day] = valueOf('max')
    statistics.count[day] = samples
  }
}

function emptyStatistics(days: number): DayStatistics {
  const values = (): Int32Array => new Int32Array(days)
  return { median: values(), mean: values(), least: values(), greatest: values(), count: values() }
}

/** Puts the samples of a day into `codes`, and returns how many. */
function gatherDay(
  stretches: readonly Stretch[],
  { name, missing }: Measure,
  day: number,
  codes: Int32Array,
): number {
  let n = 0
  for (const { rows, bounds } of stretches) {
    const column = rows.measures[name].codes
    for (let row = bounds[day]; row < bounds[day + 1]; row++) {
      if (column[row] !== missing) codes[n++] = column[row]
    }
  }
  return n
}

/**
 * The buoys ascending by id, a measure without a sample left out. Rules of zones after the year's `newest` row, epoch
 * seconds, stay out, so that the bytes do not depend on what an edition of the tz database expects.
 */
function aggregated(buoys: ReadonlyMap<number, BuoyDays>, newest: number): AggregatedBuoy[] {
  return [...buoys]
    .sort(([a], [b]) => a - b)
    .map(([id, { zone, days, measures }]) => ({
      id,
      zone: zone === null ? null : { name: zone.name, rules: days!.rulesUntil(newest) },
      measures: new Map(
        COMMON_NAMES.flatMap((name) => {
          const statistics = measures.get(name)
          return statistics?.count.some((samples) => samples > 0) === true ? [[name, statistics]] : []
        }),
      ),
    }))
}

/** A buoy's rows of a month that lie in days `first` to before `behind`, if there are any. */
function stretchOf(
  rows: MonthRows,
  id: number,
  { edges }: YearDays,
  first: number,
  behind: number,
): Stretch[] {
  const at = lowerBound(rows.buoys, id)
  if (rows.buoys[at] !== id) return []
  const [from, to] = [rows.start[at], rows.start[at + 1]]
  const bounds = new Uint32Array(behind - first + 1)
  let row = from
  for (let day = first; day <= behind; day++) {
    while (row < to && rows.time[row] < edges[day]) row++
    bounds[day - first] = row
  }
  return [{ rows, bounds }]
}

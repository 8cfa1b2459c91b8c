/**
 * Yearly parts of daily aggregates. A year keeps its part while its monthly parts and its buoys' zones are as
 * they were; in another year only the days of changed months are worked out again.
 */
import { setImmediate } from 'node:timers/promises'
import { type AggregateYear, yearDays, type YearDays } from '../index/day-aggregates.ts'
import { Samples, type MeasureRows } from '../index/buckets.ts'
import { lowerBound, partitionPoint } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import type { Aggregation } from '../index/statistics.ts'
import {
  aggregatesPart,
  statisticsOf,
  type AggregatedBuoy,
  type DayStatistics,
} from '../snapshot/make-aggregates.ts'
import { COMMON_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { monthStart } from '../sea/time.ts'
import { zone, type Zone } from '../sea/zones.ts'
import {
  hasRows,
  januaryOf,
  madeFrom,
  readAggregates,
  readMonth,
  yearOfMonth,
} from '../snapshot/part-kinds.ts'
import { entryOf } from '../system/entry-of.ts'
import type { Part, PartEntry } from '../snapshot/snapshot-format.ts'
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
    const basis = before === undefined ? null : basisOf(out, before, zones)
    if (basis === madeFrom(months, year)) {
      entries.push(before!)
      continue
    }
    const known = basis === null ? null : await readYear(out, before!).catch(nullIfDamaged)
    const own = months.filter(({ month }) => yearOfMonth(month!) === year)
    const { part, rows } = await makeYear(out, year, own, previous, zones, known)
    entries.push(writePart(out, part, rows, januaryOf(year)))
    // Timers and signals run in between.
    await setImmediate()
  }
  return entries
}

/** The parts a year was made from; null if a buoy is in another zone now, or the file is damaged. */
function basisOf(out: string, entry: PartEntry, zones: ReadonlyMap<number, string>): unknown {
  try {
    const part = readUnchecked(out, entry)
    const { year, buoys, zone: places, zones: known } = readAggregates(part, entry.month!, entry.file)
    const isSame = buoys.every((id, i) => {
      const before = known.at(places[i])
      const now = zoneOf(zones, id, before?.name)
      if (now === null || before === undefined) return now === null && before === undefined
      return now.name === before.name && yearDays(now, year).hasRules(before.rules)
    })
    return isSame ? part.meta.made_from : null
  } catch (error) {
    return nullIfDamaged(error)
  }
}

/** A buoy that is left out now keeps the zone that it had `before`, if the tz database still has it. */
function zoneOf(zones: ReadonlyMap<number, string>, id: number, before: string | undefined): Zone | null {
  const name = zones.get(id) ?? before
  return name === undefined ? null : zone(name)
}

const readYear = (dir: string, entry: PartEntry): Promise<AggregateYear> =>
  readPart(dir, entry, (part, file) => readAggregates(part, entry.month!, file))

/**
 * Makes the part of a year of `months`, two of them in memory at most. @param known null to make all days
 * anew
 */
async function makeYear(
  out: string,
  year: number,
  months: readonly PartEntry[],
  previous: readonly PartEntry[],
  zones: ReadonlyMap<number, string>,
  known: AggregateYear | null,
): Promise<{ part: Part; rows: number }> {
  const buoys = new Map<number, BuoyDays>()
  let newest = 0
  for (const entry of months) {
    const { columns } = readUnchecked(out, entry)
    for (const id of columns.get('buoy') as Uint32Array)
      entryOf(buoys, id, () => beginDays(id, year, zones, known))
    for (const time of columns.get('time') as Uint32Array) {
      if (time > newest) newest = time
    }
  }
  const filesOf = (entries: readonly PartEntry[], month: number): string =>
    partsOf(entries, month)
      .map(({ file }) => file)
      .join()
  const isChanged = (month: number): boolean =>
    known === null || filesOf(months, month) !== filesOf(previous, month)
  const loaded = new Map<number, Promise<MonthRows[]>>()
  const tablesOf = (month: number): Promise<MonthRows[]> =>
    entryOf(loaded, month, () =>
      Promise.all(
        partsOf(months, month).map((entry) =>
          readPart(out, entry, (part, file) => readMonth(part, month, file)),
        ),
      ),
    )
  const [first, last] = [januaryOf(year), januaryOf(year) + MONTHS_OF_YEAR - 1]
  for (let month = first; month <= last; month++) {
    loaded.delete(month - 1)
    // The last day of a month goes on in the next month.
    if (!isChanged(month) && (month === last || !isChanged(month + 1))) continue
    const tables = [...(await tablesOf(month)), ...(await tablesOf(month + 1))]
    for (const [id, buoy] of buoys) workOut(id, buoy, month, tables)
    await setImmediate()
  }
  return aggregatesPart(year, madeFrom(months, year), aggregated(buoys, newest))
}

const partsOf = (entries: readonly PartEntry[], month: number): PartEntry[] =>
  entries.filter((entry) => hasRows(entry) && entry.month === month)

interface BuoyDays {
  readonly zone: Zone | null
  readonly days: YearDays | null
  readonly measures: Map<MeasureName, DayStatistics>
}

/** A buoy's days as `known` has them. */
function beginDays(
  id: number,
  year: number,
  zones: ReadonlyMap<number, string>,
  known: AggregateYear | null,
): BuoyDays {
  const at = known === null ? 0 : lowerBound(known.buoys, id)
  const before = known?.buoys[at] === id ? known : null
  const now = zoneOf(zones, id, before?.zones.at(before.zone[at])?.name)
  const measures = new Map<MeasureName, DayStatistics>()
  if (before !== null)
    for (const name of COMMON_NAMES) {
      const statistics = statisticsOf(before, at, MEASURES[name])
      if (statistics !== null) measures.set(name, statistics)
    }
  return { zone: now, days: now === null ? null : yearDays(now, year), measures }
}

/**
 * Works out a buoy's days that begin in `month`, from its rows and those of the next month, where they may
 * end.
 */
function workOut(
  id: number,
  { days, measures }: BuoyDays,
  month: number,
  tables: readonly MonthRows[],
): void {
  if (days === null) return
  const { edges } = days
  const dayOf = (instant: number): number => partitionPoint(days.from, days.to, (day) => edges[day] < instant)
  const [first, behind] = [dayOf(monthStart(month)), dayOf(monthStart(month + 1))]
  for (const name of COMMON_NAMES) {
    const rows = tables.flatMap((table) => rowsOf(table, id, name))
    if (rows.length === 0 && !measures.has(name)) continue
    const statistics = entryOf(measures, name, () => emptyStatistics(edges.length - 1))
    const samples = new Samples(
      rows.map((each) => [each]),
      MEASURES[name],
    )
    samples.seek(edges[first], edges[behind])
    for (let day = first; day < behind; day++) {
      const count = samples.gather(edges[day + 1])
      const valueOf = (of: Aggregation): number => (count === 0 ? 0 : samples.statistic(count, of))
      statistics.median[day] = valueOf('median')
      statistics.mean[day] = valueOf('avg')
      statistics.least[day] = valueOf('min')
      statistics.greatest[day] = valueOf('max')
      statistics.count[day] = count
    }
  }
}

/** A buoy's rows of a month with a measure, if there are any. */
function rowsOf({ buoys, start, time, measures }: MonthRows, id: number, name: MeasureName): MeasureRows[] {
  const at = lowerBound(buoys, id)
  const { codes, mask } = measures[name]
  return buoys[at] !== id || mask === 0 ? [] : [{ time, codes, from: start[at], to: start[at + 1] }]
}

function emptyStatistics(days: number): DayStatistics {
  const values = (): Int32Array => new Int32Array(days)
  return { median: values(), mean: values(), least: values(), greatest: values(), count: values() }
}

/**
 * The buoys ascending by id, a measure without a sample left out. Rules of zones after the year's `newest`
 * row, epoch seconds, stay out, so that the bytes do not depend on what an edition of the tz database
 * expects.
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

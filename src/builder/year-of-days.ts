/** The daily aggregates of all buoys in one calendar year, worked out from its rows month by month. */
import { NO_ZONE, type AggregateYear, yearDays, type YearDays } from '../index/day-aggregates.ts'
import { lowerBound } from '../index/bisect.ts'
import type { MonthRows } from '../index/segments.ts'
import { circularMean, hundredths, isDirection, type Aggregation } from '../index/statistics.ts'
import { statisticsOf, type AggregatedBuoy, type DayStatistics } from '../snapshot/make-aggregates.ts'
import { COMMON_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { daysFromCivil, monthStart } from '../sea/time.ts'
import { zone, type Zone } from '../sea/zones.ts'

interface BuoyDays {
  readonly zone: Zone | null
  readonly days: YearDays | null
  readonly measures: Map<MeasureName, DayStatistics>
  /** Whether all its days have to be worked out, not only those of changed months. */
  readonly isNew: boolean
}

/** The days of a month to work out: all, the last where it goes on in the next month, or only new buoys'. */
export type Wanted = 'all' | 'last' | 'none'

/** A buoy's rows in one month: `from` to before `to`. */
interface Stretch {
  readonly rows: MonthRows
  readonly from: number
  readonly to: number
  /** First row of each day that is worked out, and the one behind the last day. */
  readonly bounds: Uint32Array
}

export class YearOfDays {
  readonly #year: number
  readonly #daysOfYear: number
  readonly #newest: number
  readonly #zoneOf: (id: number) => Zone | null
  readonly #known: AggregateYear | null
  readonly #buoys = new Map<number, BuoyDays>()
  #newBuoys = 0
  #codes = new Int32Array(256)

  /**
   * `newest` is the time of the year's newest row, epoch seconds; rules of zones after it stay out, so that
   * the bytes do not depend on what an edition of the tz database expects. `zoneOf` gives the buoys' zones.
   * Days of a buoy with the same zone, or without one, are taken from `known`.
   */
  constructor(
    year: number,
    newest: number,
    zoneOf: (id: number) => Zone | null,
    known: AggregateYear | null,
  ) {
    this.#year = year
    this.#daysOfYear = daysFromCivil(year + 1, 1, 1) - daysFromCivil(year, 1, 1)
    this.#newest = newest
    this.#zoneOf = zoneOf
    this.#known = known
  }

  /** Whether what is known of a buoy's days was worked out in `now`, or the buoy is not in the catalogue. */
  static isOfZone(known: { name: string; rules: string } | null, now: Zone | null, year: number): boolean {
    if (now === null) return true
    return known?.name === now.name && yearDays(now, year).hasRules(known.rules)
  }

  /** Whether some buoys need all their days worked out. */
  get hasNewBuoys(): boolean {
    return this.#newBuoys > 0
  }

  addBuoys(ids: Uint32Array): void {
    for (const id of ids) {
      if (!this.#buoys.has(id)) this.#buoys.set(id, this.#begin(id))
    }
  }

  #begin(id: number): BuoyDays {
    const now = this.#zoneOf(id)
    const known = this.#known
    const at = known === null ? -1 : lowerBound(known.buoys, id)
    const place = known !== null && known.buoys[at] === id ? known.zone[at] : NO_ZONE
    const before = place === NO_ZONE ? null : known!.zones[place]
    const measures = new Map<MeasureName, DayStatistics>()
    // Another edition of the tz database may have renamed or changed the zone of a buoy that is left out now.
    const kept = now ?? (before === null ? null : zone(before.name))
    const days = kept === null ? null : yearDays(kept, this.#year)
    const isKept = before !== null && kept?.name === before.name && days!.hasRules(before.rules)
    if (isKept) {
      for (const name of COMMON_NAMES) {
        const statistics = statisticsOf(known!, at, MEASURES[name])
        if (statistics !== null) measures.set(name, statistics)
      }
    }
    // A buoy that had no rows in the year has none in months that did not change.
    const isNew = kept !== null && !isKept && (known === null || known.buoys[at] === id)
    if (isNew) this.#newBuoys++
    return { zone: kept, days, measures, isNew }
  }

  /** Works out the days that begin in `month`, which may go on in the next one. */
  workOut(month: number, present: readonly MonthRows[], next: readonly MonthRows[], wanted: Wanted): void {
    const [start, end] = [monthStart(month), monthStart(month + 1)]
    for (const [id, buoy] of this.#buoys) {
      const { days, isNew } = buoy
      if (days === null || (wanted === 'none' && !isNew)) continue
      let first = days.from
      while (first < days.to && days.edges[first] < start) first++
      let behind = first
      while (behind < days.to && days.edges[behind] < end) behind++
      if (wanted === 'last' && !isNew) {
        if (behind === first || days.edges[behind] <= end) continue
        first = behind - 1
      }
      if (first === behind) continue
      const stretches = [...present, ...next].flatMap((rows) => stretchOf(rows, id, days, first, behind))
      for (const name of COMMON_NAMES) this.#measure(buoy, name, stretches, first, behind)
    }
  }

  #measure(
    { measures }: BuoyDays,
    name: MeasureName,
    stretches: readonly Stretch[],
    first: number,
    behind: number,
  ): void {
    const measured = stretches.filter(({ rows }) => rows.measures[name].mask !== 0)
    let statistics = measures.get(name)
    if (measured.length === 0 && statistics === undefined) return
    const measure = MEASURES[name]
    const circular = isDirection(measure)
    for (let day = first; day < behind; day++) {
      const samples = this.#gather(measured, name, day - first)
      if (samples === 0) {
        if (statistics !== undefined)
          for (const values of Object.values(statistics) as Int32Array[]) values[day] = 0
        continue
      }
      statistics ??= this.#emptyStatistics()
      const valueOf = (aggregation: Aggregation): number =>
        circular
          ? circularMean(this.#codes, samples)
          : hundredths(this.#codes, samples, aggregation, measure.scale)
      statistics.median[day] = valueOf('median')
      statistics.mean[day] = valueOf('avg')
      statistics.least[day] = valueOf('min')
      statistics.greatest[day] = valueOf('max')
      statistics.count[day] = samples
    }
    if (statistics !== undefined) measures.set(name, statistics)
  }

  #emptyStatistics(): DayStatistics {
    const values = (): Int32Array => new Int32Array(this.#daysOfYear)
    return { median: values(), mean: values(), least: values(), greatest: values(), count: values() }
  }

  #gather(stretches: readonly Stretch[], name: MeasureName, day: number): number {
    const { missing } = MEASURES[name]
    let n = 0
    for (const { rows, bounds } of stretches) {
      const { codes } = rows.measures[name]
      const [from, to] = [bounds[day], bounds[day + 1]]
      if (n + to - from > this.#codes.length) {
        const larger = new Int32Array(2 * (n + to - from))
        larger.set(this.#codes)
        this.#codes = larger
      }
      for (let row = from; row < to; row++) {
        const code = codes[row]
        if (code !== missing) this.#codes[n++] = code
      }
    }
    return n
  }

  /** Ascending by id; a measure without a sample is left out. */
  buoys(): AggregatedBuoy[] {
    return [...this.#buoys]
      .sort(([a], [b]) => a - b)
      .map(([id, { zone, days, measures }]) => ({
        id,
        zone: zone === null ? null : { name: zone.name, rules: days!.rulesUntil(this.#newest) },
        measures: new Map(
          COMMON_NAMES.flatMap((name) => {
            const statistics = measures.get(name)
            return statistics?.count.some((samples) => samples > 0) === true ? [[name, statistics]] : []
          }),
        ),
      }))
  }
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
  return [{ rows, from, to, bounds }]
}

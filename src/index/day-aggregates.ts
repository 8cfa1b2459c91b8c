/**
 * Statistics of each buoy's days from a build: median, mean, least and greatest value, the circular mean of
 * directions, and the number of samples.
 *
 * A day follows the clock of the buoy's zone; days that lie in two years of UTC are left out. A year of one
 * statistic is a stream of 0, 1, 2 or 4 bytes a day, which times `step` plus `base` are its values.
 */
import { COMMON_NAMES, MEASURES, type ColumnsOf, type Measure } from '../sea/columns.ts'
import { lowerBound, partitionPoint } from './bisect.ts'
import type { Zone } from '../sea/zones.ts'
import { isDirection, NO_VALUE, type Aggregation } from './statistics.ts'
import { createHash } from 'node:crypto'
import { DAY, daysFromCivil } from '../sea/time.ts'

/** Columns by buoy, then those of the streams. */
export const AGGREGATE_COLUMNS = {
  /** Index of each buoy's zone; `NO_ZONE` where nothing is known of its days. */
  zone: Uint16Array,
  /** First day of each buoy with a sample, counted from 1 January, and the days from there to its last. */
  first: Uint16Array,
  days: Uint16Array,
  /** `STREAMS_OF_BUOY` streams of each buoy, `STREAM_WORDS` words each. */
  streams: Int32Array,
  /** Streams of one, two and four bytes a day. */
  bytes: Uint8Array,
  words: Uint16Array,
  doubles: Uint32Array,
} as const

export interface AggregateYear extends Readonly<ColumnsOf<typeof AGGREGATE_COLUMNS>> {
  readonly file: string
  readonly year: number
  /** Zones of the buoys, and `YearDays.rules` of the days that have rows. */
  readonly zones: readonly { readonly name: string; readonly rules: string }[]
  /** Ids of all buoys with rows in the year, ascending. */
  readonly buoys: Uint32Array
}

/** In the column of zones: a buoy that is not in the catalogue. */
export const NO_ZONE = 0xffff

/** Words of a stream: base, step, bytes a day (0, 1, 2 or 4), index of its first day. */
export const STREAM_WORDS = 4

/** Stands in a stream for directions that cancel out. */
export const CANCELLED = 360

/** Streams: median, differences of mean, least and greatest, samples; of a direction mean and samples. */
export function streamsOf(measure: Measure): number {
  return isDirection(measure) ? 2 : 5
}

/** The first of a buoy's streams of a measure, which is one of `COMMON_NAMES`. */
export const FIRST_STREAM: { readonly [name: string]: number } = Object.fromEntries(
  COMMON_NAMES.map((name, i) => [
    name,
    COMMON_NAMES.slice(0, i).reduce((sum, before) => sum + streamsOf(MEASURES[before]), 0),
  ]),
)

export const STREAMS_OF_BUOY = COMMON_NAMES.reduce((sum, name) => sum + streamsOf(MEASURES[name]), 0)

/** Stream and sign of each statistic's difference from the median. */
const DIFFERENCE: { readonly [aggregation in Aggregation]: readonly [stream: number, sign: number] } = {
  median: [0, 0],
  avg: [1, 1],
  min: [2, -1],
  max: [3, 1],
}

/** Adds `sign` times `days` values of a stream, from its day `skipped` on, to `into` from `at` on. */
export function addStream(
  { streams, bytes, words, doubles }: AggregateYear,
  stream: number,
  skipped: number,
  days: number,
  sign: number,
  into: Int32Array,
  at: number,
): void {
  const base = sign * streams[stream]
  const step = sign * streams[stream + 1]
  const width = streams[stream + 2]
  const from = streams[stream + 3] + skipped
  if (width === 0) {
    for (let day = 0; day < days; day++) into[at + day] += base
    return
  }
  const narrow = width === 1 ? bytes : words
  const column = width === 4 ? doubles : narrow
  for (let day = 0; day < days; day++) into[at + day] += base + step * column[from + day]
}

/** Statistic by day of a season; a day without a sample has count 0 and an undefined value. */
export interface DayValues {
  readonly value: Int32Array
  readonly count: Int32Array
}

interface AskedDays {
  readonly ordinal: number
  readonly measure: Measure
  readonly aggregation: Aggregation
  readonly zone: Zone
}

export class Aggregates {
  readonly #ids: Uint32Array
  readonly #years: ReadonlyMap<number, AggregateYear>

  /** `ids` of the catalogue's buoys, ascending. */
  constructor(ids: Uint32Array, years: readonly AggregateYear[]) {
    this.#ids = ids
    this.#years = new Map(years.map((rows) => [rows.year, rows]))
  }

  /** Index of a buoy in a year, or −1. Most years have most buoys, so its ordinal is usually right. */
  #placeOf(buoys: Uint32Array, ordinal: number): number {
    const id = this.#ids[ordinal]
    if (buoys[ordinal] === id) return ordinal
    const at = lowerBound(buoys, id)
    return buoys[at] === id ? at : -1
  }

  /** Whether days of a year are known in `zone`: the buoy's zone, with the same clock as the builder's. */
  knows(year: number, ordinal: number, zone: Zone): boolean {
    const rows = this.#years.get(year)
    if (rows === undefined) return false
    const at = this.#placeOf(rows.buoys, ordinal)
    // A buoy without rows in the year has no samples on any day.
    if (at === -1) return true
    const index = rows.zone[at]
    if (index === NO_ZONE) return false
    const { name, rules } = rows.zones[index]
    return name === zone.name && yearDays(zone, year).hasRules(rules)
  }

  /** How many of the days [from, to) of a year that it `knows`, counted from 1 January, may have samples. */
  daysWithin(year: number, ordinal: number, from: number, to: number): number {
    const rows = this.#years.get(year)!
    const at = this.#placeOf(rows.buoys, ordinal)
    if (at === -1) return 0
    const first = rows.first[at]
    return Math.max(0, Math.min(to, first + rows.days[at]) - Math.max(from, first))
  }

  /** Reads days [from, to) of a year that it `knows`, within its `yearDays`, into `into` from `at` on. */
  read(year: number, asked: AskedDays, from: number, to: number, into: DayValues, at: number): void {
    const { ordinal, measure, aggregation } = asked
    const rows = this.#years.get(year)!
    const { value, count } = into
    count.fill(0, at, at + to - from)
    value.fill(0, at, at + to - from)
    const index = this.#placeOf(rows.buoys, ordinal)
    if (index === -1) return
    const first = Math.max(from, rows.first[index])
    const days = Math.min(to, rows.first[index] + rows.days[index]) - first
    if (days <= 0) return
    const skipped = first - rows.first[index]
    const target = at + first - from
    const streams = (index * STREAMS_OF_BUOY + FIRST_STREAM[measure.name]) * STREAM_WORDS
    const samples = streams + (streamsOf(measure) - 1) * STREAM_WORDS
    addStream(rows, streams, skipped, days, 1, value, target)
    addStream(rows, samples, skipped, days, 1, count, target)
    if (isDirection(measure)) {
      for (let i = target; i < target + days; i++) {
        if (value[i] === CANCELLED) value[i] = NO_VALUE
      }
      return
    }
    const [difference, sign] = DIFFERENCE[aggregation]
    if (difference === 0) return
    addStream(rows, streams + difference * STREAM_WORDS, skipped, days, sign, value, target)
  }
}

const HASH_DIGITS = 16
const FIRST_YEAR = 1970

export class YearDays {
  /** Day i of the year is [edges[i], edges[i + 1]), epoch seconds; a day that the clock skips is empty. */
  readonly edges: Float64Array
  /** Days [from, to) are within the year in UTC; at most one day at either end is not. */
  readonly from: number
  readonly to: number
  readonly #rules: string

  constructor(zone: Zone, year: number) {
    const first = daysFromCivil(year, 1, 1)
    const next = daysFromCivil(year + 1, 1, 1)
    const count = next - first
    const edges = Float64Array.from({ length: count + 1 }, (_, day) => zone.firstInstant((first + day) * DAY))
    this.edges = edges
    this.from = edges[0] >= first * DAY ? 0 : 1
    this.to = edges[count] <= next * DAY ? count : count - 1
    this.#rules = hashOf(edges)
  }

  /** A hash of the edges of days up to `time` (epoch seconds): editions of the tz database differ. */
  rulesUntil(time: number): string {
    return this.#rulesOf(partitionPoint(0, this.edges.length, (i) => this.edges[i] <= time))
  }

  #rulesOf(days: number): string {
    return days < this.edges.length - 1 ? `${hashOf(this.edges.subarray(0, days + 1))}/${days}` : this.#rules
  }

  /** Whether `rules`, from another program, describe the same days here. */
  hasRules(rules: string): boolean {
    if (rules === this.#rules) return true
    const days = /^[0-9a-f]+\/([0-9]{1,3})$/.exec(rules)
    return days !== null && this.#rulesOf(Number(days[1])) === rules
  }
}

/** Per thread, by year from 1970 on: 3 KB for each zone and year in a snapshot's aggregates. */
const kept = new WeakMap<Zone, (YearDays | undefined)[]>()

/** The days of a year from 1970 to 2105, kept as long as the zone is. */
export function yearDays(zone: Zone, year: number): YearDays {
  let years = kept.get(zone)
  if (years === undefined) kept.set(zone, (years = []))
  return (years[year - FIRST_YEAR] ??= new YearDays(zone, year))
}

function hashOf(column: Float64Array): string {
  return createHash('sha256').update(column).digest('hex').slice(0, HASH_DIGITS)
}

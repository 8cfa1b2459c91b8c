/**
 * What a build worked out of each buoy's and measure's days: median, mean, least and greatest value and the
 * number of samples, of directions the circular mean and the number.
 *
 * A day is one of the clock of the buoy's zone and belongs to a calendar year; those that lie in two years of
 * UTC are left out. A year of one statistic is a stream: bytes, words or double words that times `step` plus
 * `base` are its values, or nothing at all where all are the same.
 */
import { MEASURE_NAMES, MEASURES, type Measure, type MeasureName } from '../sea/columns.ts'
import type { Zone } from '../sea/zones.ts'
import { yearDays } from './days.ts'
import { isDirection, NO_VALUE, type Aggregation } from './statistics.ts'

/** A year of aggregates, as views on its part. */
export interface AggregateYear {
  readonly file: string
  readonly year: number
  /** Zones of the buoys, and a hash of the edges of their days. */
  readonly zones: readonly { readonly name: string; readonly rules: string }[]
  /** Ids of all buoys that have rows in the year, ascending. */
  readonly buoys: Uint32Array
  /** Index of each buoy's zone; `NO_ZONE` where nothing is known of its days. */
  readonly zone: Uint16Array
  /** First day of each buoy with a sample, counted from 1 January, and the days from there to its last. */
  readonly first: Uint16Array
  readonly days: Uint16Array
  /** `STREAM_WORDS` of each stream, `STREAMS_OF_BUOY` streams of each buoy. */
  readonly streams: Int32Array
  /** Streams of one, two and four bytes a day. */
  readonly bytes: Uint8Array
  readonly words: Uint16Array
  readonly doubles: Uint32Array
}

/** In the column of zones: a buoy that is not in the catalogue. */
export const NO_ZONE = 0xffff

/** Of a stream: base, step, bytes a day (0, 1, 2 or 4), and where its first day stands. */
export const STREAM_WORDS = 4

/** Stands in a stream for directions that cancel out: behind every whole degree. */
export const CANCELLED = 360

/**
 * Streams of a measure: the median; the mean less the median; the median less the least; the greatest less
 * the median; samples. Of a direction: the circular mean; samples.
 */
export function streamsOf(measure: Measure): number {
  return isDirection(measure) ? 2 : 5
}

/** Where the streams of a measure begin among those of a buoy. */
export const FIRST_STREAM = Object.fromEntries(
  MEASURE_NAMES.map((name, i) => [
    name,
    MEASURE_NAMES.slice(0, i).reduce((sum, before) => sum + streamsOf(MEASURES[before]), 0),
  ]),
) as { readonly [name in MeasureName]: number }

export const STREAMS_OF_BUOY = MEASURE_NAMES.reduce((sum, name) => sum + streamsOf(MEASURES[name]), 0)

/** Stream of the difference from the median that each statistic is, and its sign. */
const DIFFERENCE: { readonly [aggregation in Aggregation]: readonly [stream: number, sign: number] } = {
  median: [0, 0],
  avg: [1, 1],
  min: [2, -1],
  max: [3, 1],
}

/** Adds `sign` times the values of a stream's first `days` to `into`, from `at` on. */
export function addStream(
  { streams, bytes, words, doubles }: AggregateYear,
  stream: number,
  days: number,
  sign: number,
  into: Int32Array,
  at: number,
): void {
  const base = sign * streams[stream]
  const step = sign * streams[stream + 1]
  const from = streams[stream + 3]
  // A loop for each type of column: one for all would look the type up at each day.
  switch (streams[stream + 2]) {
    case 0:
      for (let day = 0; day < days; day++) into[at + day] += base
      return
    case 1:
      for (let day = 0; day < days; day++) into[at + day] += base + step * bytes[from + day]
      return
    case 2:
      for (let day = 0; day < days; day++) into[at + day] += base + step * words[from + day]
      return
    default:
      for (let day = 0; day < days; day++) into[at + day] += base + step * doubles[from + day]
  }
}

const MOST_DAYS = 366

/** A statistic of a buoy's days in one calendar year, valid until the next is read. */
export class DayValues {
  /** Days `from` to before `to`, counted from 1 January, are known. */
  from = 0
  to = 0
  /** As `Series.value` and `Series.count`; a day without a sample counts none, and its value says nothing. */
  readonly value = new Int32Array(MOST_DAYS)
  readonly count = new Int32Array(MOST_DAYS)
}

export class Aggregates {
  readonly #years = new Map<number, { rows: AggregateYear; place: Int32Array }>()

  /** `ids` of the catalogue's buoys, ascending. */
  constructor(ids: Uint32Array, years: readonly AggregateYear[]) {
    for (const rows of years) {
      const place = new Int32Array(ids.length).fill(-1)
      let at = 0
      for (let ordinal = 0; ordinal < ids.length; ordinal++) {
        while (at < rows.buoys.length && rows.buoys[at] < ids[ordinal]) at++
        if (rows.buoys[at] === ids[ordinal]) place[ordinal] = at
      }
      this.#years.set(rows.year, { rows, place })
    }
  }

  /** Whether anything is known of the days of a year in `zone`, which must be the buoy's. */
  knows(year: number, ordinal: number, zone: Zone): boolean {
    const found = this.#years.get(year)
    if (found === undefined) return false
    const at = found.place[ordinal]
    // A buoy without rows in the year has none of any day.
    if (at === -1) return true
    const index = found.rows.zone[at]
    if (index === NO_ZONE) return false
    const { name, rules } = found.rows.zones[index]
    return name === zone.name && rules === yearDays(zone, year).rules
  }

  /** Reads a statistic of all days of a year into `into`. @returns whether anything is known of them */
  read(
    year: number,
    ordinal: number,
    measure: Measure,
    aggregation: Aggregation,
    zone: Zone,
    into: DayValues,
  ): boolean {
    if (!this.knows(year, ordinal, zone)) return false
    const { rows, place } = this.#years.get(year)!
    const { from, to } = yearDays(zone, year)
    into.from = from
    into.to = to
    const { value, count } = into
    count.fill(0)
    const at = place[ordinal]
    if (at === -1) return true
    value.fill(0)
    const first = rows.first[at]
    const days = rows.days[at]
    const streams = (at * STREAMS_OF_BUOY + FIRST_STREAM[measure.name]) * STREAM_WORDS
    const circular = isDirection(measure)
    addStream(rows, streams, days, 1, value, first)
    addStream(rows, streams + (streamsOf(measure) - 1) * STREAM_WORDS, days, 1, count, first)
    if (circular) {
      for (let day = first; day < first + days; day++) if (value[day] === CANCELLED) value[day] = NO_VALUE
      return true
    }
    const [difference, sign] = DIFFERENCE[aggregation]
    if (difference > 0) addStream(rows, streams + difference * STREAM_WORDS, days, sign, value, first)
    return true
  }
}

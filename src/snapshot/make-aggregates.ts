/** Makes the yearly parts of daily aggregates from what a build worked out of readings and weather. */
import {
  addStream,
  CANCELLED,
  FIRST_STREAM,
  NO_ZONE,
  STREAM_WORDS,
  STREAMS_OF_BUOY,
  streamsOf,
  type AggregateYear,
} from '../index/day-aggregates.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import { MEASURES, type Column, type Measure, type MeasureName } from '../sea/columns.ts'
import { daysFromCivil } from '../sea/time.ts'
import type { Part } from './snapshot-format.ts'

/** A measure's statistics by day of a year; 0 on days without a sample. */
export interface DayStatistics {
  /** The circular mean or `NO_VALUE` for a direction. */
  readonly median: Int32Array
  readonly mean: Int32Array
  readonly least: Int32Array
  readonly greatest: Int32Array
  readonly count: Int32Array
}

export interface AggregatedBuoy {
  readonly id: number
  /** Null for a buoy that is in neither this catalogue nor the last. */
  readonly zone: { readonly name: string; readonly rules: string } | null
  readonly measures: ReadonlyMap<MeasureName, DayStatistics>
}

/** A year of aggregates as a part. `buoys` ascend by id. */
export function aggregatesPart(
  year: number,
  madeFrom: string,
  buoys: readonly AggregatedBuoy[],
): { part: Part; rows: number } {
  const zones = new Map<string, string>()
  for (const { zone } of buoys) {
    if (zone !== null) zones.set(zone.name, zone.rules)
  }
  const names = [...zones.keys()].sort()
  const place = new Map(names.map((name, i) => [name, i]))
  const writer = new StreamWriter(buoys.length)
  const first = new Uint16Array(buoys.length)
  const days = new Uint16Array(buoys.length)
  let rows = 0
  buoys.forEach(({ measures }, i) => {
    const [from, to] = daysWithSamples(measures)
    first[i] = from
    days[i] = to - from
    for (const statistics of measures.values()) {
      for (let day = from; day < to; day++) {
        if (statistics.count[day] > 0) rows++
      }
    }
    writer.buoy(i, measures, from, to)
  })
  const zoneOf = ({ zone }: AggregatedBuoy): number => (zone === null ? NO_ZONE : place.get(zone.name)!)
  return {
    part: {
      kind: 'aggregates',
      meta: { year, made_from: madeFrom, zones: names.map((name) => [name, zones.get(name)!]) },
      columns: new Map<string, Column>([
        ['buoy', Uint32Array.from(buoys, ({ id }) => id)],
        ['zone', Uint16Array.from(buoys, zoneOf)],
        ['first', first],
        ['days', days],
        ...writer.columns(),
      ]),
    },
    rows,
  }
}

/** First day with a sample and the day after the last; [0, 0] where no day has one. */
function daysWithSamples(measures: ReadonlyMap<MeasureName, DayStatistics>): [from: number, to: number] {
  let from = Infinity
  let to = 0
  for (const { count } of measures.values()) {
    const first = count.findIndex((samples) => samples > 0)
    if (first === -1) continue
    from = Math.min(from, first)
    to = Math.max(to, count.findLastIndex((samples) => samples > 0) + 1)
  }
  return to === 0 ? [0, 0] : [from, to]
}

class StreamWriter {
  readonly #streams: Int32Array
  readonly #bytes = new Growing((length) => new Uint8Array(length))
  readonly #words = new Growing((length) => new Uint16Array(length))
  readonly #doubles = new Growing((length) => new Uint32Array(length))

  constructor(buoys: number) {
    this.#streams = new Int32Array(buoys * STREAMS_OF_BUOY * STREAM_WORDS)
  }

  buoy(index: number, measures: ReadonlyMap<MeasureName, DayStatistics>, from: number, to: number): void {
    for (const [name, statistics] of measures) {
      const at = (index * STREAMS_OF_BUOY + FIRST_STREAM[name]) * STREAM_WORDS
      const { median, mean, least, greatest, count } = statistics
      // Networks that know only one period have its bytes once.
      if (name === 'peakPeriod' && isSame(statistics, measures.get('period'))) {
        const period = (index * STREAMS_OF_BUOY + FIRST_STREAM.period) * STREAM_WORDS
        this.#streams.copyWithin(at, period, period + streamsOf(MEASURES.period) * STREAM_WORDS)
        continue
      }
      const day = (value: (day: number) => number): number[] =>
        Array.from({ length: to - from }, (_, i) => (count[from + i] === 0 ? NaN : value(from + i)))
      const values = isDirection(MEASURES[name])
        ? [day((i) => (median[i] === NO_VALUE ? CANCELLED : median[i]))]
        : [
            day((i) => median[i]),
            day((i) => mean[i] - median[i]),
            day((i) => median[i] - least[i]),
            day((i) => greatest[i] - median[i]),
          ]
      values.push(Array.from(count.subarray(from, to)))
      values.forEach((stream, i) => this.#stream(at + i * STREAM_WORDS, stream))
    }
  }

  /** `values` has NaN where any value will do. */
  #stream(at: number, values: readonly number[]): void {
    let base = Infinity
    for (const value of values) {
      if (value < base) base = value
    }
    if (base === Infinity) return
    let step = 0
    let most = 0
    for (const value of values) {
      if (Number.isNaN(value)) continue
      step = greatestDivisor(step, value - base)
      most = Math.max(most, value - base)
    }
    this.#streams[at] = base
    if (most === 0) return
    const codes = values.map((value) => (Number.isNaN(value) ? 0 : (value - base) / step))
    const size = most / step
    let [width, column]: [number, Growing<Uint8Array | Uint16Array | Uint32Array>] = [4, this.#doubles]
    if (size < 2 ** 8) [width, column] = [1, this.#bytes]
    else if (size < 2 ** 16) [width, column] = [2, this.#words]
    this.#streams.set([step, width, column.length], at + 1)
    column.add(codes)
  }

  columns(): [string, Column][] {
    return [
      ['streams', this.#streams],
      ['bytes', this.#bytes.values()],
      ['words', this.#words.values()],
      ['doubles', this.#doubles.values()],
    ]
  }
}

class Growing<T extends Uint8Array | Uint16Array | Uint32Array> {
  #room: T
  readonly #make: (length: number) => T
  length = 0

  constructor(make: (length: number) => T) {
    this.#make = make
    this.#room = make(1024)
  }

  add(values: readonly number[]): void {
    if (this.length + values.length > this.#room.length) {
      const larger = this.#make(2 * (this.length + values.length))
      larger.set(this.#room)
      this.#room = larger
    }
    this.#room.set(values, this.length)
    this.length += values.length
  }

  values(): T {
    return this.#room.subarray(0, this.length) as T
  }
}

function isSame(a: DayStatistics, b: DayStatistics | undefined): boolean {
  if (b === undefined) return false
  const [all, others] = [Object.values(a) as Int32Array[], Object.values(b) as Int32Array[]]
  return all.every((values, i) => values.every((value, day) => value === others[i][day]))
}

function greatestDivisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b]
  return a
}

/** The statistics of a measure of the buoy at `index`; null where no day has a sample. */
export function statisticsOf(year: AggregateYear, index: number, measure: Measure): DayStatistics | null {
  const daysOfYear = daysFromCivil(year.year + 1, 1, 1) - daysFromCivil(year.year, 1, 1)
  const at = (index * STREAMS_OF_BUOY + FIRST_STREAM[measure.name]) * STREAM_WORDS
  const [first, days] = [year.first[index], year.days[index]]
  const stream = (number: number, sign: number, onto?: Int32Array): Int32Array => {
    const values = onto?.slice() ?? new Int32Array(daysOfYear)
    addStream(year, at + number * STREAM_WORDS, 0, days, sign, values, first)
    return values
  }
  const count = stream(streamsOf(measure) - 1, 1)
  if (count.every((samples) => samples === 0)) return null
  const median = stream(0, 1)
  const circular = isDirection(measure)
  const statistics = circular
    ? { median, mean: median.slice(), least: median.slice(), greatest: median.slice(), count }
    : {
        median,
        mean: stream(1, 1, median),
        least: stream(2, -1, median),
        greatest: stream(3, 1, median),
        count,
      }
  for (let day = 0; day < daysOfYear; day++) {
    if (count[day] === 0)
      for (const values of [median, statistics.mean, statistics.least, statistics.greatest]) values[day] = 0
    else if (circular && median[day] === CANCELLED) median[day] = NO_VALUE
  }
  return statistics
}

/** Readings in buckets of a clock: a row for each bucket in which a buoy has any. */
import {
  RANGE_BUCKETS,
  type RangeBucket,
  rangeStretches,
  rowsOf,
  Samples,
  type Stretches,
} from '../index/buckets.ts'
import type { Run, Segments } from '../index/segments.ts'
import { type Aggregation, isDirection, NO_VALUE } from '../index/statistics.ts'
import { extraMeasures, WIRE_NAMES } from '../dataset/reading-json.ts'
import { type Column, flag, integer, number, time, word } from '../dataset/table.ts'
import { refused } from '../operation/errors.ts'
import { type Measure, type MeasureName, MEASURES } from '../sea/columns.ts'
import { HOUR, timestampText } from '../sea/time.ts'
import { UTC, type Zone } from '../sea/zones.ts'

/** Buckets of a buoy: ten years of days. */
const MOST_BUCKETS = 3660
const MOST_OF_BUOYS = 100 * MOST_BUCKETS

const USUAL: readonly MeasureName[] = [
  'significantHeight',
  'maximumHeight',
  'period',
  'waterTemperature',
  'direction',
]

/** A buoy with its rows from `first` to before `end`. */
export interface BuoyRun {
  readonly ordinal: number
  readonly first: number
  readonly end: number
}

/** Its rows are the buckets that have readings. */
export interface BuoyBuckets extends BuoyRun {
  /** The clock's buckets, which the runs of all buoys share. */
  readonly stretches: Stretches
  /** By row: the first stretch of its bucket, and its readings. */
  readonly stretch: Uint32Array
  readonly counts: Uint32Array
}

export interface BucketRun extends Run {
  readonly buckets: BuoyBuckets
}

export interface BucketsAsked {
  readonly bucket: RangeBucket
  readonly aggregation: 'mean' | 'max' | 'min' | 'median'
  /** Null: UTC, and buckets say neither their label nor whether they are partial. */
  readonly zone: Zone | null
  /** Both included, epoch seconds. */
  readonly start: number
  readonly end: number
  /** Ends that the request names, which cut buckets; infinite without. */
  readonly cut: { readonly start: number; readonly end: number }
}

/**
 * @param runs positions of the readings of the range @throws ApiError 422 for more buckets than an answer
 * has
 */
export function bucketsOf(readings: Segments, runs: readonly BuoyRun[], asked: BucketsAsked): BuoyBuckets[] {
  const { bucket, zone, start, end } = asked
  const most = Math.ceil((end - start) / HOUR / RANGE_BUCKETS[bucket])
  if (most > MOST_BUCKETS || most * runs.length > MOST_OF_BUOYS) {
    const allowed = `at most ${MOST_BUCKETS} a buoy and ${MOST_OF_BUOYS} in all: take longer buckets, a shorter range or fewer buoys`
    throw refused('bucket', `makes too many rows. Allowed: ${allowed}`, 'validation_failed')
  }
  if (runs.length === 0) return []
  const stretches = rangeStretches(zone ?? UTC, bucket, start, end)
  const { from, until, local } = stretches
  return runs.map(({ ordinal, first, end: behind }) => {
    const oldest = readings.timeAt(ordinal, first)
    const newest = readings.timeAt(ordinal, behind - 1)
    const stretch: number[] = []
    const counts: number[] = []
    for (let i = 0; i < from.length; i++) {
      if (until[i] <= oldest || from[i] > newest) continue
      const within = readings.between(ordinal, Math.max(from[i], oldest), Math.min(until[i] - 1, newest))
      const count = within.end - within.first
      if (count === 0) continue
      const begin = firstStretch(local, i)
      if (stretch.at(-1) === begin) counts[counts.length - 1] += count
      else {
        stretch.push(begin)
        counts.push(count)
      }
    }
    return {
      ordinal,
      first: 0,
      end: stretch.length,
      stretches,
      stretch: Uint32Array.from(stretch),
      counts: Uint32Array.from(counts),
    }
  })
}

/** The first stretch of the bucket that has stretch `i`. */
function firstStretch(local: Stretches['local'], i: number): number {
  let first = i
  while (first > 0 && local[first - 1] === local[i]) first--
  return first
}

/** The last one of the bucket that has stretch `i`. */
function lastStretch(local: Stretches['local'], i: number): number {
  let last = i
  while (local[last + 1] === local[i]) last++
  return last
}

/** Characters of `2026-10-25 05:00` that a label has. */
const LABEL_LENGTHS: { readonly [bucket in RangeBucket]: number } = {
  '1h': 16,
  '3h': 16,
  '1d': 10,
  '1mo': 7,
}

/** Columns of a bucket's label, the zone's clock at its beginning, and whether the range cuts it. */
function clockColumns({ bucket, cut }: BucketsAsked): Column[] {
  const isPartial = (row: number, { buckets: { stretches, stretch } }: BucketRun): boolean => {
    const last = lastStretch(stretches.local, stretch[row])
    return stretches.from[stretch[row]] < cut.start || stretches.until[last] - 1 > cut.end
  }
  const length = LABEL_LENGTHS[bucket]
  return [
    word('label', length, (writer, row, { buckets: { stretches, stretch } }: BucketRun) => {
      writer.text(timestampText(stretches.local[stretch[row]]).replace('T', ' ').slice(0, length))
    }),
    { ...flag('partial', isPartial), isLeftOut: (row, run: BucketRun) => !isPartial(row, run) },
  ]
}

/** Columns of buckets; values are worked out at their first reading. */
export function bucketColumns(
  readings: Segments,
  asked: BucketsAsked,
  included: number | undefined,
): Column[] {
  const measured = (name: MeasureName): Column => {
    const measure: Measure = MEASURES[name]
    const perUnit = isDirection(measure) ? 1 : 100
    let worked: BuoyBuckets | null = null
    let values: Int32Array = new Int32Array(0)
    const value = (row: number, { buckets }: BucketRun): number => {
      if (buckets !== worked) values = statisticsOf(readings, (worked = buckets), asked, measure)
      const found = values[row]
      return found === NO_VALUE ? NaN : found / perUnit
    }
    return number(WIRE_NAMES[name], value, measure.unit)
  }
  return [
    time('time', (row, { buckets }: BucketRun) => buckets.stretches.from[buckets.stretch[row]]),
    ...(asked.zone === null ? [] : clockColumns(asked)),
    ...[...USUAL, ...extraMeasures(included)].map(measured),
    integer('sample_count', (row, { buckets }: BucketRun) => buckets.counts[row]),
  ]
}

const STATISTICS: { readonly [aggregation in BucketsAsked['aggregation']]: Aggregation } = {
  mean: 'avg',
  max: 'max',
  min: 'min',
  median: 'median',
}

/** By row of `buckets`, from its first to its last: hundredths of the unit, whole degrees, or `NO_VALUE`. */
function statisticsOf(
  readings: Segments,
  { ordinal, first, end: behind, stretches, stretch }: BuoyBuckets,
  { aggregation, start, end }: BucketsAsked,
  measure: Measure,
): Int32Array {
  const samples = new Samples([rowsOf(readings, ordinal, measure)], measure)
  const values = new Int32Array(behind).fill(NO_VALUE)
  const { from, until, local } = stretches
  for (let row = first; row < behind; row++) {
    const last = lastStretch(local, stretch[row])
    let count = 0
    for (let i = stretch[row]; i <= last; i++) {
      const stop = Math.min(until[i], Math.floor(end) + 1)
      samples.seek(Math.max(from[i], Math.ceil(start)), stop)
      count = samples.gather(stop, count)
    }
    if (count > 0) values[row] = samples.statistic(count, STATISTICS[aggregation])
  }
  return values
}

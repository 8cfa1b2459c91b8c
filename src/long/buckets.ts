/** Readings in buckets of a clock: a row for each bucket in which a buoy has any. */
import { RANGE_BUCKETS, type RangeBucket, rangeBuckets, rowsOf, Samples } from '../index/buckets.ts'
import { partitionPoint } from '../index/bisect.ts'
import type { Segments } from '../index/segments.ts'
import { type Aggregation, isDirection, NO_VALUE } from '../index/statistics.ts'
import { extraMeasures, WIRE_NAMES } from '../dataset/reading-json.ts'
import { type Column, integer, number, time } from '../dataset/table.ts'
import { refused } from '../operation/errors.ts'
import { type Measure, type MeasureName, MEASURES } from '../sea/columns.ts'
import { HOUR } from '../sea/time.ts'
import type { Zone } from '../sea/zones.ts'

/** Of a buoy: ten years of days. */
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
export interface Span {
  readonly ordinal: number
  readonly first: number
  readonly end: number
}

/** Its rows are the buckets that have readings. */
export interface BucketSpan extends Span {
  /** Epoch seconds, by row. */
  readonly starts: Float64Array
  readonly ends: Float64Array
  readonly counts: Uint32Array
}

export interface BucketsAsked {
  readonly bucket: RangeBucket
  readonly aggregation: 'mean' | 'max' | 'min' | 'median'
  readonly zone: Zone
  /** Both included, epoch seconds. */
  readonly start: number
  readonly end: number
}

/**
 * @param spans positions of the readings of the range @throws ApiError 422 for more buckets than an answer
 * has
 */
export function bucketSpans(readings: Segments, spans: readonly Span[], asked: BucketsAsked): BucketSpan[] {
  const { bucket, zone, start, end } = asked
  const most = Math.ceil((end - start) / HOUR / RANGE_BUCKETS[bucket])
  if (most > MOST_BUCKETS || most * spans.length > MOST_OF_BUOYS) {
    const allowed = `up to ${MOST_BUCKETS} a buoy and ${MOST_OF_BUOYS} in all, by a longer bucket, a shorter range or fewer buoys`
    throw refused('bucket', `makes too many rows. Allowed: ${allowed}`, 'validation_failed')
  }
  const edges = spans.length === 0 ? new Float64Array(0) : rangeBuckets(zone, bucket, start, end)
  return spans.map(({ ordinal, first, end: behind }) => {
    const [starts, ends, counts]: number[][] = [[], [], []]
    for (let position = first; position < behind;) {
      const epoch = readings.timeAt(ordinal, position)
      const next = partitionPoint(0, edges.length, (i) => edges[i] <= epoch)
      const until = Math.min(behind, readings.positionOf(ordinal, edges[next]))
      starts.push(edges[next - 1])
      ends.push(edges[next])
      counts.push(until - position)
      position = until
    }
    return {
      ordinal,
      first: 0,
      end: starts.length,
      starts: Float64Array.from(starts),
      ends: Float64Array.from(ends),
      counts: Uint32Array.from(counts),
    }
  })
}

/** Columns of the buckets of `cursor`; values are worked out at their first reading. */
export function bucketColumns(
  readings: Segments,
  cursor: { readonly span: BucketSpan },
  asked: BucketsAsked,
  included: number | undefined,
): Column[] {
  const measured = (name: MeasureName): Column => {
    const measure: Measure = MEASURES[name]
    const perUnit = isDirection(measure) ? 1 : 100
    let of: BucketSpan | null = null
    let values: Int32Array = new Int32Array(0)
    const value = (row: number): number => {
      if (cursor.span !== of) values = statisticsOf(readings, (of = cursor.span), asked, measure)
      const found = values[row]
      return found === NO_VALUE ? NaN : found / perUnit
    }
    return number(WIRE_NAMES[name], value, measure.unit)
  }
  return [
    time('time', (row) => cursor.span.starts[row]),
    ...[...USUAL, ...extraMeasures(included)].map(measured),
    integer('sample_count', (row) => cursor.span.counts[row]),
  ]
}

const STATISTICS: { readonly [aggregation in BucketsAsked['aggregation']]: Aggregation } = {
  mean: 'avg',
  max: 'max',
  min: 'min',
  median: 'median',
}

/** By row of `span`, from its first to its last: hundredths of the unit, whole degrees, or `NO_VALUE`. */
function statisticsOf(
  readings: Segments,
  { ordinal, first, end: behind, starts, ends }: BucketSpan,
  { aggregation, start, end }: BucketsAsked,
  measure: Measure,
): Int32Array {
  const samples = new Samples([rowsOf(readings, ordinal, measure)], measure)
  const values = new Int32Array(behind).fill(NO_VALUE)
  for (let row = first; row < behind; row++) {
    const until = Math.min(ends[row], Math.floor(end) + 1)
    samples.seek(Math.max(starts[row], Math.ceil(start)), until)
    const count = samples.gather(until)
    if (count > 0) values[row] = samples.statistic(count, STATISTICS[aggregation])
  }
  return values
}

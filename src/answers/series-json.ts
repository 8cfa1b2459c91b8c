/** A seasonal series as JSON, step by step. */
import { type JsonWriter } from './json.ts'
import { Literal } from './literals.ts'
import { endList } from './operation.ts'
import type { Fragments } from './fragments.ts'
import { Series, type SeriesLists, type SeriesQuery } from '../index/seasons.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import type { Zone } from '../sea/zones.ts'
import type { Steps } from '../system/steps.ts'

const POINT_INDEX = new Literal('{"bucket_index":')
const LABEL = new Literal(',"label":"')
const BUCKET_START = new Literal('","bucket_start":')
const BUCKET_END = new Literal(',"bucket_end":')
const VALUE = new Literal(',"value":')
const SAMPLE_COUNT = new Literal(',"sample_count":')
const POINT_END = new Literal('}')

/** More than what stands before the first season takes, before the first point of one, and any point. */
export const START_BYTES = 1024
export const YEAR_BYTES = 128
export const POINT_BYTES = 176
/** Points that are written in a step: 11 KB, some 30 µs. */
const POINTS_OF_STEP = 64

/** Writes the series of `metric` of the buoy at `ordinal`. A step writes 16 KB at most. */
export function* writeSeries(
  writer: JsonWriter,
  summaries: Fragments,
  ordinal: number,
  metric: string,
  asked: SeriesQuery,
  rows: SeriesLists,
): Steps<void> {
  const { zone: clock, dates, bucket, aggregation, startYear, endYear } = asked
  writer.text('{"buoy":')
  summaries.writeTo(writer, ordinal)
  writer.text(
    `,"metric":"${metric}","bucket":"${bucket}","aggregation":"${aggregation}",` +
      `"timezone":${JSON.stringify(clock.name)},"season":{"start":{"month":${dates.startMonth},"day":${dates.startDay}},` +
      `"end":{"month":${dates.endMonth},"day":${dates.endDay}}},"years":[`,
  )
  yield
  const series = new Series(asked, rows)
  let count = 0
  for (let year = startYear; year <= endYear; year++) {
    writer.ensure(YEAR_BYTES)
    if (year > startYear) writer.comma()
    count += yield* writeSeason(writer, asked, series, year)
  }
  endList(writer, count)
}

/** Writes the season of `year`; returns how many points it has. */
function* writeSeason(
  writer: JsonWriter,
  { zone: clock, bucket, measure }: SeriesQuery,
  series: Series,
  year: number,
): Steps<number> {
  const { complete } = yield* series.season(year)
  const { length } = series
  writer.ensure(YEAR_BYTES)
  writer.text(`{"year":${year},"complete":${complete},"point_count":${length},"points":[`)
  for (let from = 0; from < length; from += POINTS_OF_STEP) {
    const to = Math.min(length, from + POINTS_OF_STEP)
    writePoints(writer, series, from, to, clock, bucket === 'hour', isDirection(measure))
    yield
  }
  writer.text(']}')
  return length
}

function writePoints(
  writer: JsonWriter,
  series: Series,
  from: number,
  to: number,
  clock: Zone,
  hourly: boolean,
  circular: boolean,
): void {
  writer.ensure((to - from) * POINT_BYTES)
  // The clock is asked again where its offset may have changed.
  let offset = 0
  let steadyUntil = -Infinity
  const offsetAt = (epoch: number): number => {
    if (epoch >= steadyUntil) {
      offset = clock.offsetAt(epoch)
      steadyUntil = clock.steadyUntil(epoch)
    }
    return offset
  }
  for (let point = from; point < to; point++) {
    if (point > 0) writer.comma()
    const [start, end, value] = [series.start(point), series.end(point), series.value[point]]
    writer.literal(POINT_INDEX)
    writer.integer(series.ordinal(point))
    writer.literal(LABEL)
    writer.dayLabel(start + offsetAt(start), hourly)
    writer.literal(BUCKET_START)
    writer.localTime(start, offset)
    writer.literal(BUCKET_END)
    writer.localTime(end, offsetAt(end))
    writer.literal(VALUE)
    if (value === NO_VALUE) writer.null()
    else if (circular) writer.integer(value)
    else writer.hundredths(value)
    writer.literal(SAMPLE_COUNT)
    writer.integer(series.count[point])
    writer.literal(POINT_END)
  }
}

/** A seasonal series as JSON, season by season. */
import { LRUCache } from 'lru-cache'
import { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { endList } from '../dataset/json-writer.ts'
import type { Fragments } from '../dataset/fragments.ts'
import { Series, type SeriesLists, type SeriesQuery } from '../index/seasons.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import type { Zone } from '../sea/zones.ts'

const POINT_INDEX = new Literal('{"bucket_index":')
const LABEL = new Literal(',"label":"')
const BUCKET_START = new Literal('","bucket_start":')
const BUCKET_END = new Literal(',"bucket_end":')
const VALUE = new Literal(',"value":')
const SAMPLE_COUNT = new Literal(',"sample_count":')
const POINT_END = new Literal('}')

/** Bytes: more than the text before a season's points, and a point take. */
const YEAR_BYTES = 128
const POINT_BYTES = 176

/** A season in each piece: of hours, some 1.3 MB. */
export function seriesJson(
  summaries: Fragments,
  ordinal: number,
  metric: string,
  asked: SeriesQuery,
  rows: SeriesLists,
): { next(writer: JsonWriter): boolean } {
  const { startYear, endYear } = asked
  const series = new Series(asked, rows)
  let year = startYear
  let count = 0
  return {
    next(writer) {
      if (year === startYear) writeStart(writer, summaries, ordinal, metric, asked)
      else writer.comma()
      count += writeSeason(writer, asked, series, year)
      if (year++ < endYear) return false
      endList(writer, count)
      return true
    },
  }
}

function writeStart(
  writer: JsonWriter,
  summaries: Fragments,
  ordinal: number,
  metric: string,
  { zone: clock, dates, bucket, aggregation }: SeriesQuery,
): void {
  writer.text('{"buoy":')
  summaries.writeTo(writer, ordinal)
  writer.text(
    `,"metric":"${metric}","bucket":"${bucket}","aggregation":"${aggregation}",` +
      `"timezone":${JSON.stringify(clock.name)},"season":{"start":{"month":${dates.startMonth},"day":${dates.startDay}},` +
      `"end":{"month":${dates.endMonth},"day":${dates.endDay}}},"years":[`,
  )
}

/** @returns how many points the season has */
function writeSeason(writer: JsonWriter, asked: SeriesQuery, series: Series, year: number): number {
  const { complete } = series.season(year)
  const { length } = series
  const heads = asked.bucket === 'day' && length > 0 ? headsOf(asked, series, year) : null
  writer.text(`{"year":${year},"complete":${complete},"point_count":${length},"points":[`)
  writer.ensure(length * POINT_BYTES + YEAR_BYTES)
  writePoints(writer, asked, series, heads)
  writer.text(']}')
  // Room for what follows: a comma, or the end of the list.
  writer.ensure(YEAR_BYTES)
  return length
}

function writePoints(
  writer: JsonWriter,
  { zone: clock, bucket, measure }: SeriesQuery,
  series: Series,
  heads: Heads | null,
): void {
  const [hourly, circular] = [bucket === 'hour', isDirection(measure)]
  for (let point = 0; point < series.length; point++) {
    if (point > 0) writer.comma()
    const [at, value] = [series.bucketOf(point), series.value[point]]
    if (heads === null) writeHead(writer, series.bucketAt(at), clock, hourly)
    else writer.words(heads.words, heads.start[at], heads.length[at])
    if (value === NO_VALUE) writer.null()
    else if (circular) writer.integer(value)
    else writer.hundredths(value)
    writer.literal(SAMPLE_COUNT)
    writer.integer(series.count[point])
    writer.literal(POINT_END)
  }
}

function writeHead(
  writer: JsonWriter,
  { start, end, ordinal }: { start: number; end: number; ordinal: number },
  clock: Zone,
  hourly: boolean,
): void {
  const offset = clock.offsetAt(start)
  writer.literal(POINT_INDEX)
  writer.integer(ordinal)
  writer.literal(LABEL)
  writer.dayLabel(start + offset, hourly)
  writer.literal(BUCKET_START)
  writer.localTime(start, offset)
  writer.literal(BUCKET_END)
  writer.localTime(end, clock.offsetAt(end))
  writer.literal(VALUE)
}

/** The points of a season's days up to their values, ready to be stored eight bytes at a time. */
interface Heads {
  readonly words: Float64Array
  /** The first word of each day, and how many bytes there are. */
  readonly start: Uint32Array
  readonly length: Uint8Array
}

const WORD_BYTES = 8
/** Heads by zone and season, 55 KB each. Without them ten seasons take 1.6 times the CPU time. */
const HEADS = new LRUCache<string, Heads>({ max: 256 })

function headsOf({ zone: clock, dates }: SeriesQuery, series: Series, year: number): Heads {
  const { startMonth, startDay, endMonth, endDay } = dates
  const key = `${clock.name} ${year} ${startMonth}-${startDay} ${endMonth}-${endDay}`
  const known = HEADS.get(key)
  if (known !== undefined) return known
  const writer = new JsonWriter(series.buckets * POINT_BYTES)
  const start = new Uint32Array(series.buckets)
  const length = new Uint8Array(series.buckets)
  for (let day = 0; day < series.buckets; day++) {
    const from = writer.at
    writeHead(writer, series.bucketAt(day), clock, false)
    start[day] = from / WORD_BYTES
    length[day] = writer.at - from
    writer.at = Math.ceil(writer.at / WORD_BYTES) * WORD_BYTES
  }
  const heads = { words: new Float64Array(writer.bytes.buffer.slice(0, writer.at)), start, length }
  HEADS.set(key, heads)
  return heads
}

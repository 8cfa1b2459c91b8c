/** A seasonal series as JSON, step by step. */
import { MOST_DAYS, SEASON_DAYS } from './day-writer.ts'
import { type JsonWriter } from './json.ts'
import { Literal } from './literals.ts'
import { endList } from './operation.ts'
import type { Fragments } from './fragments.ts'
import { seasonText, writeDays } from './season-texts.ts'
import { seasonClock, seasonSpan } from '../index/season-dates.ts'
import { Series, type KnownSeason, type SeriesLists, type SeriesQuery } from '../index/seasons.ts'
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
/** Whose days `SEASON_DAYS` are: between two steps another answer may have read its own. */
let holder: Series | null = null

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
  const series = new Series(asked, rows, SEASON_DAYS)
  let count = 0
  for (let year = startYear; year <= endYear; year++) {
    writer.ensure(YEAR_BYTES)
    if (year > startYear) writer.comma()
    const days = series.days(year)
    if (days === null) count += yield* writeSeason(writer, asked, series, year)
    else {
      count += yield* writeKnownSeason(writer, asked, series, year, days)
    }
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
  beginSeason(writer, year, complete, length)
  for (let from = 0; from < length; from += POINTS_OF_STEP) {
    const to = Math.min(length, from + POINTS_OF_STEP)
    writePoints(writer, series, from, to, clock, bucket === 'hour', isDirection(measure))
    yield
  }
  writer.text(']}')
  return length
}

/** As `writeSeason`, where its days are known. */
function* writeKnownSeason(
  writer: JsonWriter,
  asked: SeriesQuery,
  series: Series,
  year: number,
  days: KnownSeason,
): Steps<number> {
  const { zone: clock, dates, measure, asOf } = asked
  holder = series
  const { count, length } = days
  let points = 0
  for (let day = 0; day < length; day++) if (count[day] > 0) points++
  beginSeason(writer, year, seasonSpan(clock, dates, year).end <= asOf, points)
  if (points > 0) {
    const key = seasonClock(clock, dates, year)
    const writeHeadOf = headsOf(asked, series, year)
    let isFirst = true
    // 15 KB in a step.
    for (let from = 0; from < length; from += MOST_DAYS) {
      const to = Math.min(length, from + MOST_DAYS)
      if (holder !== series) series.days(year)
      holder = series
      // Asked for in each step: another answer may have made texts since the last one.
      const text = seasonText(key, length, writer, writeHeadOf)
      if (writeDays(writer, text, isDirection(measure), { from, to, isFirst })) isFirst = false
      yield
    }
  }
  writer.text(']}')
  return points
}

/** Writes what stands before the value of a season's day, beginning with a comma. */
function headsOf(
  { zone: clock }: SeriesQuery,
  series: Series,
  year: number,
): (writer: JsonWriter, day: number) => void {
  let isLaidOut = false
  return (writer, day) => {
    if (!isLaidOut) series.layOut(year)
    isLaidOut = true
    const { start, end, ordinal } = series.bucketAt(day)
    writer.comma()
    writeHead(writer, ordinal, start, end, clock, false)
  }
}

function beginSeason(writer: JsonWriter, year: number, complete: boolean, points: number): void {
  writer.ensure(YEAR_BYTES)
  writer.text(`{"year":${year},"complete":${complete},"point_count":${points},"points":[`)
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
  for (let point = from; point < to; point++) {
    if (point > 0) writer.comma()
    const value = series.value[point]
    writeHead(writer, series.ordinal(point), series.start(point), series.end(point), clock, hourly)
    writer.literal(VALUE)
    if (value === NO_VALUE) writer.null()
    else if (circular) writer.integer(value)
    else writer.hundredths(value)
    writer.literal(SAMPLE_COUNT)
    writer.integer(series.count[point])
    writer.literal(POINT_END)
  }
}

/** What stands of a point before its value. */
function writeHead(
  writer: JsonWriter,
  ordinal: number,
  start: number,
  end: number,
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
}

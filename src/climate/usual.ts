/**
 * Whether the last reading of each buoy is usual: its height among those of the same time of the year, in all
 * years. Worked out once for a snapshot.
 */
import type { Segments } from '../index/segments.ts'
import { MEASURES } from '../sea/columns.ts'
import { civilFromDays, DAY, daysFromCivil, MINUTE } from '../sea/time.ts'
import type { Steps } from '../system/steps.ts'
import { LEAST_FOR_INTERVAL, usualInterval } from './months.ts'
import { Distribution, flatRows } from './samples.ts'
import { SUSPECT_REACH, suspectRows, WAVE_NAMES, type WaveRows } from './suspect.ts'

/** Days before and after the day of the year. */
const WINDOW_DAYS = 15
/** Readings of so many days before the last one are left out: a storm is not compared with itself. */
const OWN_SECONDS = 60 * DAY
/** A year counts with this share of the window's readings; fewer years tell nothing. */
const LEAST_SHARE = 0.5
const LEAST_YEARS = 3
/** A year without 29 February, which counts as the 28th. */
const COMMON_YEAR = 2001
/** Readings that are looked through at a time for one that is as high. */
const ROWS_AT_ONCE = 2048
const WAVES = new Set(WAVE_NAMES)
const MOST_CODE = MEASURES.significantHeight.max * MEASURES.significantHeight.scale

/** By ordinal. A buoy with 0 years has no comparison. */
export interface Usual {
  /** Years with at least half of the window's readings, and the first of them. */
  readonly years: Uint16Array
  readonly firstYear: Uint16Array
  /** Share of the readings that are strictly lower, whole percents rounded down. */
  readonly higherThanPercent: Uint8Array
  /** Tenths of a percent, where equal readings count half. */
  readonly percentile: Uint16Array
  /** Hundredths of a code. */
  readonly median: Uint32Array
  readonly p90: Uint32Array
  /** Time of the last earlier reading that is as high, epoch seconds; 0 where there is none. */
  readonly highestSince: Uint32Array
  /** Days (UTC) without a reading since then, or since the first reading. */
  readonly missingDays: Uint32Array
}

export function* usualOf(readings: Segments): Steps<Usual> {
  const count = readings.first.length - 1
  const usual: Usual = {
    years: new Uint16Array(count),
    firstYear: new Uint16Array(count),
    higherThanPercent: new Uint8Array(count),
    percentile: new Uint16Array(count),
    median: new Uint32Array(count),
    p90: new Uint32Array(count),
    highestSince: new Uint32Array(count),
    missingDays: new Uint32Array(count),
  }
  for (let ordinal = 0; ordinal < count; ordinal++) {
    if (readings.count(ordinal) > 0) workOut(readings, ordinal, usual)
    yield
  }
  return usual
}

/**
 * Readings at the positions [first, end) of a buoy: which of them are suspect is told by those around them.
 */
interface Rows {
  readonly time: Uint32Array
  readonly height: ArrayLike<number>
  readonly marks: Uint8Array
}

function rowsAt(readings: Segments, ordinal: number, first: number, end: number): Rows {
  const { readings: reach, seconds } = SUSPECT_REACH
  const [oldest, newest] = [readings.timeAt(ordinal, first), readings.timeAt(ordinal, end - 1)]
  const from = Math.max(
    0,
    Math.min(first - reach, readings.positionOf(ordinal, Math.max(0, oldest - seconds)) - 1),
  )
  const to = Math.min(
    readings.count(ordinal),
    Math.max(end + reach, readings.positionOf(ordinal, newest + seconds) + 1),
  )
  const rows = flatRows(readings, ordinal, from, to, WAVES) as WaveRows
  const [begin, behind] = [first - from, end - from]
  return {
    time: rows.time.subarray(begin, behind),
    height: (rows.columns.significantHeight as Uint16Array).subarray(begin, behind),
    marks: suspectRows(rows).subarray(begin, behind),
  }
}

function workOut(readings: Segments, ordinal: number, usual: Usual): void {
  const count = readings.count(ordinal)
  const [oldest, newest] = [readings.timeAt(ordinal, 0), readings.timeAt(ordinal, count - 1)]
  // Without the year of the last reading too few years are left.
  if (newest - oldest < (LEAST_YEARS - 1) * 365 * DAY) return
  const { height, marks } = rowsAt(readings, ordinal, count - 1, count)
  if (marks[0] !== 0) return
  const distribution = new Distribution(0, MOST_CODE)
  const years: number[] = []
  for (const window of windowsAround(oldest, newest)) {
    if (addWindow(readings, ordinal, window, newest - OWN_SECONDS, distribution)) years.push(window.year)
  }
  if (years.length < LEAST_YEARS) return
  const { below, equal } = distribution.rank(height[0])
  const of = distribution.count
  const [median, p90] = distribution.quantiles([50, 90])
  usual.years[ordinal] = years.length
  usual.firstYear[ordinal] = years[0]
  usual.higherThanPercent[ordinal] = Math.floor((100 * below) / of)
  usual.percentile[ordinal] = Math.floor((1000 * (2 * below + equal) + of) / (2 * of))
  usual.median[ordinal] = median
  usual.p90[ordinal] = p90
  const since = highestSince(readings, ordinal, height[0])
  usual.highestSince[ordinal] = since.time
  usual.missingDays[ordinal] = since.missingDays
}

interface Window {
  readonly year: number
  /** Epoch seconds, the end not included. */
  readonly from: number
  readonly to: number
}

/** The windows around the day of the year of the newest reading, in the years from the oldest one to it. */
function windowsAround(oldest: number, newest: number): Window[] {
  const { year: last, month, day } = civilFromDays(Math.floor(newest / DAY))
  const first = civilFromDays(Math.floor(oldest / DAY)).year
  const middle = daysFromCivil(COMMON_YEAR, month, month === 2 ? Math.min(day, 28) : day)
  const dateAt = (days: number, year: number): number => {
    const date = civilFromDays(middle + days)
    return daysFromCivil(year + date.year - COMMON_YEAR, date.month, date.day) * DAY
  }
  // Windows over New Year reach into the years before the first and after the last one.
  return Array.from({ length: last - first + 3 }, (_, i) => {
    const year = first - 1 + i
    return { year, from: Math.max(0, dateAt(-WINDOW_DAYS, year)), to: dateAt(WINDOW_DAYS + 1, year) }
  })
}

const intervalCounts = new Uint32Array(DAY / MINUTE + 1)

/** Adds the readings of a window before `end`. @returns whether its year counts */
function addWindow(
  readings: Segments,
  ordinal: number,
  { from, to }: Window,
  end: number,
  distribution: Distribution,
): boolean {
  const first = readings.positionOf(ordinal, from)
  const behind = readings.positionOf(ordinal, Math.min(to, end))
  if (behind <= first) return false
  const { time, height, marks } = rowsAt(readings, ordinal, first, behind)
  let there = 0
  for (let row = 0; row < time.length; row++) {
    if (marks[row] !== 0) continue
    distribution.add(height, row, row + 1)
    there++
  }
  const isEnough = time.length >= LEAST_FOR_INTERVAL
  const interval = isEnough ? usualInterval(time, 0, time.length, intervalCounts) : DAY
  return there >= (LEAST_SHARE * (to - from)) / interval
}

/** The last earlier reading that is at least as high, 0 for none, and the days without readings since. */
function highestSince(
  readings: Segments,
  ordinal: number,
  least: number,
): { time: number; missingDays: number } {
  const last = readings.count(ordinal) - 1
  let day = Math.floor(readings.timeAt(ordinal, last) / DAY)
  let missingDays = 0
  for (let end = last; end > 0; end -= ROWS_AT_ONCE) {
    const { time, height, marks } = rowsAt(readings, ordinal, Math.max(0, end - ROWS_AT_ONCE), end)
    for (let row = time.length - 1; row >= 0; row--) {
      if (marks[row] !== 0) continue
      const other = Math.floor(time[row] / DAY)
      missingDays += Math.max(0, day - other - 1)
      day = other
      if (height[row] >= least) return { time: time[row], missingDays }
    }
  }
  return { time: 0, missingDays }
}

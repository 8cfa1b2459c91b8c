/**
 * Readings that those around them contradict: spikes, stuck values and dead sensors, in the way of the QARTOD
 * manual for waves (IOOS). The report of a build counts them; the climate of a buoy is made without them.
 */
import { MEASURES } from '../sea/columns.ts'
import { DAY, HOUR } from '../sea/time.ts'

/** Readings further apart than this are not compared. */
export const NEIGHBOUR_SECONDS = 2 * HOUR
/** Metres and share by which a height leaves both neighbours in one direction: a spike. */
const SPIKE_METRES = 1
const SPIKE_SHARE = 0.5

/** A sensor is stuck when all wave values of this many readings in a row, over this long, are the same. */
const STUCK_READINGS = 12
const STUCK_SECONDS = 6 * HOUR

/** Metres and time of a dead sensor: no open sea is that calm for a week. */
const DEAD_METRES = 0.05
const DEAD_SECONDS = 7 * DAY
const DEAD_READINGS = 50

/** Readings and seconds around a range that tell whether those in the range are suspect. */
export const SUSPECT_REACH = { readings: DEAD_READINGS, seconds: DEAD_SECONDS } as const

/** Codes per metre. */
const MILLI = MEASURES.significantHeight.scale
const NO_PERIOD = MEASURES.period.missing
const NO_DIRECTION = MEASURES.direction.missing

/** Measures of waves, which one sensor measures. */
export const WAVE_NAMES = ['significantHeight', 'maximumHeight', 'period', 'peakPeriod', 'direction'] as const

/** Readings of one buoy, ascending in time: epoch seconds, and codes of the measures of waves. */
export interface WaveRows {
  readonly time: Uint32Array
  readonly columns: { readonly [name in (typeof WAVE_NAMES)[number]]: ArrayLike<number> }
}

/**
 * Calls `found` with each spike of the rows [first, end): its height leaves both neighbours by a metre and
 * half.
 */
export function eachSpike(
  { time, columns }: WaveRows,
  first: number,
  end: number,
  found: (row: number) => void,
): void {
  const heights = columns.significantHeight
  for (let row = first + 1; row < end - 1; row++) {
    const [before, height, after] = [heights[row - 1], heights[row], heights[row + 1]]
    const away = Math.min(Math.abs(height - before), Math.abs(height - after))
    if (away <= SPIKE_METRES * MILLI) continue
    if (time[row] - time[row - 1] > NEIGHBOUR_SECONDS || time[row + 1] - time[row] > NEIGHBOUR_SECONDS)
      continue
    const turns = height > before === height > after
    if (turns && away > (SPIKE_SHARE * (before + after)) / 2) found(row)
  }
}

/** Calls `found` with each run of the rows [first, end) that a dead sensor gave. */
export function eachDead(
  { time, columns }: WaveRows,
  first: number,
  end: number,
  found: (from: number, to: number) => void,
): void {
  const heights = columns.significantHeight
  let calm = first
  for (let row = first; row < end; row++) {
    const next = row + 1
    if (heights[row] > DEAD_METRES * MILLI) calm = next
    else if (next === end || heights[next] > DEAD_METRES * MILLI) {
      if (next - calm >= DEAD_READINGS && time[row] - time[calm] >= DEAD_SECONDS) found(calm, next)
    }
  }
}

/** Calls `found` with each run of the rows [first, end) in which a sensor was stuck. */
export function eachStuck(
  { time, columns }: WaveRows,
  first: number,
  end: number,
  found: (from: number, to: number) => void,
): void {
  const { significantHeight, maximumHeight, period, peakPeriod, direction } = columns
  let run = first
  for (let row = first; row < end; row++) {
    const next = row + 1
    const goesOn =
      next < end &&
      significantHeight[next] === significantHeight[row] &&
      period[next] === period[row] &&
      direction[next] === direction[row] &&
      peakPeriod[next] === peakPeriod[row] &&
      maximumHeight[next] === maximumHeight[row]
    if (goesOn) continue
    // A height alone repeats by itself in a calm.
    const hasMore = period[row] !== NO_PERIOD || direction[row] !== NO_DIRECTION
    const isLong = next - run >= STUCK_READINGS && time[row] - time[run] >= STUCK_SECONDS
    if (isLong && hasMore && significantHeight[row] > 0) found(run, next)
    run = next
  }
}

/** Why a reading is suspect; 0 where it is not. */
export const SUSPECTS = ['spike', 'stuck', 'dead'] as const
export type Suspect = (typeof SUSPECTS)[number]

/** For each of the rows its place in `SUSPECTS` from 1 on; the graver reason where there are two. */
export function suspectRows(rows: WaveRows): Uint8Array {
  const { length } = rows.time
  const marks = new Uint8Array(length)
  eachSpike(rows, 0, length, (row) => (marks[row] = 1))
  eachStuck(rows, 0, length, (from, to) => marks.fill(2, from, to))
  eachDead(rows, 0, length, (from, to) => marks.fill(3, from, to))
  return marks
}

/**
 * Quality control while a snapshot is built. What cannot be is taken out: a highest wave below the
 * significant height, or far beyond what it allows, and periods of nothing; limits of the single measures are
 * kept by the adapters (`columns.ts`). What is only doubtful is counted for the report and stays: waves too
 * steep, values that do not move, a sea that never moves, spikes and jumps, in the way of the QARTOD manual
 * for waves (IOOS). Nothing is corrected or made up.
 */
import { MEASURES, type RowBatch } from '../sea/columns.ts'
import type { MonthTable } from '../snapshot/months.ts'

/**
 * Of 300 waves the highest is 1.8 times as high as the significant height, of any record yet measured less
 * than 3.7 times. Heights are rounded to tenths by many networks: half a tenth counts in favour.
 */
const MOST_OVER_SIGNIFICANT = 3.7
const HEIGHT_ROUNDING = 50

/**
 * Steepness 2πH/(gT²) at which a sea with peak period T breaks, with a margin: a developed sea stays below
 * 1/15.
 */
const STEEPEST = 0.1
/** Seconds; no wind wave or swell has another period. */
const SHORTEST_PERIOD = 1
const LONGEST_PERIOD = 30
/** °C; sea water neither freezes above the one nor gets warmer than the other. */
const COLDEST_WATER = -2.5
const WARMEST_WATER = 40

/**
 * A sensor is stuck when all wave values of so many readings in a row, over so many seconds, are the same.
 */
const STUCK_READINGS = 12
const STUCK_SECONDS = 6 * 3600

/** Readings further apart than this, in seconds, say nothing about each other. */
const NEIGHBOURS = 2 * 3600
/**
 * A height that leaves both neighbours by this much in the same direction, metres and share of them, is a
 * spike.
 */
const SPIKE_METRES = 1
const SPIKE_SHARE = 0.5
/** Metres and share by which the height changes within so many seconds at most. */
const JUMP_SECONDS = 3600
const JUMP_METRES = 2
const JUMP_SHARE = 0.5

/**
 * A sensor that shows at most this height, in metres, over so many seconds is dead: no open sea is that calm
 * for a week.
 */
const DEAD_METRES = 0.05
const DEAD_SECONDS = 7 * 86_400
const DEAD_READINGS = 50

/** Doubts about readings, with what the report says of them. */
export const DOUBTS = {
  steep: 'waves too steep for their period',
  period: 'period outside 1 to 30 s',
  water: 'water temperature outside -2.5 to 40 °C',
  stuck: 'the same wave values for six hours and more',
  spike: 'height a spike between its neighbours',
  dead: 'height of at most 0.05 m for seven days and more',
  jump: 'height more than 2 m and half away from the one within the hour before',
} as const

export type Doubt = keyof typeof DOUBTS

const DOUBT_NAMES = Object.keys(DOUBTS) as Doubt[]

export const IMPOSSIBLE = {
  low: 'highest wave below the significant height',
  high: 'highest wave beyond 3.7 times the significant height',
  zeroPeriod: 'period of 0 s',
} as const

const NO_HEIGHT = MEASURES.significantHeight.missing
const NO_MAXIMUM = MEASURES.maximumHeight.missing
const NO_PERIOD = MEASURES.period.missing
const NO_DIRECTION = MEASURES.direction.missing
const NO_WATER = MEASURES.waterTemperature.missing
/** Codes of heights and periods per metre and second. */
const MILLI = 1000
/** Codes of height that are too steep, by the square of the period's code. */
const STEEP_CODES = (STEEPEST * 9.81) / (2 * Math.PI * MILLI)

/** Takes impossible values out of a batch, telling each. */
export function removeImpossible(
  { columns: { significantHeight, maximumHeight, period, peakPeriod }, length }: RowBatch,
  tell: (what: keyof typeof IMPOSSIBLE) => void,
): void {
  for (let row = 0; row < length; row++) {
    if (period[row] !== 0 && peakPeriod[row] !== 0) continue
    tell('zeroPeriod')
    if (period[row] === 0) period[row] = NO_PERIOD
    if (peakPeriod[row] === 0) peakPeriod[row] = NO_PERIOD
  }
  for (let row = 0; row < length; row++) {
    const maximum = maximumHeight[row]
    const height = significantHeight[row]
    if (maximum === NO_MAXIMUM || height === NO_HEIGHT) continue
    if (maximum < height) tell('low')
    else if (maximum > MOST_OVER_SIGNIFICANT * (height + HEIGHT_ROUNDING)) tell('high')
    else continue
    maximumHeight[row] = NO_MAXIMUM
  }
}

/** Time of the newest reading of a batch up to `latest`, −1 when there is none. */
export function newestReading(
  { time, columns: { significantHeight }, length }: RowBatch,
  latest: number,
): number {
  let newest = -1
  for (let row = 0; row < length; row++) {
    if (time[row] > newest && time[row] <= latest && significantHeight[row] !== NO_HEIGHT) newest = time[row]
  }
  return newest
}

/**
 * Counts the doubtful readings of a month: `tell` gets the buoy's id, the doubt, and how many of its readings
 * it is about.
 */
export function doubtfulReadings(
  { buoys, start, time, columns }: MonthTable,
  tell: (buoy: number, doubt: Doubt, readings: number) => void,
): void {
  const { significantHeight, maximumHeight, period, peakPeriod, direction, waterTemperature } = columns
  for (let i = 0; i < buoys.length; i++) {
    const counts: { [doubt in Doubt]: number } = {
      steep: 0,
      period: 0,
      water: 0,
      stuck: 0,
      spike: 0,
      dead: 0,
      jump: 0,
    }
    const first = start[i]
    const end = start[i + 1]
    let run = first
    let calm = first
    // Of the row before: its height, and how long ago it was.
    let before = 0
    let sinceBefore = Infinity
    for (let row = first; row < end; row++) {
      const height = significantHeight[row]
      const peak = peakPeriod[row] === NO_PERIOD ? period[row] : peakPeriod[row]
      if (peak !== NO_PERIOD) {
        if (peak < SHORTEST_PERIOD * MILLI || peak > LONGEST_PERIOD * MILLI) counts.period++
        else if (height > STEEP_CODES * peak * peak) counts.steep++
      }
      const water = waterTemperature[row]
      if (water !== NO_WATER && (water < COLDEST_WATER * 100 || water > WARMEST_WATER * 100)) counts.water++

      const next = row + 1
      const untilNext = next < end ? time[next] - time[row] : Infinity
      if (sinceBefore <= NEIGHBOURS) {
        const change = Math.abs(height - before)
        if (change > SPIKE_METRES * MILLI) {
          if (untilNext <= NEIGHBOURS) {
            const after = significantHeight[next]
            const away = Math.min(change, Math.abs(height - after))
            const turns = height > before === height > after
            if (turns && away > Math.max(SPIKE_METRES * MILLI, (SPIKE_SHARE * (before + after)) / 2))
              counts.spike++
          }
          if (sinceBefore <= JUMP_SECONDS && change > Math.max(JUMP_METRES * MILLI, JUMP_SHARE * before)) {
            counts.jump++
          }
        }
      }
      before = height
      sinceBefore = untilNext

      if (height > DEAD_METRES * MILLI) calm = next
      else if (next === end || significantHeight[next] > DEAD_METRES * MILLI) {
        if (next - calm >= DEAD_READINGS && time[row] - time[calm] >= DEAD_SECONDS) counts.dead += next - calm
      }

      const goesOn =
        next < end &&
        significantHeight[next] === height &&
        period[next] === period[row] &&
        direction[next] === direction[row] &&
        peakPeriod[next] === peakPeriod[row] &&
        maximumHeight[next] === maximumHeight[row]
      if (goesOn) continue
      // A height alone repeats in a calm by itself.
      const saysMore = period[row] !== NO_PERIOD || direction[row] !== NO_DIRECTION
      if (next - run >= STUCK_READINGS && saysMore && height > 0 && time[row] - time[run] >= STUCK_SECONDS) {
        counts.stuck += next - run
      }
      run = next
    }
    for (const doubt of DOUBT_NAMES) if (counts[doubt] > 0) tell(buoys[i], doubt, counts[doubt])
  }
}

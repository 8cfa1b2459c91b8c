/** The samples of one metric of a buoy, in one list each of times and codes, without suspect readings. */
import { lowerBound } from '../index/bisect.ts'
import type { Segments } from '../index/segments.ts'
import { type Measure, type MeasureName, MEASURES } from '../sea/columns.ts'
import { SUSPECTS, type Suspect, suspectRows, WAVE_NAMES, type WaveRows } from './suspect.ts'

export type LeftOut = { [reason in Suspect]: number }

export interface Samples {
  /** Ascending, epoch seconds. */
  readonly time: Uint32Array
  /** Codes of the measure; none is the missing one. */
  readonly code: Int32Array
  readonly length: number
  readonly measure: Measure
  /** Suspect readings that are not among the samples, by reason. */
  readonly leftOut: LeftOut
}

/** Rows of readings and rows without a significant height, which may have the metric too. */
export interface BuoyRows {
  readonly readings: Segments
  readonly weather: Segments
  readonly ordinal: number
}

/** Seconds: the samples of [from, to). */
export interface Range {
  readonly from: number
  readonly to: number
}

const IS_OF_WAVES = new Set<MeasureName>(WAVE_NAMES)

/**
 * A buoy's samples of a metric in a range of time. Whether a reading is suspect is told by all its readings.
 */
export function samplesOf({ readings, weather, ordinal }: BuoyRows, measure: Measure, range: Range): Samples {
  const { name, missing } = measure
  const leftOut: LeftOut = { spike: 0, stuck: 0, dead: 0 }
  const waves = flatRows(readings, ordinal, 0, readings.count(ordinal), [...WAVE_NAMES, name])
  const others = flatRows(weather, ordinal, 0, weather.count(ordinal), [name])
  const marks = IS_OF_WAVES.has(name) ? suspectRows(waves as WaveRows) : null
  const most = waves.time.length + others.time.length
  const [time, code] = [new Uint32Array(most), new Int32Array(most)]
  let length = 0
  const add = (rows: FlatRows, row: number): void => {
    time[length] = rows.time[row]
    code[length++] = rows.columns[name]![row]
  }
  const last = lowerBound(others.time, range.to)
  let other = lowerBound(others.time, range.from)
  const codes = waves.columns[name]!
  for (let row = lowerBound(waves.time, range.from); row < waves.time.length; row++) {
    const at = waves.time[row]
    if (at >= range.to) break
    for (; other < last && others.time[other] < at; other++) {
      if (others.columns[name]![other] !== missing) add(others, other)
    }
    if (codes[row] === missing) continue
    const mark = marks === null ? 0 : marks[row]
    if (mark === 0) add(waves, row)
    else leftOut[SUSPECTS[mark - 1]]++
  }
  for (; other < last; other++) {
    if (others.columns[name]![other] !== missing) add(others, other)
  }
  return { time: time.subarray(0, length), code: code.subarray(0, length), length, measure, leftOut }
}

interface FlatRows {
  readonly time: Uint32Array
  readonly columns: { readonly [name in MeasureName]?: Uint16Array | Int16Array }
}

/** The rows of a buoy at the positions [first, end), as columns without gaps between months. */
export function flatRows(
  segments: Segments,
  ordinal: number,
  first: number,
  end: number,
  names: readonly MeasureName[],
): FlatRows {
  const count = Math.max(0, end - first)
  const time = new Uint32Array(count)
  const columns: { [name in MeasureName]?: Uint16Array | Int16Array } = {}
  for (const name of names) columns[name] = new (MEASURES[name].signed ? Int16Array : Uint16Array)(count)
  let into = 0
  for (const { month, from, count: rows } of segments.runs(ordinal, first, end)) {
    time.set(month.time.subarray(from, from + rows), into)
    for (const name of names) {
      const { codes, mask } = month.measures[name]
      if (mask === 0) columns[name]!.fill(MEASURES[name].missing, into, into + rows)
      else columns[name]!.set(codes.subarray(from, from + rows), into)
    }
    into += rows
  }
  return { time, columns }
}

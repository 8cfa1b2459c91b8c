/**
 * The samples of one metric of a buoy, in one list each of times and codes, without suspect readings; and how
 * codes are distributed: counts of each, from which all statistics are exact, alone or by another metric (a
 * scatter table, a wave rose). Quantiles are of type 7 (Hyndman and Fan, "Sample Quantiles in Statistical
 * Packages", 1996), as those of R and NumPy.
 */
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
  /** Codes of another measure, the missing one too; those of `code` where there is no other. */
  readonly beside: Int32Array
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
 * A buoy's samples of a metric in a range of time, with the values of `beside` of the same readings if it is
 * given. Whether a reading is suspect is told by all its readings.
 */
export function samplesOf(
  { readings, weather, ordinal }: BuoyRows,
  measure: Measure,
  range: Range,
  beside: Measure = measure,
): Samples {
  const { name, missing } = measure
  const leftOut: LeftOut = { spike: 0, stuck: 0, dead: 0 }
  const waves = flatRows(readings, ordinal, 0, readings.count(ordinal), [...WAVE_NAMES, name, beside.name])
  const others = flatRows(weather, ordinal, 0, weather.count(ordinal), [name, beside.name])
  const marks = IS_OF_WAVES.has(name) ? suspectRows(waves as WaveRows) : new Uint8Array(waves.time.length)
  const most = waves.time.length + others.time.length
  const [time, code, codeBeside] = [new Uint32Array(most), new Int32Array(most), new Int32Array(most)]
  let length = 0
  const [wavesCodes, othersCodes] = [waves.columns[name]!, others.columns[name]!]
  const [wavesBeside, othersBeside] = [waves.columns[beside.name]!, others.columns[beside.name]!]
  const last = lowerBound(others.time, range.to)
  let other = lowerBound(others.time, range.from)
  const addOthers = (until: number): void => {
    for (; other < last && others.time[other] < until; other++) {
      if (othersCodes[other] === missing) continue
      time[length] = others.time[other]
      codeBeside[length] = othersBeside[other]
      code[length++] = othersCodes[other]
    }
  }
  const end = lowerBound(waves.time, range.to)
  for (let row = lowerBound(waves.time, range.from); row < end; row++) {
    if (other < last) addOthers(waves.time[row])
    if (wavesCodes[row] === missing) continue
    if (marks[row] !== 0) {
      leftOut[SUSPECTS[marks[row] - 1]]++
      continue
    }
    time[length] = waves.time[row]
    codeBeside[length] = wavesBeside[row]
    code[length++] = wavesCodes[row]
  }
  addOthers(Infinity)
  const within = <T extends Uint32Array | Int32Array>(values: T): T => values.subarray(0, length) as T
  return { time: within(time), code: within(code), beside: within(codeBeside), length, measure, leftOut }
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

/** What an answer says of its quantiles. */
export const QUANTILE_TYPE = 'type 7 (Hyndman and Fan 1996)'

export class Distribution {
  count = 0
  readonly #least: number
  readonly #counts: Uint32Array

  /** @param least the least and @param greatest the greatest code that will be added */
  constructor(least: number, greatest: number) {
    this.#least = least
    this.#counts = new Uint32Array(Math.max(1, greatest - least + 1))
  }

  /** Adds the codes [from, to). */
  add(codes: ArrayLike<number>, from: number, to: number): void {
    const [counts, least] = [this.#counts, this.#least]
    for (let i = from; i < to; i++) counts[codes[i] - least]++
    this.count += to - from
  }

  /** Adds all of another one, which has the same least and greatest code. */
  addAll(other: Distribution): void {
    const [counts, others] = [this.#counts, other.#counts]
    for (let i = 0; i < counts.length; i++) counts[i] += others[i]
    this.count += other.count
  }

  /** Samples strictly below a code, and samples equal to it. */
  rank(code: number): { below: number; equal: number } {
    const place = Math.min(code - this.#least, this.#counts.length)
    let below = 0
    for (let i = 0; i < place; i++) below += this.#counts[i]
    return { below, equal: this.#counts[code - this.#least] ?? 0 }
  }

  /**
   * The quantiles of whole percents, ascending, in hundredths of a code, which is exact; none without a
   * sample.
   */
  quantiles(percents: readonly number[]): number[] {
    if (this.count === 0) return []
    const found: number[] = []
    let place = -1
    let upTo = 0
    /** The code with `rank` codes before it; ranks never go back. */
    const codeAt = (rank: number): number => {
      while (upTo <= rank) upTo += this.#counts[++place]
      return this.#least + place
    }
    for (const percent of percents) {
      const position = (this.count - 1) * percent
      const [rank, share] = [Math.floor(position / 100), position % 100]
      const lower = codeAt(rank)
      if (share === 0) {
        found.push(100 * lower)
        continue
      }
      const [placeBefore, upToBefore] = [place, upTo]
      const upper = codeAt(rank + 1)
      // The next quantile may begin at the lower one again.
      place = placeBefore
      upTo = upToBefore
      found.push(lower * (100 - share) + upper * share)
    }
    return found
  }

  /** Around the samples' own mean, of n − 1, in codes; null for fewer than two samples. */
  get standardDeviation(): number | null {
    const { count } = this
    if (count < 2) return null
    let [sum, squares] = [0, 0]
    // Codes have 16 bits: the squares of two million samples are below 2^53.
    for (const [i, there] of this.#counts.entries()) {
      const code = this.#least + i
      sum += there * code
      squares += there * code * code
    }
    return Math.sqrt(Math.max(0, (squares - (sum * sum) / count) / (count - 1)))
  }
}

/** The distribution of all codes; null without one. */
export function distributionOf(codes: Int32Array): Distribution | null {
  const extremes = extremesOf(codes, 0, codes.length)
  if (extremes === null) return null
  const distribution = new Distribution(codes[extremes.least], codes[extremes.greatest])
  distribution.add(codes, 0, codes.length)
  return distribution
}

/** Places of the least and of the greatest code; the earliest of equal ones. */
export interface Extremes {
  readonly least: number
  readonly greatest: number
}

/** The extremes of the codes [from, to); null without one. */
export function extremesOf(code: Int32Array, from: number, to: number): Extremes | null {
  if (from >= to) return null
  let [least, greatest] = [from, from]
  for (let i = from + 1; i < to; i++) {
    if (code[i] < code[least]) least = i
    if (code[i] > code[greatest]) greatest = i
  }
  return { least, greatest }
}

/** A bin of a table, by its lower edges; both are places, in bins from 0. */
export interface Bin {
  readonly x: number
  readonly y: number
  readonly count: number
}

/**
 * How many samples there are in each bin, by x, then y; those without a sample are left out. @param xOf the
 * bin of a sample, or −1 where there is no x; @param yCodes codes in a bin of y
 */
export function countTable({ code, length }: Samples, xOf: (at: number) => number, yCodes: number): Bin[] {
  const columns: number[][] = []
  for (let at = 0; at < length; at++) {
    const x = xOf(at)
    if (x === -1) continue
    const y = Math.floor(code[at] / yCodes)
    const column = (columns[x] ??= [])
    column[y] = (column[y] ?? 0) + 1
  }
  const bins: Bin[] = []
  columns.forEach((column, x) => column.forEach((count, y) => bins.push({ x, y, count })))
  return bins
}

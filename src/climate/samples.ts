/**
 * The samples of one metric of a buoy, in one list each of times and codes, without suspect readings; and how
 * codes are distributed: counts of each, from which all statistics are exact, alone or by another metric (a
 * scatter table, a wave rose). Quantiles are of type 7 (Hyndman and Fan, "Sample Quantiles in Statistical
 * Packages", 1996), as those of R and NumPy.
 */
import { lowerBound } from '../index/bisect.ts'
import type { Segments } from '../index/segments.ts'
import { type Codes, type Measure, type MeasureName, MEASURES } from '../sea/columns.ts'
import { SUSPECTS, type Suspect, suspectRows, WAVE_NAMES, type WaveRows } from './suspect.ts'

type LeftOut = { [reason in Suspect]: number }

export interface Samples {
  /** Ascending, epoch seconds. */
  readonly time: Uint32Array
  /** Codes of the measure; none is the missing one. */
  readonly code: Codes
  /** Codes of another measure, the missing one too; `code` if there is no other measure. */
  readonly beside: Codes
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
  const { name } = measure
  const names = new Set([name, beside.name])
  const ofWaves = new Set([...WAVE_NAMES, ...names])
  const waves = flatRows(readings, ordinal, 0, readings.count(ordinal), ofWaves)
  const others = flatRows(weather, ordinal, 0, weather.count(ordinal), names)
  const marks = IS_OF_WAVES.has(name) ? suspectRows(waves as WaveRows) : null
  const leftOut: LeftOut = { spike: 0, stuck: 0, dead: 0 }
  const taken = merged(
    valuesIn(waves, measure, beside, range, marks, leftOut),
    valuesIn(others, measure, beside, range, null, leftOut),
    measure,
    beside,
  )
  return { ...taken, length: taken.time.length, measure, leftOut }
}

type Values = Pick<Samples, 'time' | 'code' | 'beside'>

/**
 * The rows of a range that have the measure, moved together where they lie: fresh memory would cost more than
 * all else here. Those with a mark are counted in `leftOut` instead.
 */
function valuesIn(
  { time, columns }: FlatRows,
  { name, missing }: Measure,
  beside: Measure,
  { from, to }: Range,
  marks: Uint8Array | null,
  leftOut: LeftOut,
): Values {
  const [codes, codesBeside] = [columns[name]!, columns[beside.name]!]
  const [first, end] = [lowerBound(time, from), lowerBound(time, to)]
  let length = 0
  for (let row = first; row < end; row++) {
    if (codes[row] === missing) continue
    if (marks !== null && marks[row] !== 0) {
      leftOut[SUSPECTS[marks[row] - 1]]++
      continue
    }
    time[length] = time[row]
    codesBeside[length] = codesBeside[row]
    codes[length++] = codes[row]
  }
  const within = <T extends Uint32Array | Codes>(values: T): T => values.subarray(0, length) as T
  return { time: within(time), code: within(codes), beside: within(codesBeside) }
}

/** Both in the order of time; times are in one of them alone. */
function merged(a: Values, b: Values, measure: Measure, besides: Measure): Values {
  if (b.time.length === 0) return a
  const most = a.time.length + b.time.length
  const [code, beside] = [measure, besides].map(({ signed }) => emptyCodes(signed, most))
  const all = { time: new Uint32Array(most), code, beside }
  for (let [i, j, at] = [0, 0, 0]; at < all.time.length; at++) {
    const isOfA = j === b.time.length || (i < a.time.length && a.time[i] < b.time[j])
    const [from, place] = isOfA ? [a, i++] : [b, j++]
    all.time[at] = from.time[place]
    all.code[at] = from.code[place]
    all.beside[at] = from.beside[place]
  }
  return all
}

interface FlatRows {
  readonly time: Uint32Array
  readonly columns: { readonly [name in MeasureName]?: Codes }
}

/** `count` codes of 0, in the place of a buffer from the byte `at`. */
function emptyCodes(signed: boolean | undefined, count: number, buffer = new ArrayBuffer(2 * count), at = 0) {
  return signed ? new Int16Array(buffer, at, count) : new Uint16Array(buffer, at, count)
}

/** The rows of a buoy at the positions [first, end), as columns without gaps between months. */
export function flatRows(
  segments: Segments,
  ordinal: number,
  first: number,
  end: number,
  names: ReadonlySet<MeasureName>,
): FlatRows {
  const count = Math.max(0, end - first)
  // One buffer for all: allocations took most of the time.
  const buffer = new ArrayBuffer(count * (4 + 2 * names.size))
  const time = new Uint32Array(buffer, 0, count)
  const columns: { [name in MeasureName]?: Codes } = {}
  let place = 4 * count
  for (const name of names) {
    columns[name] = emptyCodes(MEASURES[name].signed, count, buffer, place)
    place += 2 * count
  }
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

/** Words about quantiles in an answer. */
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

  add(codes: ArrayLike<number>, from: number, to: number): void {
    const [counts, least] = [this.#counts, this.#least]
    for (let i = from; i < to; i++) counts[codes[i] - least]++
    this.count += to - from
  }

  /** Adds another distribution with the same least and greatest code. */
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

  /** Standard deviation around the samples' mean, by n − 1, in codes; null for fewer than two samples. */
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
export function distributionOf(codes: Codes): Distribution | null {
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
export function extremesOf(code: Codes, from: number, to: number): Extremes | null {
  if (from >= to) return null
  let [least, greatest] = [from, from]
  for (let i = from + 1; i < to; i++) {
    if (code[i] < code[least]) least = i
    if (code[i] > code[greatest]) greatest = i
  }
  return { least, greatest }
}

/** A bin of a table, by its lower edges; both are places, in bins from 0. */
interface Bin {
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

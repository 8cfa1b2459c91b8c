/**
 * Tides of a harbour at any time: height h(t) = Z0 + Σ f·A·cos(V + u − G), and its high and low waters.
 *
 * The moon's node is worked out every four days and moves evenly in between. High and low waters, and levels
 * to interpolate between, are tabulated for such a block at its first request; a bounded number is kept.
 */
import type { ColumnsOf } from '../sea/columns.ts'
import { DAY, HOUR, MINUTE } from '../sea/time.ts'
import { entryOf } from '../system/entry-of.ts'
import { NearPoints } from './near.ts'
import { constituentOf, motionBetween, type Constituent, type Motion } from '../sea/tidal-constituents.ts'

/** A harbour is an ordinal; its constituents are `start[harbour]` to before `start[harbour + 1]`. */
export const TIDE_COLUMNS = {
  lat: Float64Array,
  lng: Float64Array,
  credit: Uint16Array,
  start: Uint32Array,
  constituent: Uint16Array,
  /** m */
  amplitude: Float32Array,
  /** Greenwich phase lag, degrees. */
  phase: Float32Array,
} as const

export interface TideColumns extends ColumnsOf<typeof TIDE_COLUMNS> {
  constituents: string[]
  credits: string[]
  identifiers: string[]
  names: string[]
  /** Mean sea level above chart datum, m. */
  datumOffset: Float64Array
}

/** A harbour farther away tells nothing about the tide. */
const HARBOUR_REACH_KM = 100

export interface Extreme {
  /** Epoch seconds, whole. */
  readonly time: number
  /** m above chart datum. */
  readonly height: number
  readonly high: boolean
}

/** High and low waters in some time, and the number of turns that were too small to count. */
export interface Turns {
  readonly extremes: readonly Extreme[]
  readonly leftOut: number
}

export const NO_TURNS: Turns = { extremes: [], leftOut: 0 }

interface BlockTurns {
  /** High and low waters in it and the first after it, alternating. */
  readonly extremes: Extreme[]
  /** Times of false turns in it, epoch seconds. */
  readonly leftOut: number[]
}

const RADIANS = Math.PI / 180

const BLOCK = 4 * DAY
/** The search for extremes goes beyond a block: neaps of a daily tide can have none for two days. */
const LEAD_IN = 3 * DAY
const LOOKAHEAD = 5 * DAY
/** Steps of 30 minutes miss extremes. */
const STEP = 15 * MINUTE
/** The walk that finds extremes holds the node still, and so is wrong by less than this. */
const SLACK = MINUTE

/** A high and a low closer together than this, m, are a wiggle and not a tide. */
const LEAST_RANGE_M = 0.01
/** Where the whole tide is small, a wiggle is below this share of its amplitudes instead. */
const LEAST_SHARE = 0.02
/** Above this (M4 + MS4) / M2, where M2 leads, waters are double (Southampton) and all extremes count. */
const DOUBLE_WATERS = 0.25

/** A curve through six levels needs two before a block's first step and three after its last. */
const LEVEL_STEP = 20 * MINUTE
const LEVELS_BEFORE = 2
const LEVELS = BLOCK / LEVEL_STEP + LEVELS_BEFORE + 3
/** Error of the curve by sixth derivative times step to the sixth: 5/1024, and more for drifting factors. */
const CURVE_ERROR = 0.0049
/** Bound of the rounding error of a level, m. */
const ROUNDING_M = 1e-8

interface Levels {
  /** Heights every `LEVEL_STEP`, m. */
  readonly levels: Float64Array
  /** How far the curve through levels may be from `height`, m: up to 0.02 mm with strong overtides. */
  readonly levelError: number
}

/** 2.4 KB of levels each, and as much of extremes: 20 MB per thread. */
const MAX_TABLES = 4096
/** Bound of all levels: no tide is as high. */
const HIGHEST_LEVEL_CM = 32767
/** 32 bytes a constituent each; a chart of 31 days needs nine motions. */
const MAX_MOTIONS = 64

/** Makes one number of harbour and block: the years 0 to 9999 have 734,000 blocks from 1970. */
const BLOCKS_PER_HARBOUR = 2 ** 21

export class Tides {
  readonly columns: TideColumns
  readonly #near: NearPoints
  readonly #constituents: Constituent[]
  /** Least distance, m, between a high and a low of each harbour. */
  readonly #leastRange: Float32Array
  readonly #motions = new Map<number, Motion>()
  readonly #turns = new Map<number, BlockTurns>()
  readonly #levels = new Map<number, Levels>()
  /** Terms a·cos(φ + k·δ) of a walk in even steps: value before, value now, 2 cos δ. */
  readonly #before: Float64Array
  readonly #now: Float64Array
  readonly #twice: Float64Array

  /** `columns` as checked: every name in them is a known constituent. */
  constructor(columns: TideColumns) {
    const { lat, lng, start } = columns
    this.columns = columns
    this.#near = new NearPoints(lat, lng)
    this.#constituents = columns.constituents.map((name) => constituentOf(name)!)
    this.#leastRange = leastRanges(columns, this.#constituents)
    let most = 0
    for (let harbour = 0; harbour < lat.length; harbour++)
      most = Math.max(most, start[harbour + 1] - start[harbour])
    this.#before = new Float64Array(most)
    this.#now = new Float64Array(most)
    this.#twice = new Float64Array(most)
  }

  /** The nearest harbour within reach, or −1. */
  nearest(lat: number, lng: number): number {
    return this.#near.nearest(lat, lng, 1, HARBOUR_REACH_KM)[0]?.ordinal ?? -1
  }

  /** Metres above chart datum at `time` (epoch seconds). */
  height(harbour: number, time: number): number {
    const { start, constituent, amplitude, phase, datumOffset } = this.columns
    const { from, argument, speed, factor, drift } = this.#motionAt(time)
    const since = time - from
    let height = datumOffset[harbour]
    for (let i = start[harbour]; i < start[harbour + 1]; i++) {
      const c = constituent[i]
      const angle = argument[c] + speed[c] * since - phase[i] * RADIANS
      height += (factor[c] + drift[c] * since) * amplitude[i] * Math.cos(angle)
    }
    return height
  }

  /** `height` rounded to whole hundredths of a metre. */
  hundredths(harbour: number, time: number): number {
    const block = blockOf(time)
    const { levels, levelError } = this.#levelsOf(harbour, block)
    const hundredths = levelBetween(levels, (time - block * BLOCK) / LEVEL_STEP) * 100
    const fromHalf = Math.abs(hundredths - Math.floor(hundredths) - 0.5)
    // Near a half only the sum decides the rounding.
    return Math.round(fromHalf > levelError * 100 ? hundredths : this.height(harbour, time) * 100)
  }

  /** The first high or low water after `time`, null where none comes in days (yearly constituents only). */
  next(harbour: number, time: number): Extreme | null {
    const { extremes } = this.#turnsOf(harbour, blockOf(time))
    return extremes.find((extreme) => extreme.time > time) ?? null
  }

  /** The turns of the water from `start` to `end`, both included, epoch seconds; none for the harbour −1. */
  between(harbour: number, start: number, end: number): Turns {
    if (harbour === -1) return NO_TURNS
    const extremes: Extreme[] = []
    let next = this.next(harbour, start - 1)
    for (; next !== null && next.time <= end; next = this.next(harbour, next.time)) extremes.push(next)
    let leftOut = 0
    for (let block = blockOf(start); block <= blockOf(end); block++) {
      const times = this.#turnsOf(harbour, block).leftOut
      leftOut += times.filter((time) => time >= start && time <= end).length
    }
    return { extremes, leftOut }
  }

  #turnsOf(harbour: number, block: number): BlockTurns {
    const key = harbour * BLOCKS_PER_HARBOUR + block
    return remembered(this.#turns, key, MAX_TABLES, () => this.#tabulate(harbour, block))
  }

  /** Writes `count` hourly levels from the full hour `from` (epoch seconds) on, hundredths of a metre. */
  hoursInto(harbour: number, from: number, count: number, target: Int16Array): void {
    for (let i = 0; i < count;) {
      const time = from + i * HOUR
      const block = blockOf(time)
      const { levels } = this.#levelsOf(harbour, block)
      for (let since = time - block * BLOCK; since < BLOCK && i < count; since += HOUR) {
        const level = Math.round(levels[LEVELS_BEFORE + since / LEVEL_STEP] * 100)
        target[i++] = Math.max(-HIGHEST_LEVEL_CM, Math.min(HIGHEST_LEVEL_CM, level))
      }
    }
  }

  #levelsOf(harbour: number, block: number): Levels {
    const key = harbour * BLOCKS_PER_HARBOUR + block
    return remembered(this.#levels, key, MAX_TABLES, () => this.#newLevels(harbour, block))
  }

  /** Heights for `levelBetween`, node factors drifting as in `height`, cosines in steps as in `#walk`. */
  #newLevels(harbour: number, block: number): Levels {
    const { start, constituent, amplitude, phase, datumOffset } = this.columns
    const { argument, speed, factor, drift } = this.#motionAt(block * BLOCK)
    const levels = new Float64Array(LEVELS).fill(datumOffset[harbour])
    let levelError = ROUNDING_M
    for (let i = start[harbour]; i < start[harbour + 1]; i++) {
      const c = constituent[i]
      const stepAngle = speed[c] * LEVEL_STEP
      const angle = argument[c] - stepAngle * LEVELS_BEFORE - phase[i] * RADIANS
      const twice = 2 * Math.cos(stepAngle)
      const change = drift[c] * LEVEL_STEP * amplitude[i]
      let swing = factor[c] * amplitude[i] - change * LEVELS_BEFORE
      let before = Math.cos(angle - stepAngle)
      let now = Math.cos(angle)
      for (let k = 0; k < LEVELS; k++) {
        levels[k] += swing * now
        swing += change
        const next = twice * now - before
        before = now
        now = next
      }
      levelError += CURVE_ERROR * Math.max(factor[c] * amplitude[i], swing) * Math.abs(stepAngle) ** 6
    }
    return { levels, levelError }
  }

  #motionAt(time: number): Motion {
    const block = blockOf(time)
    return remembered(this.#motions, block, MAX_MOTIONS, () =>
      motionBetween(this.#constituents, block * BLOCK, (block + 1) * BLOCK),
    )
  }

  /**
   * High and low waters of a block and the first after it, alternating. One counts once the water has moved
   * by the least range since; before that a farther one replaces it, so wiggles fall out in pairs.
   */
  #tabulate(harbour: number, block: number): BlockTurns {
    const begin = block * BLOCK
    const end = begin + BLOCK
    const leastRange = this.#leastRange[harbour]
    const extremes: Extreme[] = []
    const leftOut: number[] = []
    const leave = (turn: Extreme): void => {
      if (turn.time >= begin && turn.time < end) leftOut.push(turn.time)
    }
    let candidate: Extreme | null = null
    let time = begin - LEAD_IN
    this.#startWalk(harbour, this.#motionAt(begin), time)
    let rising = this.#walk(harbour) > 0
    while (time < end + LOOKAHEAD) {
      time += STEP
      const wasRising = rising
      rising = this.#walk(harbour) > 0
      if (rising === wasRising) continue
      const extreme = this.#extremeBetween(harbour, time - STEP - SLACK, time + SLACK, wasRising)
      if (candidate === null) candidate = extreme
      else if (candidate.high === extreme.high) {
        const isFarther = extreme.height > candidate.height === extreme.high
        leave(isFarther ? candidate : extreme)
        if (isFarther) candidate = extreme
      } else if (Math.abs(extreme.height - candidate.height) >= leastRange) {
        if (candidate.time >= begin) extremes.push(candidate)
        if (candidate.time >= end) break
        candidate = extreme
      } else leave(extreme)
    }
    return { extremes, leftOut }
  }

  /** Finds where the slope changes its sign by Newton's steps, halving where they leave the bracket. */
  #extremeBetween(harbour: number, from: number, to: number, high: boolean): Extreme {
    const { start, constituent, amplitude, phase } = this.columns
    let [low, top] = [from, to]
    let time = (from + to) / 2
    for (let round = 0; round < 20; round++) {
      const { from: begin, argument, speed, factor, drift } = this.#motionAt(time)
      const since = time - begin
      let slope = 0
      let bend = 0
      for (let i = start[harbour]; i < start[harbour + 1]; i++) {
        const c = constituent[i]
        const angle = argument[c] + speed[c] * since - phase[i] * RADIANS
        const swing = (factor[c] + drift[c] * since) * amplitude[i] * speed[c]
        slope -= swing * Math.sin(angle)
        bend -= swing * speed[c] * Math.cos(angle)
      }
      if (slope > 0 === high) low = time
      else top = time
      const newton = time - slope / bend
      const next = newton > low && newton < top ? newton : (low + top) / 2
      const moved = Math.abs(next - time)
      time = next
      // Newton's next step would be thousands of times shorter.
      if (moved < 1) break
    }
    time = Math.round(time)
    return { time, height: this.height(harbour, time), high }
  }

  /** Begins a walk from `from`, in steps of `STEP`, over the slope of the height. */
  #startWalk(harbour: number, motion: Motion, from: number): void {
    const { start, constituent, amplitude, phase } = this.columns
    const first = start[harbour]
    for (let i = first; i < start[harbour + 1]; i++) {
      const c = constituent[i]
      const speed = motion.speed[c]
      const angle = motion.argument[c] + speed * (from - motion.from) - phase[i] * RADIANS + Math.PI / 2
      // Factors of the middle of the motion, since they stand still during a walk.
      const factor = motion.factor[c] + (motion.drift[c] * BLOCK) / 2
      const swing = factor * amplitude[i] * speed
      this.#before[i - first] = swing * Math.cos(angle - speed * STEP)
      this.#now[i - first] = swing * Math.cos(angle)
      this.#twice[i - first] = 2 * Math.cos(speed * STEP)
    }
  }

  /** Sum at the current step; moves on to the next by cos(φ + δ) = 2 cos δ · cos φ − cos(φ − δ). */
  #walk(harbour: number): number {
    const { start } = this.columns
    const count = start[harbour + 1] - start[harbour]
    const [before, now, twice] = [this.#before, this.#now, this.#twice]
    let sum = 0
    for (let i = 0; i < count; i++) {
      const value = now[i]
      sum += value
      now[i] = twice[i] * value - before[i]
      before[i] = value
    }
    return sum
  }
}

/** The curve of fifth degree through the six levels around a time, in steps since the block's begin. */
function levelBetween(levels: Float64Array, steps: number): number {
  const i = Math.floor(steps)
  // Lagrange's polynomials for steps −2 to 3.
  const t = steps - i
  const t1 = t * t - 1
  const t2 = t * t - 4
  const t3 = t - 3
  return (
    (levels[i + 5] * t * t1 * t2 - levels[i] * t * t1 * (t - 2) * t3) / 120 +
    (levels[i + 1] * (t - 1) * t2 - levels[i + 4] * t1 * (t + 2)) * ((t * t3) / 24) +
    (levels[i + 3] * t * (t + 1) - levels[i + 2] * t1) * ((t2 * t3) / 12)
  )
}

const blockOf = (time: number): number => Math.floor(time / BLOCK)

/** The value of `key`, made where it is missing; at most `limit` are held, and the oldest goes first. */
function remembered<T>(map: Map<number, T>, key: number, limit: number, make: () => T): T {
  const found = entryOf(map, key, make)
  if (map.size > limit) map.delete(map.keys().next().value!)
  return found
}

function leastRanges(columns: TideColumns, constituents: readonly Constituent[]): Float32Array {
  const { start, constituent, amplitude, lat } = columns
  const [m2, k1, o1, m4, ms4] = ['M2', 'K1', 'O1', 'M4', 'MS4'].map((name) =>
    columns.constituents.indexOf(name),
  )
  return Float32Array.from(lat, (_, harbour) => {
    let sum = 0
    let once = 0
    let twice = 0
    let fourTimes = 0
    for (let i = start[harbour]; i < start[harbour + 1]; i++) {
      const c = constituent[i]
      // Constituents slower than daily move the water without turning it.
      if (constituents[c].multiples[0] > 0) sum += amplitude[i]
      if (c === k1 || c === o1) once += amplitude[i]
      if (c === m2) twice += amplitude[i]
      if (c === m4 || c === ms4) fourTimes += amplitude[i]
    }
    const isDouble = twice > once && fourTimes > DOUBLE_WATERS * twice
    return isDouble ? 0 : Math.min(LEAST_RANGE_M, LEAST_SHARE * sum)
  })
}

/**
 * The forecast at a position and a time: the nearest point within reach, linear between its two neighbouring
 * times, directions on the circle, never beyond the first or last time.
 *
 * Values are codes of their measure with a fraction (thousandths of a metre or second, hundredths of a degree
 * or km/h); `MISSING_U16` stands for none.
 */
import { MISSING_U16, type ColumnsOf, type ForecastName } from '../sea/columns.ts'
import { HOUR } from '../sea/time.ts'
import { NearPoints } from './near.ts'
import { timeBound } from './bisect.ts'

/** A point farther away tells nothing about a position. */
const REACH_KM = 50
/** Wider gaps are not bridged: global models step by at most six hours. */
export const LONGEST_STEP = 6 * HOUR

const HALF_CIRCLE = 18000
const CIRCLE = 36000
const RADIANS_PER_CODE = Math.PI / HALF_CIRCLE

export type ForecastCodes = { readonly [name in ForecastName]: Uint16Array }

/** The source of a forecast; null members are unknown. */
export interface ForecastModel {
  readonly model: string | null
  readonly credit: string | null
}

export const UNKNOWN_MODEL: ForecastModel = { model: null, credit: null }

/** By point, and by its times: the rows of point `i` are `start[i]` to `start[i + 1]`. */
export const FORECAST_COLUMNS = {
  lat: Float64Array,
  lng: Float64Array,
  /** When the point's model run was made, epoch seconds. */
  run: Uint32Array,
  /** Index into `models` of each point. */
  model: Uint16Array,
  start: Uint32Array,
  /** Ascending within a point, epoch seconds. */
  time: Uint32Array,
} as const

export interface ForecastColumns extends ColumnsOf<typeof FORECAST_COLUMNS> {
  models: readonly ForecastModel[]
  codes: ForecastCodes
}

export class Forecast {
  readonly columns: ForecastColumns
  readonly #near: NearPoints

  constructor(columns: ForecastColumns) {
    this.columns = columns
    this.#near = new NearPoints(columns.lat, columns.lng)
  }

  /** The nearest point within 50 km, or −1. */
  nearest(lat: number, lng: number): number {
    return this.#near.nearest(lat, lng, 1, REACH_KM)[0]?.ordinal ?? -1
  }

  /** `point` −1: none. */
  modelOf(point: number): ForecastModel {
    const { model, models } = this.columns
    return point === -1 ? UNKNOWN_MODEL : models[model[point]]
  }

  /** The row of `time`, or else the one before it; −1 where the point's times do not reach. */
  rowAt(point: number, time: number): number {
    const { start, time: times } = this.columns
    const from = start[point]
    const to = start[point + 1]
    // Points of one run usually share their times, and the times of the first point are in the cache.
    const same = from + timeBound(times, time, 0, start[1])
    const isSame = same < to && times[same] >= time && (same === from || times[same - 1] < time)
    const at = isSame ? same : timeBound(times, time, from, to)
    if (at === to) return -1
    if (times[at] === time) return at
    return at > from && times[at] - times[at - 1] <= LONGEST_STEP ? at - 1 : -1
  }

  /** Share of the way from `row`, the `rowAt` of `time`, to the next row: 0 to below 1. */
  shareAt(row: number, time: number): number {
    const { time: times } = this.columns
    const before = times[row]
    return before === time ? 0 : (time - before) / (times[row + 1] - before)
  }

  /** Writes a quantity at `count` full hours from `from` (epoch seconds) on, as `quantityAt` has it. */
  hoursInto(name: ForecastName, point: number, from: number, count: number, target: Uint16Array): void {
    const { start, time: times, codes } = this.columns
    const end = start[point + 1]
    let row = start[point]
    for (let i = 0; i < count; i++) {
      const time = from + i * HOUR
      while (row + 1 < end && times[row + 1] <= time) row++
      const isHere = times[row] === time
      const isBetween = row + 1 < end && times[row] < time && times[row + 1] - times[row] <= LONGEST_STEP
      target[i] =
        isHere || isBetween ? quantityAt(name, codes[name], row, this.shareAt(row, time)) : MISSING_U16
    }
  }
}

const TENTH = 10
const DEGREE = 100
const WHOLE_CIRCLE = 360

/**
 * A quantity as answers have it, `share` of the way from `row` to the next: hundredths of a metre or second,
 * of km/h with one decimal, of whole degrees.
 */
export function quantityAt(name: ForecastName, codes: Uint16Array, row: number, share: number): number {
  if (name.endsWith('Direction')) {
    const direction = directionAt(codes, row, share)
    return direction === MISSING_U16 ? MISSING_U16 : (Math.round(direction / DEGREE) % WHOLE_CIRCLE) * DEGREE
  }
  const code = valueAt(codes, row, share)
  if (code === MISSING_U16) return MISSING_U16
  return Math.round(code / TENTH) * (name === 'windSpeed' ? TENTH : 1)
}

/** A quantity other than a direction, `share` of the way to the next row; a share needs both values. */
export function valueAt(codes: Uint16Array, row: number, share: number): number {
  const before = codes[row]
  if (before === MISSING_U16 || share === 0) return before
  const after = codes[row + 1]
  return after === MISSING_U16 ? MISSING_U16 : before + (after - before) * share
}

/** A direction, `share` of the way from `row` to the next; two opposite ones have nothing between them. */
export function directionAt(codes: Uint16Array, row: number, share: number): number {
  const before = codes[row]
  if (before === MISSING_U16 || share === 0) return before
  const after = codes[row + 1]
  return after === MISSING_U16 ? MISSING_U16 : directionBetween(before, after, share)
}

/** Mean of two directions, 0.01°, as vectors weighted `1 − share` and `share`; `MISSING_U16` if opposite. */
export function directionBetween(before: number, after: number, share: number): number {
  const turn = after - before
  if (Math.abs(turn) === HALF_CIRCLE) return MISSING_U16
  const angle = turn * RADIANS_PER_CODE
  const turned = Math.atan2(share * Math.sin(angle), 1 - share + share * Math.cos(angle))
  const direction = before + turned / RADIANS_PER_CODE
  if (direction < 0) {
    // A sum so near to a full circle that it rounds to one is north.
    return direction + CIRCLE === CIRCLE ? 0 : direction + CIRCLE
  }
  return direction >= CIRCLE ? direction - CIRCLE : direction
}

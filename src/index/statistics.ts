/** Statistics of a bucket of a series: hundredths of a unit, rounded once; of directions whole degrees. */
import { MEASURES, type Measure } from '../sea/columns.ts'

export type Aggregation = 'median' | 'avg' | 'min' | 'max'

/** Stands for "no value": the circular mean of directions that cancel out. */
export const NO_VALUE = -0x80000000

/** Resultant length below which directions count as cancelling out. */
const LEAST_RESULTANT = 1e-6

/** Directions have a circular mean only: `min` and `max` mean nothing, `median` and `avg` are the same. */
export function isDirection(measure: Measure): boolean {
  return measure.unit === MEASURES.direction.unit
}

/** The statistic of the first `n` codes in hundredths of the unit, rounded once from the exact fraction. */
export function hundredths(codes: Int32Array, n: number, aggregation: Aggregation, scale: number): number {
  // Codes in a hundredth of the unit, 10 or 1, or of a coarser measure the hundredths in a code: all stay
  // whole.
  const finer = Math.max(1, scale / 100)
  const coarser = Math.max(1, 100 / scale)
  switch (aggregation) {
    case 'median': {
      const upper = select(codes, n, n >> 1)
      return n % 2 === 1
        ? quotient(upper * coarser, finer)
        : quotient((upper + greatest(codes, n >> 1)) * coarser, 2 * finer)
    }
    case 'avg': {
      let sum = 0
      for (let i = 0; i < n; i++) sum += codes[i]
      return quotient(sum * coarser, n * finer)
    }
    case 'min': {
      let least = codes[0]
      for (let i = 1; i < n; i++) {
        if (codes[i] < least) least = codes[i]
      }
      return quotient(least * coarser, finer)
    }
    case 'max':
      return quotient(greatest(codes, n) * coarser, finer)
  }
}

/** `p / q` to the nearest integer, halves away from zero; exact, as 2 p + q stays far below 2^53. */
function quotient(p: number, q: number): number {
  const rounded = Math.floor((2 * Math.abs(p) + q) / (2 * q))
  return p < 0 ? -rounded : rounded
}

function greatest(codes: Int32Array, n: number): number {
  let most = codes[0]
  for (let i = 1; i < n; i++) {
    if (codes[i] > most) most = codes[i]
  }
  return most
}

const SHORT = 6

/** The code at `k` if the first `n` were sorted; none before `k` is larger then (Hoare, "Algorithm 65"). */
function select(codes: Int32Array, n: number, k: number): number {
  let low = 0
  let high = n
  while (high - low > SHORT) {
    const [a, b, c] = [codes[low], codes[(low + high) >>> 1], codes[high - 1]]
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
    const smaller = partition(codes, low, high, pivot)
    if (k < smaller) {
      high = smaller
      continue
    }
    low = partition(codes, smaller, high, pivot + 1)
    if (k < low) return pivot
  }
  for (let i = low + 1; i < high; i++) {
    const code = codes[i]
    let at = i
    for (; at > low && codes[at - 1] > code; at--) codes[at] = codes[at - 1]
    codes[at] = code
  }
  return codes[k]
}

/** Puts codes of [from, to) below `bound` first; returns where the rest begins (N. Lomuto, no branches). */
function partition(codes: Int32Array, from: number, to: number, bound: number): number {
  let end = from
  for (let i = from; i < to; i++) {
    const code = codes[i]
    codes[i] = codes[end]
    codes[end] = code
    // 1 where the difference is negative; codes have 16 bits, so nothing overflows.
    end += (code - bound) >>> 31
  }
  return end
}

// Sine and cosine of every direction code, made at the first use.
let sines: Float64Array | undefined
let cosines: Float64Array | undefined

/** Whole degrees (0 to 359) of the mean of unit vectors, or NO_VALUE where directions cancel out. */
export function circularMean(codes: Int32Array, n: number): number {
  const radians = Math.PI / (180 * MEASURES.direction.scale)
  const length = 360 * MEASURES.direction.scale
  sines ??= Float64Array.from({ length }, (_, code) => Math.sin(code * radians))
  cosines ??= Float64Array.from({ length }, (_, code) => Math.cos(code * radians))
  let east = 0
  let north = 0
  for (let i = 0; i < n; i++) {
    east += sines[codes[i]]
    north += cosines[codes[i]]
  }
  if (Math.hypot(east, north) < LEAST_RESULTANT * n) return NO_VALUE
  // The nudge makes halves round up whatever the last bit of the sums is: 10° and 11° give 11°.
  const degrees = Math.round((Math.atan2(east, north) * 180) / Math.PI + 1e-9)
  return (degrees + 360) % 360
}

/**
 * Return levels: the maxima of years that are complete enough, and the generalized extreme value distribution
 * of these by maximum likelihood, with 95 % intervals by profile likelihood (Coles, "An Introduction to
 * Statistical Modeling of Extreme Values", 2001, chapters 2.6 and 3). The sign of the shape is his ξ:
 * positive for a heavy tail.
 */
import { coverageOf, firstMonthOf, type Month, yearOf } from './months.ts'
import { extremesOf, type Samples } from './samples.ts'

/** Fewer maxima make no distribution. */
export const LEAST_YEARS = 15
/** A level of a longer period than this many times the years is far outside of what was measured. */
export const MOST_EXTRAPOLATION = 4
/**
 * Share of the expected samples that each quarter of a year needs: coverage alone lets a missing winter in.
 */
export const LEAST_QUARTER = 0.5

const MONTHS_OF_YEAR = 12
const MONTHS_OF_QUARTER = 3
const QUARTERS = [0, 3, 6, 9]

export interface YearMaximum {
  readonly year: number
  /** Place of its earliest greatest sample; −1 where it has none. */
  readonly at: number
  /** Share of the samples that its months should have; `reason` is null if the year counts. */
  readonly coverage: number
  readonly reason: 'coverage' | 'quarter' | null
}

/**
 * The years of the samples, which begin with the month `yearStart` (1 to 12) of the year that they are named
 * by.
 */
export function yearMaxima(
  { code }: Samples,
  months: readonly Month[],
  minCoverage: number,
  yearStart: number,
): YearMaximum[] {
  if (months.length === 0) return []
  const [first, last] = [yearOf(months[0].month, yearStart), yearOf(months.at(-1)!.month, yearStart)]
  return Array.from({ length: last - first + 1 }, (_, i): YearMaximum => {
    const start = firstMonthOf(first + i, yearStart)
    const own = Array.from({ length: MONTHS_OF_YEAR }, (_, month) => monthAt(months, start + month))
    const isThin = QUARTERS.some(
      (from) => coverageOf(own.slice(from, from + MONTHS_OF_QUARTER))! < LEAST_QUARTER,
    )
    const coverage = coverageOf(own)!
    const extremes = extremesOf(code, own[0].from, own.at(-1)!.to)
    const thin = isThin ? 'quarter' : null
    return {
      year: first + i,
      at: extremes?.greatest ?? -1,
      coverage,
      reason: coverage < minCoverage ? 'coverage' : thin,
    }
  })
}

/** A month of the record, or one before or after it, which has no samples at the interval of the nearest. */
function monthAt(months: readonly Month[], month: number): Month {
  const place = month - months[0].month
  const known = months[Math.min(months.length - 1, Math.max(0, place))]
  if (known.month === month) return known
  const edge = place < 0 ? known.from : known.to
  return { ...known, month, from: edge, to: edge, count: 0, sum: 0, lack: 'coverage' }
}

/** Below this shape the likelihood has no useful maximum (Coles 3.3.1: no regular estimators). */
export const LEAST_SHAPE = -0.5
/** A shape this close to 0 is Gumbel's. */
const GUMBEL = 1e-7
/** Half of the 0.95 quantile of χ² with one degree of freedom. */
const HALF_CHI_SQUARE = 3.841458820694124 / 2
/** An upper end above this many times the level is none. */
const MOST_TIMES_LEVEL = 10

export interface Parameters {
  readonly location: number
  readonly scale: number
  readonly shape: number
}

interface GevFit {
  readonly parameters: Parameters
  /**
   * Standard errors from the observed information; null if the shape is at its bound, or this is no maximum.
   */
  readonly errors: Parameters | null
  readonly negativeLogLikelihood: number
  readonly isAtBound: boolean
}

export interface ReturnLevel {
  readonly level: number
  readonly low: number | null
  readonly high: number | null
}

/** Infinity outside of the support, and for a shape below the bound. */
export function negativeLogLikelihood(
  maxima: readonly number[],
  { location, scale, shape }: Parameters,
): number {
  if (!(scale > 0) || shape < LEAST_SHAPE) return Infinity
  let sum = maxima.length * Math.log(scale)
  for (const maximum of maxima) {
    const x = (maximum - location) / scale
    if (Math.abs(shape) < GUMBEL) {
      sum += x + Math.exp(-x)
      continue
    }
    const inner = 1 + shape * x
    if (inner <= 0) return Infinity
    const logarithm = Math.log(inner) / shape
    sum += logarithm * (1 + shape) + Math.exp(-logarithm)
  }
  return sum
}

/**
 * The level that is exceeded once in `period` years on average, above the location, in units of the scale.
 */
function reducedLevel(shape: number, period: number): number {
  const y = -Math.log1p(-1 / period)
  return Math.abs(shape) < GUMBEL ? -Math.log(y) : Math.expm1(-shape * Math.log(y)) / shape
}

function returnLevel({ location, scale, shape }: Parameters, period: number): number {
  return location + scale * reducedLevel(shape, period)
}

/** @param maxima at least two different values */
export function fitGev(maxima: readonly number[]): GevFit {
  const mean = maxima.reduce((sum, value) => sum + value, 0) / maxima.length
  const variance = maxima.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (maxima.length - 1)
  // The moments of Gumbel's distribution; the scale goes in as a logarithm, so that it stays positive.
  const scale = Math.sqrt(6 * variance) / Math.PI
  const of = ([location, logScale, shape]: readonly number[]): Parameters => {
    return { location, scale: Math.exp(logScale), shape }
  }
  const cost = (at: readonly number[]): number => negativeLogLikelihood(maxima, of(at))
  const starts = [-0.2, 0.1].map((shape) => [mean - 0.5772 * scale, Math.log(scale), shape])
  // A second simplex, a tenth as wide, goes on where the first has collapsed too early.
  const found = starts.map((start) => {
    const { at } = simplexMinimum(cost, start, [scale / 2, 0.3, 0.1], FIT_TOLERANCE)
    return simplexMinimum(cost, at, [scale / 20, 0.03, 0.01], FIT_TOLERANCE)
  })
  const { at, value } = found[0].value <= found[1].value ? found[0] : found[1]
  const parameters = of(at)
  const isAtBound = parameters.shape < LEAST_SHAPE + 1e-4
  return {
    parameters,
    errors: isAtBound ? null : errorsOf(maxima, parameters),
    negativeLogLikelihood: value,
    isAtBound,
  }
}

/**
 * The level of a return period, and the ends of its 95 % interval, from where the profile falls below the
 * bound.
 */
export function levelOf(maxima: readonly number[], fit: GevFit, period: number): ReturnLevel {
  const { parameters, negativeLogLikelihood: best } = fit
  const level = returnLevel(parameters, period)
  const end = (towards: 1 | -1): number | null => {
    // Each profile begins where the last one ended.
    let start = parameters
    // The root of the difference is nearly a straight line.
    const excess = (z: number): number => {
      const found = profileAt(maxima, period, z, start)
      if (Number.isFinite(found.value)) start = found.parameters
      return Math.sqrt(Math.max(0, found.value - best)) - Math.sqrt(HALF_CHI_SQUARE)
    }
    return crossing(excess, level, towards * parameters.scale * 0.3)
  }
  return { level, low: end(-1), high: end(1) }
}

/**
 * The least cost of all parameters that give the level `z`. The search is for a scale and a shape, from which
 * the location follows, and for a location and a shape, from which the scale does: for short periods the
 * first search meets a valley too narrow to follow, for long ones the second. Both begin near `start`, which
 * has another level.
 */
function profileAt(
  maxima: readonly number[],
  period: number,
  z: number,
  start: Parameters,
): { parameters: Parameters; value: number } {
  const location = Math.min(start.location, z - start.scale / HIGHEST_SHAPE)
  const shapes = [start.shape, shapeOf((z - location) / start.scale, period)]
  const search = (
    first: number,
    width: number,
    of: (first: number, reduced: number) => Omit<Parameters, 'shape'>,
  ) => {
    const parametersOf = ([one, shape]: readonly number[]): Parameters => {
      return { ...of(one, reducedLevel(shape, period)), shape }
    }
    const cost = (each: readonly number[]): number => negativeLogLikelihood(maxima, parametersOf(each))
    const [a, b] = shapes.map((shape) => [first, shape])
    const { at, value } = simplexMinimum(cost, cost(a) < cost(b) ? a : b, [width, 0.03], PROFILE_TOLERANCE)
    return { parameters: parametersOf(at), value }
  }
  const byScale = search(Math.log(start.scale), 0.05, (one, reduced) => {
    const scale = Math.exp(one)
    return { location: z - scale * reduced, scale }
  })
  const byLocation = search(location, 0.05 * start.scale, (one, reduced) => {
    return { location: one, scale: (z - one) / reduced }
  })
  return byScale.value < byLocation.value ? byScale : byLocation
}

const MOST_HALVINGS = 60
/** No sea has so heavy a tail. */
const HIGHEST_SHAPE = 10

/** The shape whose reduced level of a period is the nearest to `reduced`. */
function shapeOf(reduced: number, period: number): number {
  let [low, high] = [LEAST_SHAPE, HIGHEST_SHAPE]
  for (let i = 0; i < MOST_HALVINGS; i++) {
    const middle = (low + high) / 2
    if (reducedLevel(middle, period) < reduced) low = middle
    else high = middle
  }
  return low
}

const MOST_WIDENINGS = 60
const CROSSING_TOLERANCE = 1e-6

/**
 * The zero of `of`, which is negative at `from`, by the Illinois method; null for none below ten times
 * `from`.
 */
function crossing(of: (z: number) => number, from: number, step: number): number | null {
  const most = MOST_TIMES_LEVEL * Math.abs(from)
  let [inside, below] = [from, -Math.sqrt(HALF_CHI_SQUARE)]
  let [outside, above] = [from, below]
  for (let i = 0, width = step; i < MOST_WIDENINGS && above < 0; i++, width *= 1.5) {
    inside = outside
    below = above
    outside = inside + width
    if (Math.abs(outside) > most) return null
    above = of(outside)
  }
  if (!(above >= 0)) return null
  let side = 0
  for (let i = 0; i < MOST_HALVINGS && Math.abs(outside - inside) > CROSSING_TOLERANCE; i++) {
    // Outside of the support the likelihood is 0, and the difference infinite.
    const share = Number.isFinite(above) ? below / (below - above) : 0.5
    const z = inside + share * (outside - inside)
    const value = of(z)
    if (Math.abs(value) < CROSSING_TOLERANCE) return z
    // The end that stays twice counts half, so that it moves too.
    const isAgain = Math.sign(value) === side
    side = Math.sign(value)
    if (value < 0) {
      inside = z
      below = value
      if (isAgain) above /= 2
    } else {
      outside = z
      above = value
      if (isAgain) below /= 2
    }
  }
  return (inside + outside) / 2
}

/** Standard errors from the inverse of the observed information, by differences of the likelihood. */
function errorsOf(maxima: readonly number[], { location, scale, shape }: Parameters): Parameters | null {
  const at = [location, scale, shape]
  const steps = [scale * 1e-3, scale * 1e-3, 1e-3]
  const cost = (i: number, j: number, signI: number, signJ: number): number => {
    const moved = [...at]
    moved[i] += signI * steps[i]
    moved[j] += signJ * steps[j]
    return negativeLogLikelihood(maxima, { location: moved[0], scale: moved[1], shape: moved[2] })
  }
  const second = (i: number, j: number): number =>
    (cost(i, j, 1, 1) - cost(i, j, 1, -1) - cost(i, j, -1, 1) + cost(i, j, -1, -1)) /
    (4 * steps[i] * steps[j])
  const [a, b, c, d, e, f] = [
    second(0, 0),
    second(0, 1),
    second(0, 2),
    second(1, 1),
    second(1, 2),
    second(2, 2),
  ]
  const determinant = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
  const variances = [d * f - e * e, a * f - c * c, a * d - b * b].map((minor) => minor / determinant)
  if (!variances.every((variance) => variance > 0)) return null
  const [ofLocation, ofScale, ofShape] = variances.map(Math.sqrt)
  return { location: ofLocation, scale: ofScale, shape: ofShape }
}

interface Minimum {
  readonly at: number[]
  readonly value: number
}

const MOST_MOVES = 500
/** Differences of the likelihood between the corners of a simplex that has found a minimum. */
const FIT_TOLERANCE = 1e-11
const PROFILE_TOLERANCE = 1e-7

/** The minimum near `start` by the simplex of Nelder and Mead (1965). */
function simplexMinimum(
  cost: (at: readonly number[]) => number,
  start: readonly number[],
  widths: readonly number[],
  tolerance: number,
): Minimum {
  const corner = (at: number[]): Minimum => ({ at, value: cost(at) })
  const corners = [
    corner([...start]),
    ...widths.map((width, i) => corner(start.map((x, j) => (i === j ? x + width : x)))),
  ]
  const byValue = (a: Minimum, b: Minimum): number => a.value - b.value
  for (let move = 0; move < MOST_MOVES; move++) {
    corners.sort(byValue)
    const [best, worst] = [corners[0], corners.at(-1)!]
    if (worst.value - best.value <= tolerance) break
    const others = corners.slice(0, -1)
    const centre = start.map((_, i) => others.reduce((sum, { at }) => sum + at[i], 0) / others.length)
    const towards = (share: number): Minimum => corner(centre.map((x, i) => x + share * (worst.at[i] - x)))
    const reflected = towards(-1)
    if (reflected.value < best.value) {
      const expanded = towards(-2)
      corners[corners.length - 1] = expanded.value < reflected.value ? expanded : reflected
    } else if (reflected.value < corners.at(-2)!.value) corners[corners.length - 1] = reflected
    else {
      const contracted = towards(reflected.value < worst.value ? -0.5 : 0.5)
      if (contracted.value < Math.min(reflected.value, worst.value)) corners[corners.length - 1] = contracted
      else {
        for (let i = 1; i < corners.length; i++)
          corners[i] = corner(corners[i].at.map((x, j) => (x + best.at[j]) / 2))
      }
    }
  }
  return corners.sort(byValue)[0]
}

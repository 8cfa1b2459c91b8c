/** Ranges of a chart's x axis, what zooming and pinching make of them, and pauses of a line. */

/** The lower end, then the higher one. */
export type Range = readonly [number, number]

/** A range inside `whole` and at least `least` wide, as near to the wished one as it can be. */
export function inside([low, high]: Range, whole: Range, least: number): Range {
  const width = Math.min(Math.max(high - low, least), whole[1] - whole[0])
  const middle = (low + high) / 2
  const from = Math.min(Math.max(middle - width / 2, whole[0]), whole[1] - width)
  return [from, from + width]
}

/** The range of ascending values; that of a single one is `least` wide, with the value in its middle. */
export function wholeOf(values: readonly number[], least: number): Range {
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 0]
  return low === high ? [low - least / 2, high + least / 2] : [low, high]
}

/** The range `factor` times as wide, in which `at` keeps its place. */
export function zoomed([low, high]: Range, at: number, factor: number): Range {
  return [at - (at - low) * factor, at + (high - at) * factor]
}

/** Two fingers nearer to each other than this leave the range as it is. */
const LEAST_SPREAD_PIXELS = 16

/**
 * The range in which two fingers stay on the values that they were put down on. `before` and `now` are their
 * pixels from the left end of the axis, which is `width` pixels long.
 */
export function pinched(
  [low, high]: Range,
  before: readonly [number, number],
  now: readonly [number, number],
  width: number,
): Range {
  const perPixel = (high - low) / width
  const spread = now[1] - now[0]
  const first = low + before[0] * perPixel
  const second = low + before[1] * perPixel
  const isCrossed = Math.sign(spread) !== Math.sign(before[1] - before[0])
  if (isCrossed || Math.abs(spread) < LEAST_SPREAD_PIXELS) return [low, high]
  const next = (second - first) / spread
  const from = first - now[0] * next
  return [from, from + width * next]
}

/** Index of the value of an ascending list that is nearest to `at`; −1 for an empty list. */
export function nearestIndex(values: readonly number[], at: number): number {
  let [low, high] = [0, values.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] ?? NaN) < at) low = middle + 1
    else high = middle
  }
  if (low === values.length) return low - 1
  if (low === 0) return 0
  return at - (values[low - 1] ?? NaN) <= (values[low] ?? NaN) - at ? low - 1 : low
}

/**
 * The cells of a line over `x`, which other lines share. It goes on where only another one has a value
 * (undefined), but not over a pause of its own longer than `longest` (null).
 */
export function breakLongPauses(
  x: readonly number[],
  values: readonly (number | null)[],
  longest: number,
): (number | null | undefined)[] {
  const cells = values.map((value) => value ?? undefined) as (number | null | undefined)[]
  let last = -1
  for (const [i, value] of values.entries()) {
    if (value === null) continue
    const pause = (x[i] ?? NaN) - (x[last] ?? NaN)
    // Each cell of the pause: one alone would break the line at its own place only.
    if (pause > longest) cells.fill(null, last + 1, i)
    last = i
  }
  return cells
}

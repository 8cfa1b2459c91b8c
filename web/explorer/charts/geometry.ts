/** Ranges of a chart's axes, pauses of a line, signs of directions. */

/** The lower end, then the higher one. */
export type Range = readonly [number, number]

/** The range of ascending values; that of a single one is `least` wide, with the value in its middle. */
export function wholeOf(values: readonly number[], least: number): Range {
  const [low, high] = [values[0] ?? 0, values.at(-1) ?? 0]
  return low === high ? [low - least / 2, high + least / 2] : [low, high]
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
 * The pauses of a line over `x` that are longer than `longest`, by the indexes of the values before and after
 * each. A null, where only other lines have a value, makes no pause.
 */
export function longPauses(
  x: readonly number[],
  values: readonly (number | null)[],
  longest: number,
): [number, number][] {
  const own = [...values.keys()].filter((i) => values[i] !== null)
  return own
    .map((i, at): [number, number] => [own[at - 1] ?? i, i])
    .filter(([before, i]) => (x[i] ?? NaN) - (x[before] ?? NaN) > longest)
}

/** The median of the times between values; 0 for fewer than two. */
export function intervalOf(x: readonly number[], values: readonly (number | null)[]): number {
  const times = x.filter((_, i) => (values[i] ?? null) !== null)
  const steps = times.slice(1).map((time, i) => time - (times[i] ?? time))
  return steps.toSorted((a, b) => a - b)[steps.length >> 1] ?? 0
}

/** A value axis that begins at 0. It ends at `least` where all values are below that. */
export const fromZero =
  (least: number) =>
  (_plot: unknown, _low: number | null, high: number | null): [number, number] => [
    0,
    Math.max(least, (high ?? 0) * 1.08),
  ]

/**
 * An arrow that points where waves from north go, as the outline of SVG: 14 pixels high, about its middle.
 */
export const ARROW = 'M0-7V6M-4 1 0 7 4 1z'

/**
 * The barb of a wind from north by the convention of WMO, as the outline of SVG, about the middle of its
 * staff of 16 pixels, whose upper end is where the wind comes from: a half barb for 5 kn, a full one for 10,
 * a pennant for 50, and a ring for calm. Speeds are rounded to 5 kn. South of the equator barbs are on the
 * other side.
 */
export function windBarb(knots: number, isSouth = false): string {
  let fives = Math.round(knots / 5)
  // Once around and back again encloses nothing that could be filled.
  if (fives === 0) return 'M3 0A3 3 0 1 1-3 0 3 3 0 1 1 3 0 3 3 0 1 0-3 0 3 3 0 1 0 3 0'
  const [out, back] = isSouth ? ['-', ''] : ['', '-']
  const parts = [
    { size: 10, step: 4.3, outline: `l${out}7 1.7l${back}7 1.7z` },
    { size: 2, step: 2.7, outline: `l${out}7-2.6` },
    { size: 1, step: 2.7, outline: `l${out}3.5-1.3` },
  ]
  // A half barb alone is away from the end, or it would be taken for a full one.
  let at = fives === 1 ? -5.3 : -8
  let barb = 'M0 8V-8'
  for (const { size, step, outline } of parts) {
    for (; fives >= size; fives -= size, at += step) barb += `M0 ${at.toFixed(1)}${outline}`
  }
  return barb
}

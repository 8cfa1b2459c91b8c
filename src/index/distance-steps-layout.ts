/**
 * Squared chords, 4 at most, are counted in so many steps: of 1,200 points all over the globe two or three
 * lie in one.
 */
const STEPS = 512
const COUNTS_BYTES = 4 * (STEPS + 4)

/** Addresses and numbers of `distance-steps.wat` and `distance-steps.ts`. */
export const LAYOUT = {
  STEPS,
  LAST_STEP: STEPS - 1,
  /** Points of each step, four bytes each, and behind them four counts of those that are beyond. */
  COUNTS: 0,
  COUNTS_BYTES,
  /** The steps that what is found lies in, the first and the last, and the points that come before: four bytes each. */
  FIRST: COUNTS_BYTES,
  LAST: COUNTS_BYTES + 4,
  BEFORE: COUNTS_BYTES + 8,
  /** 1 where a point lies on the border. */
  BORDER: COUNTS_BYTES + 12,
  /**
   * x, y and z of all points, a column each, four bytes each. Behind them the step of each, two bytes; and
   * behind those the points that are found, four bytes.
   */
  POINTS: 2112,
} as const

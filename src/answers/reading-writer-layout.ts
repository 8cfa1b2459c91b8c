/** Addresses in the memory of `reading-writer.wat` and `reading-writer.ts`. */
export const LAYOUT = {
  /** Whole numbers below 100, two digits each. */
  TWO_DIGITS: 0,
  /** Whole numbers below 1000, four bytes each with their length in the last one. */
  WHOLE_NUMBERS: 256,
  /**
   * A point and three digits, four bytes each, so that digits without a point lie one byte behind. How many
   * characters are left of them without zeros at their end, one byte each.
   */
  THREE_DIGITS: 4352,
  THREE_DIGITS_LENGTHS: 8352,
  /** Compass points, eight bytes each, and their lengths, one byte each. */
  COMPASS: 9472,
  COMPASS_LENGTHS: 9712,
  /** Literals, each with 16 bytes, or a multiple of them, for itself. */
  UUID: 9984,
  MAXIMUM_HEIGHT: 10_000,
  PERIOD: 10_016,
  TIME: 10_032,
  WATER_TEMPERATURE: 10_048,
  DIRECTION: 10_080,
  DIRECTION_COMPASS: 10_096,
  ENERGY: 10_128,
  LOW_HALVES: 10_192,
  IS_HIGH_HALF: 10_208,
  HEX_DIGITS: 10_224,
  /** What the readings of a buoy share: before the time in the id, and from the end of the uuid on. */
  HEAD: 10_240,
  TAIL: 10_256,
  /** The columns of a call. */
  TIMES: 10_496,
  HEIGHTS: 11_008,
  MAXIMUMS: 11_264,
  PERIODS: 11_520,
  TEMPERATURES: 11_776,
  DIRECTIONS: 12_032,
  /** What is written. */
  OUTPUT: 12_288,
} as const

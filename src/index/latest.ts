/** What the newest reading of each buoy has, for filters: ordinals in. */
import { MEASURE_NAMES, MEASURES } from '../sea/columns.ts'
import type { Segments } from './segments.ts'
import type { Steps } from '../system/steps.ts'

export interface Latest {
  /** A bit for each measure in the buoy's newest reading, in the order of `MEASURE_NAMES`. */
  readonly has: Uint16Array
  /** Time of the buoy's newest reading, epoch seconds; −1 without one. */
  readonly time: Float64Array
}

/** Some 0.1 ms of work. */
const BUOYS_PER_STEP = 64

export function* latestOf(readings: Segments): Steps<Latest> {
  const count = readings.first.length - 1
  const has = new Uint16Array(count)
  const time = new Float64Array(count).fill(-1)
  for (let ordinal = 0; ordinal < count; ordinal++) {
    if (ordinal % BUOYS_PER_STEP === 0) yield
    const behind = readings.first[ordinal + 1]
    if (behind === readings.first[ordinal]) continue
    const month = readings.months[readings.month[behind - 1]]
    const row = readings.to[behind - 1] - 1
    time[ordinal] = month.time[row]
    for (let i = 0; i < MEASURE_NAMES.length; i++) {
      const { codes, mask } = month.measures[MEASURE_NAMES[i]]
      if (codes[row & mask] !== MEASURES[MEASURE_NAMES[i]].missing) has[ordinal] |= 1 << i
    }
  }
  return { has, time }
}

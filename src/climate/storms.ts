/** Storms: runs of samples above a threshold, joined over short gaps. */
import { HOUR } from '../sea/time.ts'
import type { Month } from './months.ts'
import type { Samples } from './samples.ts'

/**
 * Intervals without a sample beyond which a storm may have begun before its first one, or gone on after its
 * last.
 */
const CUT_INTERVALS = 3
/** Intervals between two samples from which on some are missing. */
const MISSING_INTERVALS = 1.5

export interface Storm {
  /** Indexes of the first and last sample above the threshold, and of the highest. */
  readonly from: number
  readonly to: number
  readonly peak: number
  /** End minus start and one usual interval, seconds. */
  readonly duration: number
  /** Sum of the squares of the heights times their intervals, m²h. */
  readonly energy: number
  /** Hours of the storm without samples. */
  readonly missingHours: number
  readonly isCut: boolean
}

interface StormRule {
  /** Hundredths of a code; a storm is strictly above. */
  readonly threshold: number
  /** Seconds between two samples above the threshold that are still of one storm. */
  readonly gap: number
  /** Seconds. */
  readonly minDuration: number
}

/** The storms in the order of time. The usual interval is that of the month. */
export function stormsOf(samples: Samples, months: readonly Month[], rule: StormRule): Storm[] {
  const { time, code, length } = samples
  const storms: Storm[] = []
  const intervals = new Float64Array(length)
  for (const { from, to, interval } of months) intervals.fill(interval, from, to)
  let first = -1
  let last = -1
  const end = (): void => {
    if (first === -1) return
    const storm = stormOf(samples, intervals, first, last, rule.threshold)
    if (storm.duration >= rule.minDuration) storms.push(storm)
  }
  for (let at = 0; at < length; at++) {
    if (100 * code[at] <= rule.threshold) continue
    if (last === -1 || time[at] - time[last] > rule.gap) {
      end()
      first = at
    }
    last = at
  }
  end()
  return storms
}

function stormOf(
  { time, code, length, measure }: Samples,
  intervals: Float64Array,
  from: number,
  to: number,
  threshold: number,
): Storm {
  let peak = from
  let squares = 0
  let missing = 0
  for (let at = from; at <= to; at++) {
    if (code[at] > code[peak]) peak = at
    // Exact: whole numbers below 2^53.
    if (100 * code[at] > threshold) squares += code[at] * code[at] * intervals[at]
    const step = at === from ? 0 : time[at] - time[at - 1]
    if (step > MISSING_INTERVALS * intervals[at]) missing += step - intervals[at]
  }
  const isOpen = (before: number, after: number, interval: number): boolean =>
    before < 0 || after >= length || time[after] - time[before] > CUT_INTERVALS * interval
  return {
    from,
    to,
    peak,
    duration: time[to] - time[from] + intervals[to],
    energy: squares / (measure.scale * measure.scale * HOUR),
    missingHours: missing / HOUR,
    isCut: isOpen(from - 1, from, intervals[from]) || isOpen(to, to + 1, intervals[to]),
  }
}

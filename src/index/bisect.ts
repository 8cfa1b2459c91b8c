/** Finds a value in an ascending column: by halving, or by guessing where times come at even steps. */

/** First index in [from, to) with a value not below `value`, or `to`. */
export function lowerBound(values: Uint32Array, value: number, from = 0, to = values.length): number {
  while (from < to) {
    const middle = (from + to) >>> 1
    if (values[middle] < value) from = middle + 1
    else to = middle
  }
  return from
}

/** First index in [from, to) where `isBefore` is false, or `to`; it must be true for all indexes below. */
export function partitionPoint(from: number, to: number, isBefore: (index: number) => boolean): number {
  while (from < to) {
    const middle = (from + to) >>> 1
    if (isBefore(middle)) from = middle + 1
    else to = middle
  }
  return from
}

/** As `lowerBound`, for times at nearly even steps. */
export function timeBound(times: Uint32Array, time: number, from: number, to: number): number {
  if (from === to || times[from] >= time) return from
  if (times[to - 1] < time) return to
  const [low, high, oldest, newest] = [from, to - 1, times[from], times[to - 1]]
  const likely = likelyRow(low, high, oldest, newest, time)
  return timeBoundNear(times, low, high, nearerRow(times, low, high, oldest, newest, time, likely), time)
}

/**
 * First row not before `time`, between rows `low` (earlier) and `high` (not earlier), from one that is likely
 * to be near. Guesses and galloping touch fewer cache lines than halving.
 */
export function timeBoundNear(
  times: Uint32Array,
  low: number,
  high: number,
  near: number,
  time: number,
): number {
  if (near > low && times[near] >= time) {
    high = near
    for (let step = 1; ; step *= 2) {
      if (high - step <= low || times[high - step] < time) {
        low = Math.max(low, high - step)
        break
      }
      high -= step
    }
  } else {
    low = near
    for (let step = 1; ; step *= 2) {
      if (low + step >= high || times[low + step] >= time) {
        high = Math.min(high, low + step)
        break
      }
      low += step
    }
  }
  // times[low] < time <= times[high]
  return lowerBound(times, time, low + 1, high)
}

/** The row where `time` would be if rows came at even steps. */
export function likelyRow(low: number, high: number, oldest: number, newest: number, time: number): number {
  return low + Math.floor(((time - oldest) / (newest - oldest)) * (high - low))
}

/** A better guess than `row`, made from the time in that row. */
export function nearerRow(
  times: Uint32Array,
  low: number,
  high: number,
  oldest: number,
  newest: number,
  time: number,
  row: number,
): number {
  const steps = ((time - times[row]) / (newest - oldest)) * (high - low)
  return Math.min(high, Math.max(low, row + Math.round(steps)))
}

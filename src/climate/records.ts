/** The greatest and least samples ever, of each month and of each year, and how the last one ranks. */
import { DAY, HOUR } from '../sea/time.ts'
import type { Month } from './months.ts'
import type { Samples } from './samples.ts'

/** A value that no sample within this time supports stands alone. */
const SUPPORT_SECONDS = 3 * HOUR

/** A place of a sample, and whether the sample stands alone. */
export interface Record {
  readonly at: number
  readonly isDoubtful: boolean
}

export interface Pair {
  readonly greatest: Record
  readonly least: Record
}

export interface Records {
  readonly ever: Pair | null
  /** Records by month (1 to 12) and by year, if there are samples. */
  readonly months: ReadonlyMap<number, Pair>
  readonly years: ReadonlyMap<number, Pair>
}

export function recordsOf(samples: Samples, months: readonly Month[]): Records {
  const there = months.filter(({ count }) => count > 0)
  const ofEach = there.map((month) => ({ month, pair: pairOf(samples, month.from, month.to) }))
  const grouped = (keyOf: (month: Month) => number): Map<number, Pair> => {
    const pairs = new Map<number, Pair>()
    for (const { month, pair } of ofEach) {
      const key = keyOf(month)
      const before = pairs.get(key)
      pairs.set(key, before === undefined ? pair : better(samples, before, pair))
    }
    return new Map([...pairs].sort(([a], [b]) => a - b))
  }
  return {
    ever: grouped(() => 0).get(0) ?? null,
    months: grouped(({ ofYear }) => ofYear),
    years: grouped(({ year }) => year),
  }
}

function pairOf(samples: Samples, from: number, to: number): Pair {
  return { greatest: recordOf(samples, from, to, 1), least: recordOf(samples, from, to, -1) }
}

function better(samples: Samples, a: Pair, b: Pair): Pair {
  return {
    greatest: betterRecord(samples, a.greatest, b.greatest, 1),
    least: betterRecord(samples, a.least, b.least, -1),
  }
}

/** The earlier of two records, unless the later one beats it: a sound one beats each that is doubtful. */
function betterRecord({ code }: Samples, a: Record, b: Record, sign: 1 | -1): Record {
  if (a.isDoubtful !== b.isDoubtful) return a.isDoubtful ? b : a
  return sign * code[b.at] > sign * code[a.at] ? b : a
}

/** The earliest of the greatest (`sign` 1) or least (−1) samples [from, to), a sound one if there is any. */
function recordOf(samples: Samples, from: number, to: number, sign: 1 | -1): Record {
  const { code } = samples
  let sound = -1
  let any = from
  for (let at = from; at < to; at++) {
    if (sign * code[at] > sign * code[any]) any = at
    if ((sound === -1 || sign * code[at] > sign * code[sound]) && isSupported(samples, at, sign)) sound = at
  }
  return sound === -1 ? { at: any, isDoubtful: true } : { at: sound, isDoubtful: false }
}

/**
 * Whether a sample within three hours supports this one: above half of it, or for the least below its double,
 * or equal. Half of a temperature means nothing: there any sample does.
 */
function isSupported({ time, code, length, measure }: Samples, at: number, sign: 1 | -1): boolean {
  const value = code[at]
  const supports = (other: number): boolean =>
    measure.signed ||
    code[other] === value ||
    (sign === 1 ? 2 * code[other] > value : code[other] < 2 * value)
  for (let i = at - 1; i >= 0 && time[at] - time[i] <= SUPPORT_SECONDS; i--) {
    if (supports(i)) return true
  }
  for (let i = at + 1; i < length && time[i] - time[at] <= SUPPORT_SECONDS; i++) {
    if (supports(i)) return true
  }
  return false
}

interface LastRank {
  readonly at: number
  /** Rank among the samples of its month in all years, 1 for the highest, and their number. */
  readonly rank: number
  readonly of: number
  /** Share of these that are below it, in whole percents, rounded down. */
  readonly higherThanPercent: number
  readonly since: HighestSince
}

/** The rank of the last sample among those of its month; null without a sample. */
export function rankOfLast(samples: Samples, months: readonly Month[]): LastRank | null {
  const { code, length } = samples
  if (length === 0) return null
  const at = length - 1
  const { ofYear } = months.at(-1)!
  let [above, below, of] = [0, 0, 0]
  for (const month of months) {
    if (month.ofYear !== ofYear) continue
    of += month.count
    for (let i = month.from; i < month.to; i++) {
      if (code[i] > code[at]) above++
      else if (code[i] < code[at]) below++
    }
  }
  const higherThanPercent = Math.floor((100 * below) / of)
  return { at, rank: above + 1, of, higherThanPercent, since: highestSince(samples, at) }
}

export interface HighestSince {
  /** Place of the last earlier sample that is at least as high; −1 where there is none. */
  readonly before: number
  /** Days (UTC) without a sample since then, or since the first sample. */
  readonly missingDays: number
}

export function highestSince({ time, code }: Pick<Samples, 'time' | 'code'>, at: number): HighestSince {
  let before = at - 1
  let missingDays = 0
  let day = Math.floor(time[at] / DAY)
  for (; before >= 0; before--) {
    const other = Math.floor(time[before] / DAY)
    missingDays += Math.max(0, day - other - 1)
    day = other
    if (code[before] >= code[at]) break
  }
  return { before, missingDays }
}

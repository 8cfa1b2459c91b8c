/** Spectral wave summaries (`.spec`): the sea in its two parts, joined to the wave samples of the station. */
import { APD, type LayoutOf, readLines, type StationRows, WIDTH, WVHT } from './ndbc-rows.ts'
import { knownColumn } from '../reading/measured-values.ts'
import type { FileReport } from '../source.ts'
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import { NO_CODE } from '../../sea/row-batch.ts'
import { BuildError } from '../../system/build-error.ts'

/** Rows of one file; 45 days of ten-minute rows are 6,480. */
const MAX_SUMMARIES = 200_000

/** A summary belongs to a sample at most so far away: the time in which a hull sends a sample again. */
const JOINED_SECONDS = 1200

/** WVHT and APD tell which sample a row is of. */
const NUMBERS = [
  ['WVHT', 'significantHeight'],
  ['APD', 'period'],
  ['SwH', 'swellHeight'],
  ['SwP', 'swellPeriod'],
  ['WWH', 'windWaveHeight'],
  ['WWP', 'windWavePeriod'],
] as const
const SAMPLE_NUMBERS = 2
const [SWELL, WIND_WAVES] = [2, 4]
/** Heights are rounded to tenths. */
const ROUNDING_MM = 100
const DIRECTIONS = [
  ['SwD', 'swellDirection'],
  ['WWD', 'windWaveDirection'],
] as const

const POINTS = 'N NNE NE ENE E ESE SE SSE S SSW SW WSW W WNW NW NNW'.split(' ')

/** Values of one row, as codes. */
export interface Summary {
  readonly time: number
  readonly height: number
  readonly averagePeriod: number
  readonly parts: ReadonlyMap<MeasureName, number>
  readonly file: FileReport
}

const summaryLayout: LayoutOf = (labels) => {
  if (![...NUMBERS, ...DIRECTIONS].every(([label]) => labels.includes(label))) return null
  const columns = NUMBERS.map(([label, name]) => knownColumn(name, labels.indexOf(label), label))
  return { isRealtime: true, columns }
}

/** The rows of a file that have a part. A point of the compass becomes the middle of its sector. */
export function readSummaries(bytes: Buffer, file: FileReport, station: string): Summary[] {
  const summaries: Summary[] = []
  const fault = readLines(bytes, file, summaryLayout, ({ time, codes, text }) => {
    const parts = new Map<MeasureName, number>()
    for (let i = SAMPLE_NUMBERS; i < NUMBERS.length; i++) {
      if (codes[i] !== NO_CODE) parts.set(NUMBERS[i][1], codes[i])
    }
    for (const [label, name] of DIRECTIONS) {
      const word = text(label)
      const point = POINTS.indexOf(word.toUpperCase())
      if (point >= 0) parts.set(name, (point * 360 * MEASURES[name].scale) / POINTS.length)
      else if (word !== 'MM' && word !== 'N/A')
        file.skipped(`${label} is not a point of the compass`, station)
    }
    if (codes[0] !== NO_CODE && Math.max(codes[SWELL], codes[WIND_WAVES]) > codes[0] + ROUNDING_MM)
      file.skipped('swell or wind sea higher than the whole sea', station)
    else if (parts.size > 0) summaries.push({ time, height: codes[0], averagePeriod: codes[1], parts, file })
    if (summaries.length > MAX_SUMMARIES)
      throw new BuildError(`ndbc: a spectral wave summary has more than ${MAX_SUMMARIES} rows`)
    return null
  })
  // Readings do without it: a page of a web server in its place must not cost the whole source.
  if (fault > 0) file.skipped('no spectral wave summary', station)
  return summaries
}

/**
 * The summary of each wave sample, by the row that represents it; `samples` ascend in time. A summary belongs
 * to the nearest sample within `JOINED_SECONDS` that has its WVHT, and its APD where both have one. Of two
 * summaries of a sample the nearer one counts, and of two that are as near the earlier.
 */
export function joinSummaries(
  summaries: readonly Summary[],
  { time, codes }: StationRows,
  samples: readonly number[],
  station: string,
): Map<number, Summary> {
  const joined = new Map<number, Summary>()
  const isOf = ({ height, averagePeriod }: Summary, row: number): boolean => {
    const period = codes[row * WIDTH + APD]
    const isSamePeriod = period === averagePeriod || period === NO_CODE || averagePeriod === NO_CODE
    return isSamePeriod && height !== NO_CODE && codes[row * WIDTH + WVHT] === height
  }
  let first = 0
  for (const summary of summaries.toSorted((a, b) => a.time - b.time)) {
    const away = (row: number): number => Math.abs(time[row] - summary.time)
    while (first < samples.length && time[samples[first]] < summary.time - JOINED_SECONDS) first++
    let nearest = -1
    for (let at = first; at < samples.length; at++) {
      const row = samples[at]
      if (time[row] > summary.time + JOINED_SECONDS) break
      if (isOf(summary, row) && (nearest < 0 || away(row) < away(nearest))) nearest = row
    }
    if (nearest < 0) summary.file.skipped('swell without its wave sample', station)
    else {
      const known = joined.get(nearest)
      if (known === undefined || Math.abs(known.time - time[nearest]) > away(nearest))
        joined.set(nearest, summary)
    }
  }
  return joined
}

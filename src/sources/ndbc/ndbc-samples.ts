/** The rows of a station in order of time, each of its wave samples once. */
import {
  APD,
  DPD,
  GST,
  type LayoutOf,
  MWD,
  readLines,
  StationRows,
  WDIR,
  WIDTH,
  WSPD,
  WTMP,
  WVHT,
} from './ndbc-rows.ts'
import { type MeasureName, MEASURES } from '../../sea/columns.ts'
import { NO_CODE, RowBatch } from '../../sea/row-batch.ts'
import { HOUR } from '../../sea/time.ts'
import type { FileReport, Sink } from '../source.ts'
import { directionOf } from '../reading/stations.ts'
import { knownColumn } from '../reading/measured-values.ts'
import { BuildError } from '../../system/build-error.ts'

export const BATCH_ROWS = 8192

/** All rows of one wave sample lie within this time of its first row. */
const SAMPLE_SECONDS = 1200

const REPEAT_STEP_SECONDS = 600

/** Samples further away than this tell nothing about how high the sea was. */
const NEIGHBOUR_SECONDS = 3 * HOUR

/** Waves before or after a calm in which a buoy says 0 m; some round to halves of a metre. */
const CALM_MM = 500

export interface StationHandle {
  readonly buoy: number
  readonly identifier: string
}

const NO_SUMMARIES: readonly Summary[] = []

/** The measures of a row and where in READ they come from: those of a wave sample first. */
const SENT = [
  ['significantHeight', WVHT],
  ['period', DPD],
  ['peakPeriod', DPD],
  ['direction', MWD],
  ['waterTemperature', WTMP],
  ['windDirection', WDIR],
  ['windSpeed', WSPD],
  ['gustSpeed', GST],
] as const

const SAMPLE_MEASURES = 4

const TWICE = 'a row whose time comes again with other values'
const REPEAT = 'waves repeat a sample'
const DEAD = 'waves garbled: a height of 0 m between waves'
const GARBLED = 'waves garbled: height and average period are one number, and there is no other'

/** Sends the rows of a feed in time order, each wave sample once, with its summary. */
export function sendRows(
  { buoy, identifier }: StationHandle,
  rows: StationRows,
  feed: number,
  batch: RowBatch,
  sink: Sink,
  summaries = NO_SUMMARIES,
): void {
  const order = timeOrder(rows, identifier)
  const sampleOf = chooseSamples(rows, order)
  const garbled = garbledSamples(rows, sampleOf, order)
  const isSample = new Uint8Array(rows.length)
  const { codes, time } = rows
  for (const row of order) {
    const sample = sampleOf[row]
    if (sample < 0) continue
    // A garbled row is sent even when nothing is left of it: an earlier build may have taken it for a sample.
    if (garbled.has(sample))
      rows.fileOf(row).skipped(codes[sample * WIDTH + WVHT] === 0 ? DEAD : GARBLED, identifier)
    else if (sample === row) isSample[row] = 1
    else rows.fileOf(row).skipped(REPEAT, identifier)
  }
  const samples = summaries.length === 0 ? [] : Array.from(order).filter((row) => isSample[row] === 1)
  const joined = joinSummaries(summaries, rows, samples, identifier)
  const { columns } = batch
  columns.maximumHeight.fill(MEASURES.maximumHeight.missing)
  for (let from = 0; from < order.length; from += BATCH_ROWS) {
    const part = order.subarray(from, from + BATCH_ROWS)
    for (let i = 0; i < part.length; i++) batch.time[i] = time[part[i]]
    SENT.forEach(([name, place], index) => {
      sendColumn(columns[name], MEASURES[name].missing, place, index < SAMPLE_MEASURES ? isSample : null)
    })
    batch.length = part.length
    for (let i = 0; joined.size > 0 && i < part.length; i++) {
      for (const [name, code] of joined.get(part[i])?.parts ?? []) columns[name][i] = code
    }
    sink.rows(buoy, batch, feed)
    batch.clear()

    function sendColumn(
      column: Uint16Array | Int16Array,
      missing: number,
      place: number,
      wanted: Uint8Array | null,
    ): void {
      for (let i = 0; i < part.length; i++) {
        const code = codes[part[i] * WIDTH + place]
        column[i] = code === NO_CODE || (wanted !== null && wanted[part[i]] === 0) ? missing : code
      }
    }
  }
}

const isOther = (code: number, later: number): boolean =>
  code !== later && code !== NO_CODE && later !== NO_CODE

/** Rows by time. The last one read counts at a time: files of one feed overlap by an hour or a day. */
function timeOrder(rows: StationRows, identifier: string): Uint32Array {
  const { time, codes, length } = rows
  const order = new Uint32Array(length)
  const direction = directionOf(time, length)
  if (direction !== 0) return order.map((_, i) => (direction > 0 ? i : length - 1 - i))
  const sorted = Array.from({ length }, (_, row) => row)
  // The sort is stable, and linear on the few ascending or descending runs that files consist of.
  sorted.sort((a, b) => time[a] - time[b])
  let kept = 0
  for (let at = 0; at < length; at++) {
    const row = sorted[at]
    const next = sorted[at + 1] * WIDTH
    if (at + 1 === length || time[row] !== time[sorted[at + 1]]) order[kept++] = row
    else if (codes.subarray(row * WIDTH, (row + 1) * WIDTH).some((code, i) => isOther(code, codes[next + i])))
      rows.fileOf(row).skipped(TWICE, identifier)
  }
  return order.subarray(0, kept)
}

/**
 * The row that represents the wave sample of each row, −1 for a row without waves. A hull sends a sample
 * twice, first without DPD. Rows belong to one sample within SAMPLE_SECONDS of its first row, each at most
 * REPEAT_STEP_SECONDS after the one before, with equal WVHT, MWD and APD and at most one DPD; one row may have
 * APD alone and another DPD. The first row represents the sample, so that its id stays, and what it lacks comes from the others. A
 * row without APD is a sample of its own: stations that send heights alone show equal ones for hours (44058).
 */
function chooseSamples({ time, codes, length }: StationRows, order: Uint32Array): Int32Array {
  const sampleOf = new Int32Array(length).fill(-1)
  let first = -1
  let previous = -1
  for (const row of order) {
    const base = row * WIDTH
    if (codes[base + WVHT] === NO_CODE) continue
    const sample = first * WIDTH
    const repeats =
      first >= 0 &&
      time[row] - time[previous] <= REPEAT_STEP_SECONDS &&
      time[row] - time[first] <= SAMPLE_SECONDS &&
      codes[base + WVHT] === codes[sample + WVHT] &&
      isOfOneSample(codes, sample, base) &&
      codes[base + MWD] === codes[sample + MWD] &&
      (codes[base + DPD] === NO_CODE || codes[sample + DPD] === NO_CODE)
    previous = row
    if (repeats) {
      for (let i = 0; i < WIDTH; i++) {
        if (codes[sample + i] === NO_CODE) codes[sample + i] = codes[base + i]
      }
    } else first = row
    sampleOf[row] = first
  }
  return sampleOf
}

function isOfOneSample(codes: Int32Array, sample: number, base: number): boolean {
  const [known, average] = [codes[sample + APD], codes[base + APD]]
  if (known !== NO_CODE && average !== NO_CODE) return known === average
  const has = (at: number): boolean => codes[at + DPD] !== NO_CODE
  return known !== average && (average === NO_CODE ? has(base) : has(sample))
}

/**
 * Samples in which one number came into two fields: WVHT equals APD, no row has a DPD, and no neighbour is as
 * high to within a third. A storm can have such numbers (46075 in August 2023), and its neighbours tell. And
 * those of 0 m between waves (46022 in April 2011): a calm has others beside it, and no average period of 0 s.
 */
function garbledSamples({ time, codes }: StationRows, sampleOf: Int32Array, order: Uint32Array): Set<number> {
  const samples = order.filter((row) => sampleOf[row] === row)
  const height = (row: number): number => codes[row * WIDTH + WVHT]
  const isSuspect = (row: number): boolean =>
    height(row) === 0 || (height(row) === codes[row * WIDTH + APD] && codes[row * WIDTH + DPD] === NO_CODE)
  const garbled = new Set<number>()
  samples.forEach((row, at) => {
    if (!isSuspect(row)) return
    const isNear = (other: number | undefined): boolean =>
      other !== undefined && Math.abs(time[other] - time[row]) <= NEIGHBOUR_SECONDS
    const neighbours = ([-1, 1] as const).flatMap((step) => {
      let next = at + step
      while (isNear(samples[next]) && isSuspect(samples[next])) next += step
      return isNear(samples[next]) ? [height(samples[next])] : []
    })
    const isCalm = height(row) === 0 && codes[row * WIDTH + APD] !== 0
    const most = isCalm ? CALM_MM : height(row) / 3
    const isVouchedFor = neighbours.some((other) => Math.abs(other - height(row)) <= most)
    if (!isVouchedFor && !(isCalm && neighbours.length === 0)) garbled.add(row)
  })
  return garbled
}

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
function joinSummaries(
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

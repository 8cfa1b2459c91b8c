/** The rows of a station in order of time, each of its wave samples once. */
import type { StationRows } from './ndbc-rows.ts'
import { MISSING_U16, type MeasureName, MEASURES, SWELL_NAMES, WEATHER_NAMES } from '../../sea/columns.ts'
import { directionOf, RowBatch } from '../../sea/row-batch.ts'
import { HOUR } from '../../sea/time.ts'
import type { Sink } from '../source.ts'

/** All rows of one wave sample lie within this time of its first row. */
const SAMPLE_SECONDS = 1200

const REPEAT_STEP_SECONDS = 600

/** Samples further away than this say nothing about the height of the sea. */
const NEIGHBOUR_SECONDS = 3 * HOUR

/** Waves before or after a calm in which a buoy says 0 m; some round to halves of a metre. */
const CALM_MM = 500

/** Most time from a summary to its sample: the time in which a hull sends a sample again. */
const JOINED_SECONDS = 1200

export interface StationHandle {
  readonly buoy: number
  readonly identifier: string
}

const WAVE_NAMES = ['significantHeight', 'period', 'peakPeriod', 'direction'] as const
/** Measures that the first row of a sample may take from a later row; weather stays at its own time. */
const FILLED: readonly MeasureName[] = [
  ...WAVE_NAMES,
  'waterTemperature',
  'windDirection',
  'windSpeed',
  'gustSpeed',
]
const NAMES: readonly MeasureName[] = [...FILLED, ...WEATHER_NAMES]

const TWICE = 'a row whose time comes again with other values'
const REPEAT = 'waves repeat a sample'
const DEAD = 'waves garbled: a height of 0 m between waves'
const GARBLED = 'waves garbled: height and average period are one number, and there is no other'

/**
 * Sends the rows of a feed in order of time, each wave sample once, with its summary. The rows are used up.
 */
export function sendRows(
  { buoy, identifier }: StationHandle,
  feed: number,
  read: StationRows,
  summaries: StationRows,
  sink: Sink,
): void {
  const { rows, files } = inOrder(read, identifier)
  const { columns, length } = rows
  const sampleOf = chooseSamples(rows)
  const garbled = garbledSamples(rows, sampleOf)
  for (let row = 0; row < length; row++) {
    const sample = sampleOf[row]
    const fault = garbled.get(sample)
    if (sample === row && fault === undefined) continue
    // A garbled row is sent even if it is empty now: an earlier build may have taken it for a sample.
    for (const name of WAVE_NAMES) columns[name][row] = MISSING_U16
    if (sample >= 0) files[row].skipped(fault ?? REPEAT, identifier)
  }
  joinSummaries(summaries, rows, identifier)
  columns.peakPeriod.set(columns.period)
  if (length > 0) sink.rows(buoy, rows, feed)
}

/**
 * Rows by time; the sort is stable, and linear on the few ascending or descending runs that files consist of.
 */
function timeOrder({ time, length }: RowBatch): number[] {
  const order = Array.from({ length }, (_, row) => row)
  return directionOf(time, length) < 0 ? order.reverse() : order.sort((a, b) => time[a] - time[b])
}

/** The rows by time. The last one read counts at a time: files of one feed overlap by an hour or a day. */
function inOrder(read: StationRows, identifier: string): Pick<StationRows, 'rows' | 'files'> {
  const { rows, files } = read
  const { time, columns, length } = rows
  if (directionOf(time, length) > 0) return read
  const isOther = (name: MeasureName, row: number, later: number): boolean => {
    const [one, other, { missing }] = [columns[name][row], columns[name][later], MEASURES[name]]
    return one !== other && one !== missing && other !== missing
  }
  const order = timeOrder(rows).filter((row, at, sorted) => {
    const later = sorted[at + 1]
    if (time[row] !== time[later]) return true
    if (NAMES.some((name) => isOther(name, row, later))) files[row].skipped(TWICE, identifier)
    return false
  })
  const ordered = new RowBatch(order.length)
  for (const row of order) ordered.add(time[row])
  for (const name of NAMES) {
    const [from, to] = [columns[name], ordered.columns[name]]
    for (let i = 0; i < order.length; i++) to[i] = from[order[i]]
  }
  return { rows: ordered, files: order.map((row) => files[row]) }
}

/**
 * The row that represents the wave sample of each row, −1 for a row without waves. A hull sends a sample
 * twice, first without DPD. Rows belong to one sample within SAMPLE_SECONDS of its first row, each at most
 * REPEAT_STEP_SECONDS after the one before, with equal WVHT, MWD and APD and at most one DPD; one row may
 * have APD alone and another DPD. The first row represents the sample, so that its id stays, and what it
 * lacks comes from the others, weather excepted. A row without APD is a sample of its own: stations that
 * send heights alone show equal ones for hours (44058).
 */
function chooseSamples({ time, columns, length }: RowBatch): Int32Array {
  const { significantHeight: height, direction, period } = columns
  const sampleOf = new Int32Array(length).fill(-1)
  let first = -1
  let previous = -1
  for (let row = 0; row < length; row++) {
    if (height[row] === MISSING_U16) continue
    const repeats =
      first >= 0 &&
      time[row] - time[previous] <= REPEAT_STEP_SECONDS &&
      time[row] - time[first] <= SAMPLE_SECONDS &&
      height[row] === height[first] &&
      isOfOneSample(columns, first, row) &&
      direction[row] === direction[first] &&
      (period[row] === MISSING_U16 || period[first] === MISSING_U16)
    previous = row
    if (repeats) {
      for (const name of FILLED) {
        if (columns[name][first] === MEASURES[name].missing) columns[name][first] = columns[name][row]
      }
    } else first = row
    sampleOf[row] = first
  }
  return sampleOf
}

function isOfOneSample({ period, peakPeriod }: RowBatch['columns'], sample: number, row: number): boolean {
  const [known, average] = [peakPeriod[sample], peakPeriod[row]]
  if (known !== MISSING_U16 && average !== MISSING_U16) return known === average
  return known !== average && period[average === MISSING_U16 ? row : sample] !== MISSING_U16
}

/**
 * What is wrong with samples in which one number came into two fields: WVHT equals APD, no row has a DPD, and
 * no neighbour is as high to within a third. A storm can have such numbers (46075 in August 2023): its
 * neighbours decide. Samples of 0 m between waves are faulty, too (46022 in April 2011): a calm has others
 * beside it, and no average period of 0 s.
 */
function garbledSamples({ time, columns }: RowBatch, sampleOf: Int32Array): Map<number, string> {
  const { significantHeight: height, peakPeriod: average, period } = columns
  const samples = sampleOf.filter((sample, row) => sample === row)
  const isSuspect = (row: number): boolean =>
    height[row] === 0 || (height[row] === average[row] && period[row] === MISSING_U16)
  const garbled = new Map<number, string>()
  samples.forEach((row, at) => {
    if (!isSuspect(row)) return
    const isNear = (other: number | undefined): boolean =>
      other !== undefined && Math.abs(time[other] - time[row]) <= NEIGHBOUR_SECONDS
    const neighbours = ([-1, 1] as const).flatMap((step) => {
      let next = at + step
      while (isNear(samples[next]) && isSuspect(samples[next])) next += step
      return isNear(samples[next]) ? [height[samples[next]]] : []
    })
    const isCalm = height[row] === 0 && average[row] !== 0
    const most = isCalm ? CALM_MM : height[row] / 3
    const isVouchedFor = neighbours.some((other) => Math.abs(other - height[row]) <= most)
    if (!isVouchedFor && !(isCalm && neighbours.length === 0))
      garbled.set(row, height[row] === 0 ? DEAD : GARBLED)
  })
  return garbled
}

/**
 * Gives wave samples, of rows that ascend in time, their summaries. A summary belongs to the nearest sample
 * within `JOINED_SECONDS` that has its WVHT, and its APD where both have one. If a sample has two summaries,
 * the nearer one counts, or the earlier of two that are equally near.
 */
function joinSummaries({ rows, files }: StationRows, sent: RowBatch, station: string): void {
  const { time, columns, length } = sent
  const { significantHeight: height, peakPeriod: average } = rows.columns
  const isOf = (summary: number, row: number): boolean => {
    const periods = [columns.peakPeriod[row], average[summary]]
    const isSamePeriod = periods[0] === periods[1] || periods.includes(MISSING_U16)
    return (
      isSamePeriod && height[summary] !== MISSING_U16 && columns.significantHeight[row] === height[summary]
    )
  }
  const away = (summary: number, row: number): number => Math.abs(time[row] - rows.time[summary])
  const joined = new Map<number, number>()
  let first = 0
  for (const summary of timeOrder(rows)) {
    const at = rows.time[summary]
    while (first < length && time[first] < at - JOINED_SECONDS) first++
    let nearest = -1
    for (let row = first; row < length && time[row] <= at + JOINED_SECONDS; row++) {
      const isNearer = nearest < 0 || away(summary, row) < away(summary, nearest)
      if (isNearer && isOf(summary, row)) nearest = row
    }
    const known = joined.get(nearest)
    if (nearest < 0) files[summary].skipped('swell without its wave sample', station)
    else if (known === undefined || away(known, nearest) > away(summary, nearest))
      joined.set(nearest, summary)
  }
  for (const [row, summary] of joined) {
    for (const name of SWELL_NAMES) columns[name][row] = rows.columns[name][summary]
  }
}

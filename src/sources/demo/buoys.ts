/**
 * What a buoy of the demonstration reports of its sea: what its network measures, as finely, and not in its
 * gaps.
 */
import { MEASURE_NAMES, MEASURES, type RowBatch } from '../../sea/columns.ts'
import { gaussian, mix } from './chance.ts'
import { fillSea, powerOfTwoIn, SEA, type Place } from './sea.ts'
import { fillAbsent, fillPath, path, STEP, STEPS_A_MONTH, wholeDegrees, type Instrument } from './waves.ts'

export interface DemoBuoy extends Place {
  readonly instrument: Instrument
  /** Longest random outage, half-hours. */
  readonly longestOutage: number
}

const PERIOD_RATIO = path(20, 4)
const SALT_MAXIMUM = mix(9)
const SALT_GUST = mix(10)

const absent = new Uint8Array(STEPS_A_MONTH)
const ratio = new Float64Array(STEPS_A_MONTH)

/**
 * Replaces `batch` with a buoy's rows of steps from … to−1: one every `every` half-hours, ascending, without
 * those in its gaps. The steps lie in one UTC month, and `every` divides `from`.
 */
export function fillBuoyRows(batch: RowBatch, buoy: DemoBuoy, from: number, to: number, every: number): void {
  batch.clear()
  if (to <= from) return
  const { instrument, key } = buoy
  fillAbsent(key, buoy.longestOutage, from, to, absent)
  fillSea(buoy, from, to, every)
  if (instrument.periods === 'both') fillPath(PERIOD_RATIO, key, from, to, powerOfTwoIn(every), ratio)
  const rows = Math.ceil((to - from) / every)
  for (const name of MEASURE_NAMES) batch.columns[name].fill(MEASURES[name].missing, 0, rows)
  let row = 0
  for (let i = 0; i < to - from; i += every) {
    if (absent[i] !== 0) continue
    const step = from + i
    batch.time[row] = step * STEP
    if (instrument.wavesHourly !== true || (step & 1) === 0) writeWaves(batch, row, buoy, i, step)
    writeWeather(batch, row, buoy, i, step)
    row++
  }
  batch.length = row
}

/** Codes are per thousandth for heights and periods, per hundredth for the rest (`columns.ts`). */
function writeWaves(
  { columns }: RowBatch,
  row: number,
  { instrument, key }: DemoBuoy,
  i: number,
  step: number,
): void {
  const { periods, maximum, heightStep, periodStep } = instrument
  const height = SEA.height[i]
  columns.significantHeight[row] = coded(height, heightStep)
  if (maximum !== undefined) {
    const highest = maximum.median * Math.exp(maximum.spread * gaussian(mix(key ^ SALT_MAXIMUM), step))
    columns.maximumHeight[row] = coded(height * highest, heightStep)
  }
  if (periods !== 'none') {
    const peak = SEA.period[i]
    // Peak over significant period: measured median 1.11, one in twenty below 0.96.
    const significant = periods === 'both' ? peak / Math.max(1.11 * Math.exp(0.13 * ratio[i]), 0.95) : peak
    columns.period[row] = coded(significant, periodStep)
    if (periods !== 'significant') columns.peakPeriod[row] = coded(peak, periodStep)
  }
  if (instrument.direction) columns.direction[row] = wholeDegrees(SEA.direction[i]) * 100
}

function writeWeather(
  { columns }: RowBatch,
  row: number,
  { instrument, key }: DemoBuoy,
  i: number,
  step: number,
): void {
  if (instrument.water) {
    // Sea water freezes at −1.9 °C.
    columns.waterTemperature[row] = Math.round(Math.max(SEA.water[i], -1.8) * 10) * 10
  }
  if (!instrument.wind) return
  const speed = SEA.windSpeed[i]
  // Anemometers give tenths of a metre per second: 0.36 km/h.
  columns.windSpeed[row] = Math.round(speed * 10) * 36
  const gust = 1.27 + 0.06 * gaussian(mix(key ^ SALT_GUST), step)
  columns.gustSpeed[row] = Math.round(speed * gust * 10) * 36
  columns.windDirection[row] = wholeDegrees(SEA.windDirection[i]) * 100
}

/** Metres or seconds in thousandths, at the instrument's resolution. */
function coded(value: number, resolution: number): number {
  const codes = Math.round(resolution * 1000)
  return Math.round((value * 1000) / codes) * codes
}

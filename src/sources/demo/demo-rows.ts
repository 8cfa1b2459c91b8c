/** What a buoy reports of the made-up sea: what its network measures, as finely, and not in its gaps. */
import { MEASURES } from '../../sea/columns.ts'
import type { RowBatch } from '../../sea/row-batch.ts'
import { gaussian, mix, Sea, STEP, uniform, type Place, type SeaState } from './demo-sea.ts'

export interface Instrument {
  /** Metres, also for maximum heights. */
  readonly heightStep: number
  /** Seconds. */
  readonly periodStep: number
  /** `peak`: the peak period alone; `both`: significant and peak; `significant`: no peak period; `none`. */
  readonly periods: 'peak' | 'both' | 'significant' | 'none'
  /** Median and logarithmic spread of maximum / significant height. */
  readonly maximum?: { readonly median: number; readonly spread: number }
  readonly direction: boolean
  readonly water: boolean
  readonly wind: boolean
  /** Swell and wind sea apart, in half-hourly rows: sources give them for some weeks. */
  readonly swell?: boolean
  /** Heights on full hours only; half-hours have wind and temperature alone. */
  readonly wavesHourly?: boolean
}

export interface Mooring extends Place {
  /** Key of the random gaps and of the noise of samples. */
  readonly key: number
  readonly instrument: Instrument
  readonly isGapless?: boolean
}

/** Half-hours from … to−1, one every `every` of them, without those of `outage`. */
export interface Span {
  readonly from: number
  readonly to: number
  readonly every: number
  readonly outage?: { readonly from: number; readonly to: number }
}

/** Spread of the logarithm of one sample of the height. */
const SAMPLE_SPREAD = 0.03
const LOST = 0.02
/** Half-hours: a buoy may be silent for some hours (below a day, so it stays active) once in this time. */
const WINDOW = 480
const SILENT_WINDOWS = 0.25
const LONGEST_SILENCE = 40

const [LOST_SALT, SILENCE_SALT, SAMPLE_SALT, MAXIMUM_SALT, RATIO_SALT, GUST_SALT] = [
  11, 12, 13, 14, 15, 16,
].map(mix)

/** Replaces `batch`, which has room for the span, with the rows of `mooring`; `every` divides `from`. */
export function fillRows(batch: RowBatch, mooring: Mooring, sea: Sea, span: Span): void {
  const { from, to, every, outage } = span
  batch.clear()
  const { isGapless, key } = mooring
  let row = 0
  for (let step = from; step < to; step += every) {
    if (outage !== undefined && step >= outage.from && step < outage.to) continue
    if (isGapless !== true && isAbsent(key, step)) continue
    batch.time[row] = step * STEP
    const state = sea.at(step)
    writeRow(batch, row, mooring, state, step)
    if (every === 1 && mooring.instrument.swell === true) writeSwell(batch, row, state)
    row++
  }
  batch.length = row
}

function isAbsent(key: number, step: number): boolean {
  if (uniform(key ^ LOST_SALT, step) < LOST) return true
  const window = Math.floor(step / WINDOW)
  const draw = uniform(key ^ SILENCE_SALT, window)
  if (draw >= SILENT_WINDOWS) return false
  const start = Math.floor((draw / SILENT_WINDOWS) * (WINDOW - LONGEST_SILENCE))
  const length = 1 + Math.floor(uniform(key ^ mix(SILENCE_SALT), window) * LONGEST_SILENCE)
  const at = step - window * WINDOW
  return at >= start && at < start + length
}

/** Codes are per thousandth for heights and periods, per hundredth for the rest (`columns.ts`). */
function writeRow(
  { columns }: RowBatch,
  row: number,
  { instrument, key }: Mooring,
  sea: SeaState,
  step: number,
): void {
  const { periods, maximum, heightStep, periodStep } = instrument
  if (instrument.wavesHourly !== true || step % 2 === 0) {
    const height = Math.min(sea.height * Math.exp(SAMPLE_SPREAD * gaussian(key ^ SAMPLE_SALT, step)), 20)
    columns.significantHeight[row] = coded(height, heightStep)
    if (maximum !== undefined) {
      const ratio = maximum.median * Math.exp(maximum.spread * gaussian(key ^ MAXIMUM_SALT, step))
      columns.maximumHeight[row] = coded(height * ratio, heightStep)
    }
    if (periods !== 'none') {
      // Peak over significant period: the median of measurements is 1.11.
      const ratio = periods === 'both' ? 1.11 * Math.exp(0.04 * gaussian(key ^ RATIO_SALT, step)) : 1
      columns.period[row] = coded(sea.period / ratio, periodStep)
      if (periods !== 'significant') columns.peakPeriod[row] = coded(sea.period, periodStep)
    }
    if (instrument.direction) columns.direction[row] = wholeDegrees(sea.direction) * 100
  }
  // Sea water freezes at −1.9 °C.
  if (instrument.water) columns.waterTemperature[row] = Math.round(Math.max(sea.water, -1.8) * 10) * 10
  if (!instrument.wind) return
  const gust = sea.windSpeed * (1.27 + 0.06 * gaussian(key ^ GUST_SALT, step))
  // Anemometers give tenths of a metre per second: 0.36 km/h.
  columns.windSpeed[row] = Math.round(sea.windSpeed * 10) * 36
  columns.gustSpeed[row] = Math.round(gust * 10) * 36
  columns.windDirection[row] = wholeDegrees(sea.windDirection) * 100
}

/** Seconds per √metre: the period of a wind sea with a steepness 2πH/(gT²) of 0.04. */
const WIND_SEA_PERIOD = 4
const SHORTEST_WIND_SEA = 2
const SECTOR_DEGREES = 22.5

/** The parts of a row's height as NDBC gives them: in tenths, from 16 points of the compass. */
function writeSwell({ columns }: RowBatch, row: number, sea: SeaState): void {
  if (columns.significantHeight[row] === MEASURES.significantHeight.missing) return
  const height = columns.significantHeight[row] / 1000
  const windSea = height * Math.sqrt(1 - sea.swellShare)
  const sector = (degrees: number): number =>
    (Math.round(degrees / SECTOR_DEGREES + 32) % 16) * SECTOR_DEGREES
  columns.swellHeight[row] = coded(height * Math.sqrt(sea.swellShare), 0.1)
  columns.swellPeriod[row] = coded(sea.swellPeriod, 0.1)
  columns.swellDirection[row] = sector(sea.swellDirection) * 100
  columns.windWaveHeight[row] = coded(windSea, 0.1)
  columns.windWavePeriod[row] = coded(Math.max(WIND_SEA_PERIOD * Math.sqrt(windSea), SHORTEST_WIND_SEA), 0.1)
  columns.windWaveDirection[row] = sector(sea.windDirection) * 100
}

function coded(value: number, resolution: number): number {
  const codes = Math.round(resolution * 1000)
  return Math.round((value * 1000) / codes) * codes
}

export function wholeDegrees(degrees: number): number {
  return (Math.round(degrees) + 720) % 360
}

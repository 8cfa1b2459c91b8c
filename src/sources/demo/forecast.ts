/**
 * The forecast of the demonstration: the sea to come, which follows from the law of `waves.ts`, as a model
 * would see it. It lies on a grid, is smoother than measurements, and is more wrong the farther ahead.
 */
import { RowBatch } from '../../sea/columns.ts'
import { DAY } from '../../sea/time.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { STEP, fillRows, type Site } from './waves.ts'
import { gaussian, siteKey } from './chance.ts'

/** Degrees: a grid point is at most 20 km from its buoy. */
const GRID = 0.25
const HOUR = 3600
/** A run every six hours, as the large centres make them. */
const RUN_EVERY = 6 * HOUR
const HOURS_BEFORE = 24
const HOURS_AHEAD = 7 * 24
/** Hours on each side that a value averages. */
const SMOOTHING = 3
/**
 * Spread of the logarithm of the forecast height around the true one: at the run, and what a day ahead adds.
 */
const ERROR = 0.03
const ERROR_A_DAY = 0.03
/** m; `fillRows` makes no higher sea either. */
const HIGHEST_SEA = 20
const RADIANS = Math.PI / 180

interface Place {
  lat: number
  lng: number
  site: Site
}

/**
 * Hourly forecasts of the newest run at `asOf` (epoch seconds) from a day before it to seven days ahead, one
 * for each grid point next to one of `places`: that of the first.
 */
export function forecastsAround(places: readonly Place[], asOf: number): ForecastRecord[] {
  const runAt = Math.floor(asOf / RUN_EVERY) * RUN_EVERY
  const records = new Map<string, ForecastRecord>()
  for (const { lat, lng, site } of places) {
    const [gridLat, gridLng] = [Math.round(lat / GRID) * GRID, Math.round(lng / GRID) * GRID]
    const key = `${gridLat},${gridLng}`
    if (!records.has(key)) records.set(key, forecastAt(gridLat, gridLng, site, runAt))
  }
  return [...records.values()]
}

function forecastAt(lat: number, lng: number, site: Site, runAt: number): ForecastRecord {
  const from = runAt - HOURS_BEFORE * HOUR
  const count = HOURS_BEFORE + HOURS_AHEAD + 1
  const sea = seaOf(site, from - SMOOTHING * HOUR, count + 2 * SMOOTHING)
  const height = smoothed(sea.height)
  const period = smoothed(sea.period)
  const wind = smoothed(sea.windSpeed)
  const direction = smoothedDirection(sea.direction)
  const windDirection = smoothedDirection(sea.windDirection)

  const times = height.map((_, i) => from + i * HOUR)
  // Each run has errors of its own; the swell is the sea's own.
  const errorKey = siteKey(runAt, `${lat} ${lng}`)
  const swellKey = siteKey(site.key, 'swell')
  const values: Required<ForecastRecord['values']> = {
    waveHeight: [],
    wavePeriod: [],
    waveDirection: [],
    swellHeight: [],
    swellPeriod: [],
    swellDirection: [],
    windSpeed: [],
    windDirection: [],
  }
  times.forEach((time, i) => {
    const spread = ERROR + (ERROR_A_DAY * Math.max(time - runAt, 0)) / DAY
    const error = spread * wave(errorKey, time)
    const waves = Math.min(height[i] * Math.exp(error), HIGHEST_SEA)
    const variety = wave(swellKey, time)
    // Share of the energy, of which the height is the root.
    const share = Math.min(Math.max(0.65 + 0.12 * variety, 0.3), 0.95)
    values.waveHeight.push(rounded(waves, 100))
    values.wavePeriod.push(rounded(period[i], 10))
    values.waveDirection.push(wholeDegrees(direction[i]))
    values.swellHeight.push(rounded(waves * Math.sqrt(share), 100))
    values.swellPeriod.push(rounded(period[i] * (1.08 - 0.03 * variety), 10))
    values.swellDirection.push(wholeDegrees(direction[i] + 8 * variety))
    values.windSpeed.push(rounded(wind[i] * Math.exp(error), 10))
    values.windDirection.push(wholeDegrees(windDirection[i]))
  })
  return { lat, lng, runAt, times, values }
}

/** The law's values hour by hour: m, s, degrees and km/h. */
interface Sea {
  height: number[]
  period: number[]
  direction: number[]
  windSpeed: number[]
  windDirection: number[]
}

function seaOf(site: Site, from: number, hours: number): Sea {
  // Whatever the buoy itself can measure, and without its gaps.
  const everything: Site = {
    ...site,
    gapless: true,
    instrument: {
      heightStep: 0.01,
      periodStep: 0.1,
      periods: 'significant',
      direction: true,
      water: false,
      wind: true,
    },
  }
  const sea: Sea = { height: [], period: [], direction: [], windSpeed: [], windDirection: [] }
  const batch = new RowBatch(hours)
  const last = from + hours * HOUR
  for (let at = from; at < last;) {
    const date = new Date(at * 1000)
    const end = Math.min(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / 1000, last)
    fillRows(batch, everything, at / STEP, end / STEP, 2)
    const { significantHeight, period, direction, windSpeed, windDirection } = batch.columns
    for (let row = 0; row < batch.length; row++) {
      sea.height.push(significantHeight[row] / 1000)
      sea.period.push(period[row] / 1000)
      sea.direction.push(direction[row] / 100)
      sea.windSpeed.push(windSpeed[row] / 100)
      sea.windDirection.push(windDirection[row] / 100)
    }
    at = end
  }
  return sea
}

/** Running means; shorter than `values` by the hours on both sides. */
function smoothed(values: readonly number[]): number[] {
  const means: number[] = []
  for (let i = SMOOTHING; i < values.length - SMOOTHING; i++) {
    let sum = 0
    for (let k = i - SMOOTHING; k <= i + SMOOTHING; k++) sum += values[k]
    means.push(sum / (2 * SMOOTHING + 1))
  }
  return means
}

/** Running means on the circle, degrees from −180 to 180. */
function smoothedDirection(degrees: readonly number[]): number[] {
  const east = smoothed(degrees.map((angle) => Math.sin(angle * RADIANS)))
  const north = smoothed(degrees.map((angle) => Math.cos(angle * RADIANS)))
  return east.map((sine, i) => Math.atan2(sine, north[i]) / RADIANS)
}

/** A slow wave of (key, time) of about unit variance: random at noon and midnight, straight lines between. */
function wave(key: number, time: number): number {
  const half = Math.floor(time / (DAY / 2))
  const share = time / (DAY / 2) - half
  return gaussian(key, half) * (1 - share) + gaussian(key, half + 1) * share
}

function rounded(value: number, perUnit: number): number {
  return Math.round(value * perUnit) / perUnit
}

/** Rounded and brought to 0 … 359. */
function wholeDegrees(degrees: number): number {
  return (Math.round(degrees) + 720) % 360
}
